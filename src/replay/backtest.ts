import { DecisionError } from "../errors.js";
import type { DecisionRecord } from "../model/record.js";
import type { LogLine, Store, UnreadableLine } from "../model/store.js";
import { isWholeRecord } from "../record/whole-record.js";
import { askAgain } from "./ask-again.js";
import { areSame } from "./compared.js";
import type { Ready, Unkept } from "./kept-decisions.js";
import { KeptDecisions } from "./kept-decisions.js";
import { outcomeText, riskOf } from "./outcome-text.js";
import type { NotReplayable } from "./replay-log.js";

/** What another definition would have made of recorded questions, as `backtest --format json` prints it. */
export interface BacktestReport {
  readonly decision_id: string;
  /** The definition that was asked. */
  readonly definition_hash: string;
  readonly total: number;
  readonly changed: number;
  /** Of those that could be asked again. */
  readonly change_rate: number;
  readonly not_replayable: number;
  readonly reasons: readonly NotReplayable[];
  /** Only what changed: first what would be let through, then by how often. */
  readonly transitions: readonly Transition[];
  readonly examples: readonly Example[];
}

export interface Transition {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

export interface Example {
  readonly record_id: string;
  readonly seq: number;
  readonly timestamp: string;
  readonly from: string;
  readonly to: string;
}

const examplesPerTransition = 3;
const examplesPerReason = 5;

type Asked = Pick<LogLine, "text"> & { readonly record: DecisionRecord };

/** Asks one definition what many records were asked. */
export class Backtest {
  readonly #ready: Ready;
  readonly #kept: KeptDecisions;
  readonly #transitions = new Map<
    string,
    {
      readonly from: string;
      readonly to: string;
      readonly found: Example[];
      count: number;
      readonly risk: number;
    }
  >();
  readonly #reasons = new Map<string, { readonly examples: string[]; count: number }>();
  #asked = 0;
  #changed = 0;

  constructor(ready: Ready, store: Store) {
    this.#ready = ready;
    this.#kept = new KeptDecisions(store);
  }

  get done(): number {
    return this.#asked;
  }

  /** Waits only where a definition is met for the first time. */
  add(line: LogLine): void | Promise<void> {
    const { record, intact, text } = line;
    if (record.kind !== "decision") return undefined;
    this.#asked++;
    if (!intact || !isWholeRecord(record)) {
      this.#skip("it is not as it was written", record.record_id);
      return undefined;
    }
    const made = this.#kept.get(record);
    if (made instanceof Promise) return made.then((found) => this.#note({ record, text }, found));
    this.#note({ record, text }, made);
    return undefined;
  }

  /** A record of which nothing can be read any more. */
  addUnreadable({ seq }: UnreadableLine): void {
    this.#asked++;
    this.#skip("it cannot be read", String(seq));
  }

  #note(line: Asked, made: Ready | Unkept): void {
    const outcome = this.#ask(line, made);
    if ("why" in outcome) this.#skip(outcome.why, line.record.record_id);
    else if (outcome.to !== undefined) this.#change(line.record, outcome.to);
  }

  /** What it would come to, where that is something else. */
  #ask(line: Asked, made: Ready | Unkept): { readonly why: string } | { readonly to: Changed | undefined } {
    const { record } = line;
    try {
      const again = askAgain(line, this.#ready, made);
      if ("why" in again) return again;
      const { evaluated, blocked, escalated } = again.guarded;
      const { selected_labels, selected_targets } = evaluated;
      const would = { selected_labels, selected_targets, blocked, escalated };
      return { to: isSame(record, would) ? undefined : would };
    } catch (error) {
      if (!(error instanceof DecisionError)) throw error;
      return { to: { error: error.message } };
    }
  }

  #change(record: DecisionRecord, to: Changed): void {
    this.#changed++;
    const texts = outcomeText(record, to);
    const key = JSON.stringify([texts.from, texts.to]);
    const known = this.#transitions.get(key) ?? { ...texts, found: [], count: 0, risk: riskOf(record, to) };
    known.count++;
    const { record_id, seq, timestamp } = record;
    if (known.found.length < examplesPerTransition) known.found.push({ record_id, seq, timestamp, ...texts });
    this.#transitions.set(key, known);
  }

  #skip(why: string, recordId: string): void {
    const known = this.#reasons.get(why) ?? { examples: [], count: 0 };
    known.count++;
    if (known.examples.length < examplesPerReason) known.examples.push(recordId);
    this.#reasons.set(why, known);
  }

  report(): BacktestReport {
    const { definition, definition_hash } = this.#ready.loaded;
    const reasons = [...this.#reasons].map(([reason, { count, examples }]) => ({ reason, count, examples }));
    const notReplayable = reasons.reduce((sum, { count }) => sum + count, 0);
    const replayed = this.#asked - notReplayable;
    const sorted = [...this.#transitions.values()].sort((a, b) => a.risk - b.risk || b.count - a.count);
    return {
      decision_id: definition.id,
      definition_hash,
      total: this.#asked,
      changed: this.#changed,
      change_rate: replayed === 0 ? 0 : this.#changed / replayed,
      not_replayable: notReplayable,
      reasons: reasons.sort((a, b) => b.count - a.count),
      transitions: sorted.map(({ from, to, count }) => ({ from, to, count })),
      examples: sorted.flatMap(({ found }) => found),
    };
  }
}

/** What an answer is compared by; or why there would be none. */
export type Changed = Answered | { readonly error: string };

export type Answered = Pick<DecisionRecord, "selected_labels" | "selected_targets" | "blocked" | "escalated">;

const isSame = (a: Answered, b: Answered): boolean =>
  areSame(a.selected_labels, b.selected_labels) &&
  areSame(a.selected_targets, b.selected_targets) &&
  a.blocked === b.blocked &&
  a.escalated === b.escalated;
