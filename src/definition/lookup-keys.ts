import type { Definition, PolicyDefinition } from "../model/definition.js";
import type { DefinitionSummary, OverrideDeclaration } from "./definition-file.js";
import { toolsOf } from "./tool-match.js";
import type { Path, Position } from "./yaml-source.js";

/** The part of a summary that decisions are found by, in addition to their ids. */
export type LookupKeys = Pick<
  DefinitionSummary,
  "tools" | "action" | "policies" | "overrides" | "foreignOverrides"
>;

type Locate = (path: Path) => Position;

/** Derives the lookup keys from a definition. */
export function lookupKeys(definition: Definition, locate: Locate): LookupKeys {
  if (definition.type === "policy") return { tools: toolsOf(definition), ...policyNames(definition, locate) };
  return definition.type === "gate" ? { action: definition.action } : {};
}

function policyNames(
  { policies = [] }: PolicyDefinition,
  locate: Locate,
): Pick<LookupKeys, "policies" | "overrides" | "foreignOverrides"> {
  const bases = policies.flatMap(({ name, overrides }) => (overrides === undefined ? [name] : []));
  const overrides = policies.flatMap((each) => (each.overrides === undefined ? [] : [each.name]));
  const foreignOverrides = policies.flatMap((override, index): readonly OverrideDeclaration[] => {
    if (override.overrides === undefined) return [];
    const path = ["decision", "policies", index];
    const foreign = override.overrides.flatMap((policy, at) =>
      bases.includes(policy) ? [] : [{ policy, ...locate([...path, "overrides", at]) }],
    );
    return foreign.length === 0 ? [] : [{ override, foreign, ...locate([...path, "name"]) }];
  });
  return {
    policies: bases,
    ...(overrides.length > 0 && { overrides }),
    ...(foreignOverrides.length > 0 && { foreignOverrides }),
  };
}
