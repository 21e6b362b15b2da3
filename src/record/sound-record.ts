import type { DecisionRecord } from "../model/record.js";
import type { Check } from "../model/result.js";
import { provenanceFields } from "./record-body.js";
import { isListOfTexts, isText, isTruth, itemsOf, maybe, shaped } from "./shape.js";
import { soundDetails } from "./sound-details.js";
import { soundLineage } from "./sound-lineage.js";
import { soundCall, soundGate, soundVotes } from "./sound-outcome.js";

/**
 * A whole record with nothing in it that is not what it is taken for: whoever explains one need not fear what a
 * damaged record may hold. What is sound stays as it is.
 */
export function soundRecord(record: DecisionRecord): DecisionRecord {
  const { lineage } = record as { readonly lineage?: unknown };
  const sound = {
    ...withoutStrangers(record),
    evaluation_details: soundDetails(record.type, record.evaluation_details),
    guardrails: itemsOf(record.guardrails, isCheck),
    ...(lineage !== undefined && { lineage: soundLineage(lineage) }),
  };
  switch (record.type) {
    case "scored":
      return { ...sound, ...soundVotes(record) };
    case "policy":
      return { ...sound, ...soundCall(record), lineage: soundLineage(lineage) };
    case "gate":
      return { ...sound, ...soundGate(record) };
    default:
      return sound;
  }
}

const isCheck = shaped<Check>({
  check_name: isText,
  passed: isTruth,
  message: isText,
  on_fail: maybe((value) => value === "block" || value === "escalate" || value === "warn"),
});

const texts: readonly string[] = [
  "decision_name",
  "decision_version",
  "cache_key",
  "cached_from",
  "proposed_outcome",
  "proposed_status",
  ...provenanceFields,
];

const lists: readonly string[] = ["proposed_targets", "proposed_labels"];

/** Without the optional fields that hold something else. */
function withoutStrangers(record: DecisionRecord): DecisionRecord {
  const isStrange = ([name, value]: readonly [string, unknown]): boolean =>
    (texts.includes(name) && !isText(value)) ||
    (lists.includes(name) && !isListOfTexts(value)) ||
    (name === "rules_total" && !Number.isSafeInteger(value));
  const entries = Object.entries(record);
  return entries.some(isStrange)
    ? (Object.fromEntries(entries.filter((entry) => !isStrange(entry))) as unknown as DecisionRecord)
    : record;
}
