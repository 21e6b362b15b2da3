import { DecisionError } from "../errors.js";
import type { ParamsChange } from "../evaluate/policy/policy-facts.js";
import { equal } from "../expression/equal.js";
import type { Json } from "../model/json.js";
import type { Decision } from "./decide.js";
import type { World } from "./request.js";

/** Only an override whose uses another process has just used up changes the params once more. */
const maxAttempts = 100;

/**
 * Makes the decisions about one call. Where overrides changed its params, the decisions are made again: the params that
 * the call will be made with must pass the policies too.
 */
export async function checkChangedParams<Decisions extends readonly Decision[]>(
  { records }: Pick<World, "records">,
  make: (changes?: readonly ParamsChange[]) => Promise<Decisions>,
): Promise<Decisions> {
  let checked: readonly ParamsChange[] = [];
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    const decisions = await (checked.length === 0 ? make() : make(checked));
    const changes = changesOf(decisions);
    if (changes === undefined || equal(changes as unknown as Json, checked as unknown as Json))
      return decisions;
    // These decisions are never recorded, so they are no precedents.
    for (const { result } of decisions) records?.pending.remove(result.record_id ?? "");
    checked = changes;
  }
  throw new DecisionError("store_busy", "other processes used up a limit of this decision every time", {
    hint: "try again",
  });
}

/** Returns what the overrides of each decision changed; undefined if any of them denies the call. */
function changesOf(decisions: readonly Decision[]): readonly ParamsChange[] | undefined {
  const changes: ParamsChange[] = [];
  for (const { result, evaluated } of decisions) {
    const { outcome } = evaluated;
    if (outcome?.type !== "policy") continue;
    if (!outcome.allowed) return undefined;
    if (Object.keys(outcome.set_params).length === 0) continue;
    const setters = outcome.overrides.filter(({ action }) => action === "modify_params");
    changes.push({
      decision: result.decision_id,
      overrides: setters.map(({ name }) => name),
      set_params: outcome.set_params,
    });
  }
  return changes;
}
