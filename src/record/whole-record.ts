import type { LogRecord, NoteRecord } from "../model/record.js";
import { isListOfTexts, isMapping, isText } from "./shape.js";

/** Whether a line of the log that is JSON has all that a record has; one that was damaged may not. */
export function isWholeRecord(record: LogRecord): boolean {
  if (!isMapping(record) || !Number.isSafeInteger(record.seq)) return false;
  if (!areTexts([record.record_id, record.timestamp, record.hash, record.prev_hash])) return false;
  switch (record.kind) {
    case "decision":
      return (
        areTexts([record.decision_id, record.type, record.definition_hash, record.environment_hash]) &&
        areTexts([record.deterministic_hash]) &&
        [record.selected_targets, record.selected_labels, record.because].every(isListOfTexts) &&
        [record.failed_conditions, record.warnings].every(isListOfTexts) &&
        [record.evaluation_details, record.facts, record.context ?? {}].every(isMapping) &&
        Array.isArray(record.guardrails)
      );
    case "tool_result":
      return (
        areTexts([record.tool]) && typeof record.ok === "boolean" && isListOfTexts(record.decision_records)
      );
    case "note":
      return Object.hasOwn(notes, record.note) && isMapping(record.details);
    default:
      return false;
  }
}

const notes: Readonly<Record<NoteRecord["note"], true>> = {
  tail_repaired: true,
  tail_lost: true,
  pruned: true,
};

const areTexts = (values: readonly unknown[]): boolean => values.every(isText);
