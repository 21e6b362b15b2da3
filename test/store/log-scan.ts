import { createHash } from "node:crypto";
import type { DecisionRecord, LogRecord } from "../../src/model/record.js";
import type { DefinitionTally, Query, Tally, TimeRange } from "../../src/model/store.js";
import { linesOf } from "./jsonl-log.js";

/** Answers queries by parsing every line of the log. Every index must return the same. */
export class LogScan {
  readonly records: readonly LogRecord[];

  constructor(directory: string) {
    this.records = linesOf(directory).map((line) => JSON.parse(line) as LogRecord);
  }

  select(query: Query): readonly number[] {
    const { limit = Infinity, reverse = false } = query;
    const seqs = this.records.filter((record) => fits(record, query)).map(({ seq }) => seq);
    const newest = limit === Infinity ? seqs : seqs.slice(Math.max(0, seqs.length - limit));
    return reverse ? newest.toReversed() : newest;
  }

  tally(id: string, range: TimeRange = {}): Tally {
    const decided = this.records.filter((record) => fits(record, { ...range, decision_id: id }));
    return tallyOf(decided as readonly DecisionRecord[]);
  }

  cacheUse(): { hits: number; misses: number } {
    const asked = this.records.filter(
      (record) => record.kind === "decision" && record.cache_key !== undefined,
    );
    const hits = asked.filter((record) => record.kind === "decision" && record.cached).length;
    return { hits, misses: asked.length - hits };
  }

  /** The ids with this prefix, newest first. */
  beginningWith(beginning: string): readonly string[] {
    const ids = this.records.map(({ record_id }) => record_id);
    return ids.filter((id) => id.startsWith(beginning)).reverse();
  }

  latest(): string | undefined {
    return this.records.findLast(({ kind }) => kind === "decision")?.record_id;
  }

  state(): { size: number; head: string } {
    const last = this.records.at(-1);
    return { size: last?.seq ?? 0, head: last?.hash ?? "0".repeat(64) };
  }
}

const fields = ["decision_id", "workflow_id", "stage_id", "session_id", "type"] as const;

function fits(record: LogRecord, query: Query): boolean {
  const time = timeOf(record.timestamp);
  if (query.kind !== undefined && query.kind !== record.kind) return false;
  if (record.seq <= (query.after ?? 0)) return false;
  if (time < (query.since ?? -Infinity) || time > (query.until ?? Infinity)) return false;
  const asked = fields.filter((field) => query[field] !== undefined);
  if (record.kind !== "decision") {
    if (query.label !== undefined || query.target !== undefined) return false;
    return asked.every(
      (field) => (record as unknown as Partial<Record<string, unknown>>)[field] === query[field],
    );
  }
  if (asked.some((field) => record[field] !== query[field])) return false;
  if (query.label !== undefined && !record.selected_labels.includes(query.label)) return false;
  return query.target === undefined || record.selected_targets.includes(query.target);
}

const timeOf = (timestamp: string): number =>
  Date.parse(`${timestamp.slice(0, 23)}Z`) * 1000 + Number(timestamp.slice(23, 26));

function tallyOf(records: readonly DecisionRecord[]): Tally {
  const definitions = new Map<string, DefinitionTally>();
  for (const hash of new Set(records.map(({ definition_hash }) => definition_hash))) {
    const own = records.filter(({ definition_hash }) => definition_hash === hash);
    const seen = new Set<string>();
    const distinct = own.filter(({ deterministic_hash: input }) => !seen.has(input) && seen.add(input));
    definitions.set(hash, {
      total: own.length,
      counts: countsOf(own),
      distinct_inputs: distinct.length,
      distinct_counts: countsOf(distinct),
    });
  }
  return { total: records.length, counts: countsOf(records), definitions: Object.fromEntries(definitions) };
}

function countsOf(records: readonly DecisionRecord[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { selected_labels } of records)
    for (const label of selected_labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Sorts a tally and drops zeros, so that two can be compared. */
export function comparable(tally: Tally): unknown {
  const sorted = (counts: Readonly<Record<string, number>>): unknown =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const definitions = Object.entries(tally.definitions)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([hash, { total, counts, distinct_inputs, distinct_counts }]) => ({
      hash,
      total,
      counts: sorted(counts),
      distinct_inputs,
      distinct_counts: sorted(distinct_counts),
    }));
  return { total: tally.total, counts: sorted(tally.counts), definitions };
}

export const digestOf = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex");
