import { compileInput } from "../../expression/template.js";
import type { Policy } from "../../model/definition.js";
import type { PolicyNeeds } from "./policy-facts.js";

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
