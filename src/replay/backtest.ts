import { DecisionError } from "../errors.js";
import type { DecisionRecord } from "../model/record.js";
import type { LogLine } from "../model/store.js";
import { isWholeRecord } from "../record/whole-record.js";
import { askAgain } from "./ask-again.js";
import type { Ready } from "./kept-decisions.js";
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

/** Asks one definition what many records were asked. */
export class Backtest {
  readonly #ready: Ready;
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

  constructor(ready: Ready) {
    this.#ready = ready;
  }

  get done(): number {
    return this.#asked;
  }

  add(line: LogLine): void {
    const { record } = line;
    if (record.kind !== "decision") return;
    this.#asked++;
    const outcome = this.#ask({ ...line, record });
    if ("why" in outcome) this.#skip(outcome.why, record.record_id);
    else if (outcome.to !== undefined) this.#change(record, outcome.to);
  }

  /** What it would come to, where that is something else. */
  #ask(
    line: LogLine & { readonly record: DecisionRecord },
  ): { readonly why: string } | { readonly to: Changed | undefined } {
    const { record } = line;
    if (!line.intact || !isWholeRecord(record)) return { why: "it is not as it was written" };
    try {
      const again = askAgain(record, line, this.#ready);
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
    const key = `${texts.from}\n${texts.to}`;
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

const areSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index]);
