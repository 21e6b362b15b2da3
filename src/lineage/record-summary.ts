import type { LogRecord } from "../model/record.js";
import { provenanceFields } from "../record/record-body.js";
import { isWholeRecord } from "../record/whole-record.js";

/** As much of a record as a lineage tells of it. */
export type RecordSummary = DecisionSummary | ResultSummary;

/** A record that another one names. */
export type NamedRecord = RecordSummary | MissingRecord;

interface CommonSummary extends Partial<Readonly<Record<CallerField, string>>> {
  readonly record_id: string;
  readonly seq: number;
  readonly timestamp: string;
}

export interface DecisionSummary extends CommonSummary {
  readonly kind: "decision";
  readonly decision_id: string;
  readonly type: string;
  /** What a policy was asked about. */
  readonly tool?: string;
  readonly selected_labels: readonly string[];
  readonly selected_targets: readonly string[];
  readonly blocked: boolean;
  readonly escalated: boolean;
  readonly cached: boolean;
  readonly cached_from?: string;
}

export interface ResultSummary extends CommonSummary {
  readonly kind: "tool_result";
  readonly tool: string;
  readonly ok: boolean;
  readonly decision_records: readonly string[];
}

/** It was pruned, is damaged, is no decision, or never was. */
export interface MissingRecord {
  readonly kind: "missing";
  readonly record_id: string;
}

type CallerField = (typeof provenanceFields)[number];

/** Undefined where it is damaged, or a note, which is about the log alone. */
export function summaryOf(record: LogRecord): RecordSummary | undefined {
  if (!isWholeRecord(record) || record.kind === "note") return undefined;
  const { record_id, seq, timestamp } = record;
  const common = { record_id, seq, timestamp, ...textsIn(record, provenanceFields) };
  if (record.kind === "tool_result") {
    const { tool, ok, decision_records } = record;
    return { kind: "tool_result", ...common, tool, ok, decision_records };
  }
  const { decision_id, type, selected_labels, selected_targets } = record;
  return {
    kind: "decision",
    ...common,
    decision_id,
    type,
    ...textsIn(record, ["tool", "cached_from"]),
    selected_labels,
    selected_targets,
    ...claimsOf(record),
  };
}

/** Those of the fields that are texts, as they should be. */
function textsIn<T extends string>(
  record: object,
  names: readonly T[],
): Partial<Readonly<Record<T, string>>> {
  const fields = record as Readonly<Record<string, unknown>>;
  const texts: Partial<Record<T, string>> = {};
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") texts[name] = value;
  }
  return texts;
}

type Claims = Pick<DecisionSummary, "blocked" | "escalated" | "cached">;

function claimsOf({ blocked, escalated, cached }: Readonly<Record<keyof Claims, unknown>>): Claims {
  return { blocked: blocked === true, escalated: escalated === true, cached: cached === true };
}
