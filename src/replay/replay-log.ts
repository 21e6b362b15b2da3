import type { LogLine, Query, Store } from "../model/store.js";
import type { ReplayMismatch } from "./replay-record.js";
import { damageMismatch, replayRecord } from "./replay-record.js";
import type { Damage, DamagedRecord, DecisionLine, DecisionVisitor, NotReplayable } from "./walk-log.js";
import { SkippedRecords, walkLines, walkLog } from "./walk-log.js";

/** The result of replaying records, as `replay --format json` prints it. */
export interface ReplayReport {
  readonly total: number;
  readonly matched: number;
  readonly mismatched: number;
  readonly not_replayable: number;
  /** Why some could not be replayed, the most frequent reason first. */
  readonly reasons: readonly NotReplayable[];
  readonly mismatches: readonly RecordMismatch[];
}

interface RecordMismatch extends Omit<ReplayMismatch, "status"> {
  /** Null where the line can no longer be read. */
  readonly record_id: string | null;
  readonly seq: number;
  readonly decision_id: string | null;
}

/**
 * Replays every decision that matches the query; an empty query also reports records that are missing from
 * the log.
 */
export async function replayLog(
  store: Store,
  query: Query,
  onProgress: (replayed: number, share: number) => void = () => undefined,
): Promise<ReplayReport> {
  const collector = new ReplayCollector();
  await walkLog(store, query, collector, (share) => onProgress(collector.total, share));
  return collector.report();
}

/** Replays the decisions among these lines. */
export async function replayLines(lines: Iterable<LogLine>, store: Store): Promise<ReplayReport> {
  const collector = new ReplayCollector();
  await walkLines(lines, store, collector);
  return collector.report();
}

/** Further mismatches are counted, but not listed. */
const maxMismatches = 1000;

class ReplayCollector implements DecisionVisitor {
  readonly #skipped = new SkippedRecords();
  readonly #mismatches: RecordMismatch[] = [];
  #matched = 0;
  #mismatched = 0;

  get total(): number {
    return this.#matched + this.#mismatched + this.#skipped.count;
  }

  visit(line: DecisionLine, definition: Parameters<typeof replayRecord>[1]): void {
    const outcome = replayRecord(line, definition);
    switch (outcome.status) {
      case "matched":
        this.#matched++;
        return;
      case "not_replayable":
        this.#skipped.add(outcome.reason, line.record.record_id);
        return;
      case "mismatched":
        this.#addMismatch(line.record, outcome);
    }
  }

  visitDamaged(record: DamagedRecord, damage: Damage): void {
    this.#addMismatch(record, damageMismatch(damage));
  }

  #addMismatch({ record_id, seq, decision_id }: DamagedRecord, mismatch: ReplayMismatch): void {
    this.#mismatched++;
    if (this.#mismatches.length >= maxMismatches) return;
    const { expected, actual, differences } = mismatch;
    const ids = { record_id: record_id ?? null, seq, decision_id: decision_id ?? null };
    this.#mismatches.push({ ...ids, expected, actual, differences });
  }

  report(): ReplayReport {
    return {
      total: this.total,
      matched: this.#matched,
      mismatched: this.#mismatched,
      not_replayable: this.#skipped.count,
      reasons: this.#skipped.reasons(),
      mismatches: this.#mismatches,
    };
  }
}
