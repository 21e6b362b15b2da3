import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type {
  Definition,
  Environment,
  ForeignOverride,
  Guardrail,
  LoadedDefinition,
  Observer,
  Target,
} from "../model/definition.js";
import type { Endpoints } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";
import { escalationTarget } from "./branches.js";
import type { DefinitionPlace } from "./checks/check-library.js";
import type { DefinitionSummary, OverrideDeclaration } from "./definition-file.js";
import { haveCommonTool } from "./tool-match.js";

/** What a directory declares for all decisions. */
export interface SharedDeclarations {
  readonly targets: readonly Target[];
  readonly guardrails: readonly Guardrail[];
  readonly endpoints: Endpoints;
  readonly masks: readonly string[];
  readonly overrides: readonly DeclaredOverrides[];
  readonly observers: readonly Observer[];
}

/** The overrides of one decision that name policies of others. */
export interface DeclaredOverrides {
  readonly decision: string;
  readonly tools: readonly string[];
  readonly overrides: readonly OverrideDeclaration[];
}

/** Adds everything to a definition that its decisions depend on. */
export function toLoadedDefinition(
  definition: Definition,
  { file, summary }: DefinitionPlace,
  shared: SharedDeclarations,
): LoadedDefinition {
  const environment = environmentOf(summary, shared) as unknown as JsonObject;
  return {
    definition: deepFreeze(definition),
    definition_hash: summary.definition_hash,
    environment,
    environment_hash: sha256Hex(canonicalJson(environment)),
    file,
    line: summary.position.line,
  };
}

/** Recomputes the hashes from the values that are evaluated, so that a cache cannot forge them. */
export function withRecomputedHashes(loaded: LoadedDefinition): LoadedDefinition {
  const definition = deepFreeze(loaded.definition);
  const environment = deepFreeze(loaded.environment);
  return {
    ...loaded,
    definition,
    definition_hash: definitionHash(definition),
    environment,
    environment_hash: sha256Hex(canonicalJson(environment)),
  };
}

/** Returns the SHA-256 of the `decision` mapping in canonical JSON. */
export function definitionHash(definition: Definition): string {
  return sha256Hex(canonicalJson(definition as unknown as Json));
}

/** Returns the JSON pointers of the values that a decision does not record: its own, and those for all decisions. */
export function masksOf({
  definition,
  environment,
}: Pick<LoadedDefinition, "definition"> & Partial<Pick<LoadedDefinition, "environment">>): readonly string[] {
  const { masks = [] } = (environment ?? {}) as unknown as Environment;
  return [...(definition.logging?.mask ?? []), ...masks];
}

/** Returns the overrides of other decisions that may flip denials of a decision. */
export const foreignOverridesOf = ({
  environment,
}: Pick<LoadedDefinition, "environment">): readonly ForeignOverride[] =>
  (environment as unknown as Environment).overrides ?? [];

/** Returns the observers of every session. */
export const observersOf = ({ environment }: Pick<LoadedDefinition, "environment">): readonly Observer[] =>
  (environment as unknown as Environment).observers ?? [];

/**
 * Returns the part of the shared declarations that affects a definition: all guardrails, masks and observers, the
 * targets it may lead to, the endpoints it fetches from, and the overrides of its policies.
 */
export function environmentOf(
  summary: Pick<DefinitionSummary, "reached" | "fetches"> & Partial<DefinitionSummary>,
  { targets, guardrails, endpoints, masks, overrides, observers }: SharedDeclarations,
): Environment {
  const { reached, fetches = [] } = summary;
  const foreign = overridesFor(summary, overrides);
  const reachable = new Set([
    ...reached.map(({ target }) => target),
    ...guardrails.flatMap((guardrail) => escalationTarget(guardrail) ?? []),
  ]);
  const fetched = fetches.map(({ endpoint }) => endpoint);
  return {
    targets: targets.filter((target) => reachable.has(target.id)),
    ...(guardrails.length > 0 && { guardrails }),
    ...(fetched.length > 0 && { endpoints: pick(endpoints, fetched) }),
    ...(masks.length > 0 && { masks }),
    ...(foreign.length > 0 && { overrides: foreign }),
    ...(observers.length > 0 && { observers }),
  };
}

/** Returns the overrides of other decisions that name a policy of this one and have a tool in common with it. */
function overridesFor(
  { id, policies = [], tools = [] }: Partial<DefinitionSummary>,
  declared: readonly DeclaredOverrides[],
): readonly ForeignOverride[] {
  if (policies.length === 0) return [];
  return declared
    .filter((each) => each.decision !== id && haveCommonTool(each.tools, tools))
    .flatMap(({ decision, tools: ofOverride, overrides }) =>
      overrides.flatMap(({ override, foreign }) => {
        const named = foreign.map(({ policy }) => policy).filter((name) => policies.includes(name));
        return named.length === 0 ? [] : [{ decision, tools: ofOverride, policies: named, override }];
      }),
    );
}

const pick = (endpoints: Endpoints, names: readonly string[]): Endpoints =>
  Object.fromEntries(Object.entries(endpoints).filter(([name]) => names.includes(name)));
