import { DecisionError } from "../errors.js";
import type { Result } from "../model/result.js";
import type { EnrichedOnce, World } from "./deliberate.js";
import { deliberate } from "./deliberate.js";
import { retryOnLostRace } from "./record.js";
import type { DecisionRequest } from "./request.js";

export type { World } from "./deliberate.js";
export type { DecisionRequest as Request } from "./request.js";

/** Makes one decision. The command line and every other door come through here. */
export async function decide(request: DecisionRequest, world: World): Promise<Result> {
  if (typeof (request.decision_id as unknown) !== "string") {
    throw new DecisionError("input_invalid", "a request names its decision: `decision_id` must be a text");
  }
  const loaded = await world.definitions.find(request.decision_id);
  const enriched: EnrichedOnce = new Map();
  return retryOnLostRace(
    async () => {
      const made = await deliberate(request, loaded, world, { enriched });
      return { decided: made.result, made: [made] };
    },
    request.dry_run ? undefined : world.records,
  );
}
