import { reevaluate } from "./reevaluate.js";
import type { ReplayableDefinition, UnavailableDefinition } from "./replayable-definitions.js";
import { ReplayableDefinitions } from "./replayable-definitions.js";
import type { NotReplayable } from "./replay-log.js";
import { areEqualLists } from "./replay-record.js";
import { DecisionError } from "../errors.js";
import type { DecisionRecord } from "../model/record.js";
import type { LogLine, Store, UnreadableLine } from "../model/store.js";
import { isWellFormedRecord } from "../record/well-formed.js";

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
  readonly examples: readonly BacktestExample[];
}

interface Transition {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

interface BacktestExample {
  readonly record_id: string;
  readonly seq: number;
  readonly timestamp: string;
  readonly from: string;
  readonly to: string;
}

const examplesPerTransition = 3;
const examplesPerReason = 5;

type DecisionLine = Pick<LogLine, "text"> & { readonly record: DecisionRecord };

/** Asks one definition what many records were asked. */
export class Backtest {
  readonly #ready: ReplayableDefinition;
  readonly #kept: ReplayableDefinitions;
  readonly #transitions = new Map<
    string,
    {
      readonly from: string;
      readonly to: string;
      readonly found: BacktestExample[];
      count: number;
      readonly risk: number;
    }
  >();
  readonly #reasons = new Map<string, { readonly examples: string[]; count: number }>();
  #asked = 0;
  #changed = 0;

  constructor(ready: ReplayableDefinition, store: Store) {
    this.#ready = ready;
    this.#kept = new ReplayableDefinitions(store);
  }

  get done(): number {
    return this.#asked;
  }

  /** Waits only where a definition is met for the first time. */
  add(line: LogLine): void | Promise<void> {
    const { record, intact, text } = line;
    if (record.kind !== "decision") return undefined;
    this.#asked++;
    if (!intact || !isWellFormedRecord(record)) {
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

  #note(line: DecisionLine, made: ReplayableDefinition | UnavailableDefinition): void {
    const outcome = this.#ask(line, made);
    if ("why" in outcome) this.#skip(outcome.why, line.record.record_id);
    else if (outcome.to !== undefined) this.#change(line.record, outcome.to);
  }

  /** What it would come to, where that is something else. */
  #ask(
    line: DecisionLine,
    made: ReplayableDefinition | UnavailableDefinition,
  ): { readonly why: string } | { readonly to: BacktestOutcome | undefined } {
    const { record } = line;
    try {
      const again = reevaluate(line, this.#ready, made);
      if ("why" in again) return again;
      const { evaluated, blocked, escalated } = again.guarded;
      const { selected_labels, selected_targets } = evaluated;
      const would = { selected_labels, selected_targets, blocked, escalated };
      return { to: isSameOutcome(record, would) ? undefined : would };
    } catch (error) {
      if (!(error instanceof DecisionError)) throw error;
      return { to: { error: error.message } };
    }
  }

  #change(record: DecisionRecord, to: BacktestOutcome): void {
    this.#changed++;
    const texts = transitionText(record, to);
    const key = JSON.stringify([texts.from, texts.to]);
    const known = this.#transitions.get(key) ?? {
      ...texts,
      found: [],
      count: 0,
      risk: transitionRisk(record, to),
    };
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
export type BacktestOutcome = RecordedOutcome | { readonly error: string };

export type RecordedOutcome = Pick<
  DecisionRecord,
  "selected_labels" | "selected_targets" | "blocked" | "escalated"
>;

const isSameOutcome = (a: RecordedOutcome, b: RecordedOutcome): boolean =>
  areEqualLists(a.selected_labels, b.selected_labels) &&
  areEqualLists(a.selected_targets, b.selected_targets) &&
  a.blocked === b.blocked &&
  a.escalated === b.escalated;

/** Both sides of a change in a few words; with targets, or what held it back, where labels do not tell them apart. */
export function transitionText(
  from: RecordedOutcome,
  to: BacktestOutcome,
): { readonly from: string; readonly to: string } {
  const [before, after] = [labelsText(from), labelsText(to)];
  if (before !== after || "error" in to) return { from: before, to: after };
  const told = targetsText(from) === targetsText(to) ? guardText : targetsText;
  return { from: `${before} (${told(from)})`, to: `${after} (${told(to)})` };
}

function labelsText(answer: BacktestOutcome): string {
  if ("error" in answer) return `error: ${answer.error}`;
  if (answer.blocked && answer.selected_labels.length === 0) return "blocked";
  return answer.selected_labels.join(", ");
}

const targetsText = ({ selected_targets: targets }: RecordedOutcome): string =>
  targets.length === 0 ? "no target" : targets.join(" ");

function guardText({ blocked, escalated }: RecordedOutcome): string {
  if (blocked) return "blocked";
  return escalated ? "escalated" : "as decided";
}

/** How much of a change one should look at first: what was held back and would be let through comes before all else. */
export function transitionRisk(from: RecordedOutcome, to: BacktestOutcome): number {
  const [before, after] = [permissivenessOf(from), permissivenessOf(to)];
  return after > before ? before - after : 1;
}

/** What lets an agent go on, and what holds it back. */
const permissivenessByLabel: ReadonlyMap<string | undefined, number> = new Map([
  ["denied", 0],
  ["RED", 0],
  ["YELLOW", 1],
  ["GREEN-SKIP", 2],
  ["GREEN", 3],
  ["allowed_by_exception", 3],
  ["allowed", 3],
]);

function permissivenessOf(answer: BacktestOutcome): number {
  if ("error" in answer || answer.blocked) return 0;
  if (answer.escalated) return 1;
  return permissivenessByLabel.get(answer.selected_labels[0]) ?? 2;
}
