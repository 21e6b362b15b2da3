import type { JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";

/** What expressions could read as `system` when the record was made. */
export function recordedSystem({ timestamp, record_id, facts }: DecisionRecord): JsonObject {
  const { authenticated_caller } = facts;
  return {
    request_time: timestamp,
    request_id: record_id,
    ...(authenticated_caller !== undefined && { authenticated_caller }),
  };
}
