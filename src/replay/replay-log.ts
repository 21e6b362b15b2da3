import type { DecisionRecord } from "../model/record.js";
import type { LogLine, Query, Store } from "../model/store.js";
import { KeptDecisions } from "./kept-decisions.js";
import type { Mismatched } from "./replay-record.js";
import { replayRecord } from "./replay-record.js";

/** What came of replaying records, as `replay --format json` prints it. */
export interface ReplayReport {
  readonly total: number;
  readonly matched: number;
  readonly mismatched: number;
  readonly not_replayable: number;
  /** Why some could not be replayed, the most frequent reason first. */
  readonly reasons: readonly NotReplayable[];
  readonly mismatches: readonly RecordMismatch[];
}

export interface NotReplayable {
  readonly reason: string;
  readonly count: number;
  /** Some of the records. */
  readonly examples: readonly string[];
}

export interface RecordMismatch extends Omit<Mismatched, "status"> {
  /** Null where the line can no longer be read. */
  readonly record_id: string | null;
  readonly seq: number;
  readonly decision_id: string | null;
}

/** More than these are counted, and not told one by one. */
const mostMismatches = 1000;
const mostExamples = 5;

/** Gathers what came of each record. */
export class Replay {
  readonly #kept: KeptDecisions;
  readonly #reasons = new Map<string, { count: number; readonly examples: string[] }>();
  readonly #mismatches: RecordMismatch[] = [];
  #matched = 0;
  #mismatched = 0;
  #notReplayable = 0;

  constructor(store: Store) {
    this.#kept = new KeptDecisions(store);
  }

  get done(): number {
    return this.#matched + this.#mismatched + this.#notReplayable;
  }

  /** Waits only where a definition is met for the first time. */
  add(line: LogLine): void | Promise<void> {
    const { record } = line;
    if (record.kind !== "decision") return undefined;
    const kept = this.#kept.get(record);
    if (kept instanceof Promise) return kept.then((found) => this.#note({ ...line, record }, found));
    this.#note({ ...line, record }, kept);
    return undefined;
  }

  #note(line: LogLine & { readonly record: DecisionRecord }, kept: Parameters<typeof replayRecord>[1]): void {
    const replayed = replayRecord(line, kept);
    const { record_id, seq, decision_id } = line.record;
    switch (replayed.status) {
      case "matched":
        this.#matched++;
        return;
      case "not_replayable":
        this.#skip(replayed.why, record_id);
        return;
      case "mismatched": {
        const { expected, actual, differences } = replayed;
        this.#miss({ record_id, seq, decision_id, expected, actual, differences });
      }
    }
  }

  /** A record of which nothing can be read any more. */
  addUnreadable(seq: number): void {
    const expected = { record: "as it was written" };
    const actual = { record: "cannot be read" };
    const differences = [{ what: "record", expected: expected.record, actual: actual.record }];
    this.#miss({ record_id: null, seq, decision_id: null, expected, actual, differences });
  }

  #miss(mismatch: RecordMismatch): void {
    this.#mismatched++;
    if (this.#mismatches.length < mostMismatches) this.#mismatches.push(mismatch);
  }

  #skip(why: string, recordId: string): void {
    this.#notReplayable++;
    const known = this.#reasons.get(why) ?? { count: 0, examples: [] };
    known.count++;
    if (known.examples.length < mostExamples) known.examples.push(recordId);
    this.#reasons.set(why, known);
  }

  report(): ReplayReport {
    const reasons = [...this.#reasons].map(([reason, { count, examples }]) => ({ reason, count, examples }));
    return {
      total: this.done,
      matched: this.#matched,
      mismatched: this.#mismatched,
      not_replayable: this.#notReplayable,
      reasons: reasons.sort((a, b) => b.count - a.count),
      mismatches: this.#mismatches,
    };
  }
}

/** Replays all records that fit; where none is left out by the query, also notices those that cannot be read. */
export async function replayLog(
  store: Store,
  query: Query,
  progress: (done: number) => void = () => undefined,
): Promise<ReplayReport> {
  const replay = new Replay(store);
  const isWhole = Object.keys(query).length === 0;
  let next = isWhole ? await firstNumber(store) : 0;
  for await (const line of store.log.select(query)) {
    // A line that was changed may claim any number.
    const seq = line.intact ? line.record.seq : next;
    if (isWhole) for (; next < seq; next++) replay.addUnreadable(next);
    next = seq + 1;
    const added = replay.add(line);
    if (added !== undefined) await added;
    progress(replay.done);
  }
  if (isWhole) {
    const { size } = await store.log.state();
    for (; next <= size; next++) replay.addUnreadable(next);
  }
  return replay.report();
}

/** The number of the oldest record that was not pruned. */
async function firstNumber({ log }: Store): Promise<number> {
  const { records, through } = await log.prunable({ keep: 0 });
  return through - records + 1;
}
