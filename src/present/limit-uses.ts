import type { LimitFacts } from "../evaluate/limits.js";
import type { Definition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";

/** How much of a limit was used before a call, and the expression of the amount that the call adds. */
export interface LimitUse {
  readonly text: string;
  readonly of?: string;
}

/** Returns the uses of the limits of a policy decision, by the label of their conditions; unknown ones are left out. */
export function limitUses(definition: Definition, facts: JsonObject): ReadonlyMap<string, LimitUse> {
  const uses = new Map<string, LimitUse>();
  const { calls, sums }: LimitFacts = facts;
  for (const policy of definition.type === "policy" ? (definition.policies ?? []) : []) {
    if (policy.overrides !== undefined) continue;
    const { name, max_calls: maxCalls, max_sum: maxSum } = policy;
    const [made, used] = [calls?.[name], sums?.[name]];
    if (maxCalls !== undefined && made !== undefined)
      uses.set(`${name} / max_calls`, { text: `${made} of ${maxCalls.count} used` });
    if (maxSum !== undefined && used !== undefined)
      uses.set(`${name} / max_sum`, { text: `${used} of ${maxSum.most} used`, of: maxSum.of });
  }
  return uses;
}
