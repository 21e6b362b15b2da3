import type { DecisionRecord, LogRecord } from "../model/record.js";
import type { LogLine, Query, Store, UnreadableLine } from "../model/store.js";
import { ReplayableDefinitions } from "./replayable-definitions.js";
import type { ReplayMismatch } from "./replay-record.js";
import { findDamage, replayRecord, unreadableMismatch } from "./replay-record.js";

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

interface RecordMismatch extends Omit<ReplayMismatch, "status"> {
  /** Null where the line can no longer be read. */
  readonly record_id: string | null;
  readonly seq: number;
  readonly decision_id: string | null;
}

/** More than these are counted, and not told one by one. */
const maxMismatches = 1000;
const maxExamples = 5;

type DecisionLine = LogLine & { readonly record: DecisionRecord };

/** Gathers what came of each record. */
export class LogReplay {
  readonly #kept: ReplayableDefinitions;
  readonly #reasons = new Map<string, { count: number; readonly examples: string[] }>();
  readonly #mismatches: RecordMismatch[] = [];
  #matched = 0;
  #mismatched = 0;
  #notReplayable = 0;

  constructor(store: Store) {
    this.#kept = new ReplayableDefinitions(store);
  }

  get done(): number {
    return this.#matched + this.#mismatched + this.#notReplayable;
  }

  /** Waits only where a definition is met for the first time. */
  add(line: LogLine): void | Promise<void> {
    if (!isDecisionLine(line)) return undefined;
    const damage = findDamage(line);
    if (damage !== undefined) {
      this.#miss(line.record, damage);
      return undefined;
    }
    const kept = this.#kept.get(line.record);
    if (kept instanceof Promise) return kept.then((found) => this.#note(line, found));
    this.#note(line, kept);
    return undefined;
  }

  #note(line: DecisionLine, kept: Parameters<typeof replayRecord>[1]): void {
    const replayed = replayRecord(line, kept);
    switch (replayed.status) {
      case "matched":
        this.#matched++;
        return;
      case "not_replayable":
        this.#skip(replayed.why, line.record.record_id);
        return;
      case "mismatched":
        this.#miss(line.record, replayed);
    }
  }

  /** A record of which nothing can be read any more. */
  addUnreadable(seq: number): void {
    this.#miss({ seq }, unreadableMismatch());
  }

  /** What was changed may lack anything. */
  #miss(record: Partial<DecisionRecord> & Pick<DecisionRecord, "seq">, mismatch: ReplayMismatch): void {
    this.#mismatched++;
    if (this.#mismatches.length >= maxMismatches) return;
    const { seq, record_id, decision_id } = record;
    const { expected, actual, differences } = mismatch;
    const named = { record_id: record_id ?? null, seq, decision_id: decision_id ?? null };
    this.#mismatches.push({ ...named, expected, actual, differences });
  }

  #skip(why: string, recordId: string): void {
    this.#notReplayable++;
    const known = this.#reasons.get(why) ?? { count: 0, examples: [] };
    known.count++;
    if (known.examples.length < maxExamples) known.examples.push(recordId);
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

const otherKinds: ReadonlySet<string> = new Set<Exclude<LogRecord["kind"], "decision">>([
  "tool_result",
  "note",
]);

/** Nobody gets a decision out of the way by calling it something else. */
const isDecisionLine = (line: LogLine): line is DecisionLine =>
  line.record.kind === "decision" || !otherKinds.has(line.record.kind) || "deterministic_hash" in line.record;

/** Replays all records that fit; where none is left out by the query, also notices those that are gone. */
export async function replayLog(
  store: Store,
  query: Query,
  progress: (done: number) => void = () => undefined,
): Promise<ReplayReport> {
  const replay = new LogReplay(store);
  const isWhole = Object.keys(query).length === 0;
  // What is added from now on is not missing.
  const { size, lost = 0 } = await store.log.state();
  let next = isWhole ? await firstSeq(store) : 0;
  const reach = (seq: number): void => {
    if (isWhole) for (; next < seq; next++) replay.addUnreadable(next);
    next = Math.max(next, seq + 1);
  };
  const note = ({ seq, text }: UnreadableLine): void => {
    reach(seq);
    if (!otherKindPrefix.test(text)) replay.addUnreadable(seq);
  };
  for await (const line of store.log.select(query, note)) {
    // A line that was changed may claim any number.
    reach(line.intact ? line.record.seq : next);
    const added = replay.add(line);
    if (added !== undefined) await added;
    progress(replay.done);
  }
  if (isWhole) reach(size + lost + 1);
  return replay.report();
}

const otherKindPrefix = /^\{"seq":\d+,"kind":"(?:tool_result|note)"/;

/** The number of the oldest record that was not pruned. */
async function firstSeq({ log }: Store): Promise<number> {
  const { records, through } = await log.prunable({ keep: 0 });
  return through - records + 1;
}
