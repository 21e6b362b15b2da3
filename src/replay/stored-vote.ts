import { checkedWeight } from "../evaluate/scored/evaluation.js";
import type { JsonObject } from "../model/json.js";
import type { Evaluation } from "../model/result.js";
import type { Field } from "./field.js";
import { asJson, asJsonObject, asName, asObject, asText, optional, required } from "./field.js";
import { plainKeys } from "./plain-keys.js";

/** A vote of a payload. Whoever cast it need no longer exist. */
export interface StoredVote {
  /** As the payload has it, and as it was hashed. */
  readonly written: JsonObject;
  /** With the reason and the metadata that it may have lacked, and whatever else it has. */
  readonly evaluation: Evaluation;
}

export function readVote(value: unknown, index: number): StoredVote {
  const path = `evaluations[${index}]`;
  const fields = plainKeys(asObject({ path, value }));
  const at = `${path}.`;
  const decision = asName(required(fields, "decision", at));
  const weight = checkedWeight(required(fields, "weight", at).value);
  const evaluator_name = asName(required(fields, "evaluator_name", at));
  const reason = asText(optional(fields, "reason", at) ?? none(""));
  const metadata = asJsonObject(optional(fields, "metadata", at) ?? none({}));
  const written = Object.freeze(
    Object.fromEntries(
      Object.entries(fields).map(([key, part]) => [key, asJson({ path: `${at}${key}`, value: part })]),
    ),
  );
  return {
    written,
    evaluation: Object.freeze({ ...written, decision, weight, reason, evaluator_name, metadata }),
  };
}

const none = (value: unknown): Field => ({ path: "", value });
