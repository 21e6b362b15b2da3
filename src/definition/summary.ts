import type { Definition } from "../model/definition.js";
import { branchesOf } from "./branches.js";
import type { DefinitionSummary, NamedEndpoint, ReachedTarget } from "./definition-file.js";
import { definitionHash } from "./definition-hash.js";
import { writtenFetches } from "./fetches.js";
import { toolsOf } from "./tool-match.js";
import type { SourceDocument } from "./yaml-source.js";

/** What is known of a definition without loading it. */
export function summaryOf(definition: Definition, source: SourceDocument): DefinitionSummary {
  const fetches = endpointsNamed(definition, source);
  return {
    id: definition.id,
    definition_hash: definitionHash(definition),
    position: source.locateKey([], "decision"),
    reached: reachedTargets(definition, source),
    ...(fetches.length > 0 && { fetches }),
    ...foundBy(definition),
  };
}

/** What it is asked for by, beside its id. */
function foundBy(definition: Definition): Pick<DefinitionSummary, "tools" | "action"> {
  if (definition.type === "policy") return { tools: toolsOf(definition) };
  return definition.type === "gate" ? { action: definition.action } : {};
}

function reachedTargets(definition: Definition, source: SourceDocument): readonly ReachedTarget[] {
  const reached = new Map<string, ReachedTarget>();
  for (const { path, target } of branchesOf(definition)) {
    if (!reached.has(target)) reached.set(target, { target, ...source.locate(["decision", ...path]) });
  }
  return [...reached.values()];
}

function endpointsNamed(definition: Definition, source: SourceDocument): readonly NamedEndpoint[] {
  const named = new Map<string, NamedEndpoint>();
  for (const { path, endpoint } of writtenFetches(definition)) {
    const at = ["decision", ...path, "endpoint"];
    if (!named.has(endpoint)) named.set(endpoint, { endpoint, ...source.locate(at) });
  }
  return [...named.values()];
}
