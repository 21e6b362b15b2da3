import { didYouMean } from "../../nearest.js";
import type { GateRule } from "../../model/definition.js";
import type { SchemaFault } from "../schema-problems.js";

/** Rules that suppress what they cannot, and those that suppress each other in a circle. */
export function suppressionFaults(rules: readonly GateRule[]): readonly SchemaFault[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const faults = rules.flatMap((rule, index) =>
    (rule.suppresses ?? []).flatMap((id, at) => {
      const fault = faultOf(rule, id, byId);
      return fault === undefined ? [] : [{ path: ["rules", index, "suppresses", at], ...fault }];
    }),
  );
  return [...faults, ...cycleFaults(rules, byId)];
}

type Fault = Pick<SchemaFault, "message" | "hint">;

function faultOf(rule: GateRule, id: string, byId: ReadonlyMap<string, GateRule>): Fault | undefined {
  if (id === rule.id) return { message: `\`${id}\` cannot suppress itself` };
  const suppressed = byId.get(id);
  if (suppressed === undefined)
    return { message: `no rule is called \`${id}\``, hint: didYouMean(id, byId.keys()) };
  return suppressed.tier === "T1" ? { message: `a T1 rule cannot be suppressed: \`${id}\`` } : undefined;
}

function cycleFaults(
  rules: readonly GateRule[],
  byId: ReadonlyMap<string, GateRule>,
): readonly SchemaFault[] {
  const faults: SchemaFault[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (rule: GateRule): void => {
    trail.push(rule.id);
    for (const [at, id] of (rule.suppresses ?? []).entries()) {
      const next = byId.get(id);
      if (next === undefined || id === rule.id || done.has(id)) continue;
      const start = trail.indexOf(id);
      if (start === -1) {
        visit(next);
        continue;
      }
      const cycle = [...trail.slice(start), id].map((each) => `\`${each}\``).join(" → ");
      const path = ["rules", rules.indexOf(rule), "suppresses", at];
      faults.push({ path, message: `rules suppress each other in a circle: ${cycle}` });
    }
    trail.pop();
    done.add(rule.id);
  };
  for (const rule of byId.values()) if (!done.has(rule.id)) visit(rule);
  return faults;
}
