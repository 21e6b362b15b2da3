import type { LimitFacts, PreparedLimit } from "../limits.js";
import type { Template } from "../../expression/template.js";
import { compileInput } from "../../expression/template.js";
import type { ForeignOverride, OverridePolicy, Policy } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";

/** The facts from the store about a call. Most of them are absent without a session. */
export interface PolicyFacts extends LimitFacts {
  readonly session_id?: string;
  /** Present where `session` in the context was sent with an earlier call of the session. */
  readonly session_state?: "kept";
  /** By required tool: how often it succeeded in the session. */
  readonly succeeded?: Readonly<Record<string, number>>;
  /** By policy: the path to write, and whether it was read in the session. */
  readonly read?: Readonly<Record<string, ReadFact>>;
  /** By override: how often it was applied, as far as that counts for the caller. */
  readonly uses?: Readonly<Record<string, number>>;
  /** The part of `uses` that does not belong to the organisation of the caller; absent without one. */
  readonly shared_uses?: Readonly<Record<string, number>>;
  /** The params that other decisions on the same call set. */
  readonly set_params?: JsonObject;
  /** The caller cannot change the params of the call. */
  readonly fixed_params?: boolean;
  /** Present where overrides changed the params: the changed params must pass the policies too. */
  readonly recheck?: RecheckFacts;
}

export interface RecheckFacts {
  /** The changes by all decisions on the call, as far as they were known. */
  readonly changes: readonly ParamsChange[];
  /** As `read`, for the changed params. */
  readonly read?: Readonly<Record<string, ReadFact>>;
  /** Policies that an override flipped are checked too. Absent in records of earlier versions. */
  readonly overridden?: true;
}

/** The params that the overrides of one decision set. */
export interface ParamsChange {
  readonly decision: string;
  readonly overrides: readonly string[];
  readonly set_params: JsonObject;
}

export type ReadFact = { readonly path: string; readonly read: boolean } | { readonly error: string };

/** Merges the params that several decisions set. */
export const paramsSetBy = (changes: readonly Pick<ParamsChange, "set_params">[]): JsonObject =>
  changes.reduce<JsonObject>((all, { set_params }) => ({ ...all, ...set_params }), {});

/** Only `gather` creates facts, so they have this shape. */
export const policyFacts = (facts: JsonObject): PolicyFacts => facts;

/** The facts that policies, or the limits of a gate, need. */
export interface PolicyNeeds {
  readonly requires: readonly string[];
  /** For policies with `read_before_write`: the tools that read and write, and the path. */
  readonly reads: readonly ReadNeed[];
  readonly limits: readonly PreparedLimit[];
  /** The overrides, with the decision that declares them and the limit on their uses. */
  readonly uses: readonly OverrideNeed[];
}

export interface OverrideNeed {
  readonly override: string;
  /** Undefined: the decision itself. */
  readonly decision: string | undefined;
  readonly most: number | undefined;
}

export interface ReadNeed {
  readonly policy: string;
  readonly read_tools: readonly string[];
  readonly write_tools: readonly string[];
  readonly path: Template;
}

const overrideNeed = (
  { name, max_applications: most }: OverridePolicy,
  decision: string | undefined,
): OverrideNeed => ({ override: name, decision, most });

/** Returns the facts that policies need; undefined if they need none. */
export function needsOf(
  policies: readonly Policy[],
  limits: readonly PreparedLimit[],
  foreign: readonly ForeignOverride[] = [],
): PolicyNeeds | undefined {
  const bases = policies.flatMap((each) => (each.overrides === undefined ? each : []));
  const needs: PolicyNeeds = {
    requires: [...new Set(bases.flatMap(({ requires = [] }) => requires))],
    reads: bases.flatMap(({ name, read_before_write: rule }) =>
      rule === undefined ? [] : [{ policy: name, ...rule, path: compileInput(rule.path) }],
    ),
    limits,
    uses: [
      ...policies.flatMap((each) => (each.overrides === undefined ? [] : [overrideNeed(each, undefined)])),
      ...foreign.map(({ override, decision }) => overrideNeed(override, decision)),
    ],
  };
  return Object.values(needs).every((each: readonly unknown[]) => each.length === 0) ? undefined : needs;
}
