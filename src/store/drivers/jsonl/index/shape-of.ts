import type { DecisionRecord, LogRecord } from "../../../../model/record.js";
import type { Shape } from "./shapes.js";

/** The shape of a record; of what is none, too. */
export function shapeOf(record: LogRecord | undefined): Shape {
  if (record === undefined) return { kind: "unreadable" };
  return record.kind === "decision" ? decisionShape(record) : { kind: record.kind };
}

function decisionShape({
  decision_id,
  definition_hash,
  selected_labels,
  type,
  cached,
  cache_key,
}: DecisionRecord): Shape {
  const shape = { kind: "decision", decision_id, definition_hash, labels: selected_labels, type } as const;
  return cache_key === undefined ? shape : { ...shape, cache: cached ? "hit" : "miss" };
}

/** Undefined where the line is no record. */
export function parseLine(text: string): LogRecord | undefined {
  try {
    const record = JSON.parse(text) as LogRecord | null;
    return typeof record === "object" && typeof record?.kind === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}
