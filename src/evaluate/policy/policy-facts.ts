import type { Template } from "../../expression/template.js";
import { compileInput } from "../../expression/template.js";
import type { Policy } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";

/** What the store knows that bears on a call. Without a session there is little to know. */
export interface PolicyFacts {
  readonly session_id?: string;
  /** How often the tools that are required have succeeded in the session. */
  readonly succeeded?: Readonly<Record<string, number>>;
  /** By policy: the path that is to be written, and whether it was read in the session. */
  readonly read?: Readonly<Record<string, ReadFact>>;
  /** By policy: the calls of the session that count. */
  readonly calls?: Readonly<Record<string, number>>;
  /** By override: how often it was applied. */
  readonly uses?: Readonly<Record<string, number>>;
  /** What other decisions on the same call have set. */
  readonly set_params?: JsonObject;
  /** The caller cannot change the params of the call. */
  readonly fixed_params?: boolean;
}

export type ReadFact = { readonly path: string; readonly read: boolean } | { readonly error: string };

/** The facts are gathered by us alone, so their shape is known. */
export const policyFacts = (facts: JsonObject): PolicyFacts => facts;

/** What must be found out before the policies of a decision can be asked. */
export interface PolicyNeeds {
  readonly requires: readonly string[];
  /** The policies with `read_before_write`: which tools read and write, and where the path stands. */
  readonly reads: readonly ReadNeed[];
  readonly calls: readonly { readonly policy: string; readonly most: number; readonly per: string }[];
  /** The overrides that may only be applied so often. */
  readonly uses: readonly { readonly override: string; readonly most: number | undefined }[];
}

export interface ReadNeed {
  readonly policy: string;
  readonly read_tools: readonly string[];
  readonly write_tools: readonly string[];
  readonly path: Template;
}

/** What must be known of the session and of earlier uses; undefined: nothing. */
export function needsOf(policies: readonly Policy[]): PolicyNeeds | undefined {
  const bases = policies.flatMap((each) => (each.overrides === undefined ? each : []));
  const needs: PolicyNeeds = {
    requires: [...new Set(bases.flatMap(({ requires = [] }) => requires))],
    reads: bases.flatMap(({ name, read_before_write: rule }) =>
      rule === undefined ? [] : [{ policy: name, ...rule, path: compileInput(rule.path) }],
    ),
    calls: bases.flatMap(({ name, max_calls: most }) =>
      most === undefined ? [] : [{ policy: name, most: most.count, per: most.per }],
    ),
    uses: policies.flatMap((each) =>
      each.overrides === undefined ? [] : [{ override: each.name, most: each.max_applications }],
    ),
  };
  return Object.values(needs).every((each: readonly unknown[]) => each.length === 0) ? undefined : needs;
}

/** A path without detours, so that `./a//b/../c` and `a/c` are the same. Nothing is looked up. */
export function normalizePath(path: string): string {
  const isAbsolute = path.startsWith("/");
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (!isAbsolute) steps.push(step);
  }
  return (isAbsolute ? "/" : "") + steps.join("/") || ".";
}
