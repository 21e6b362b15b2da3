import { canonicalJson } from "../digest/canonical-json.js";
import { DecisionError } from "../errors.js";
import type { DecisionRecord } from "../model/record.js";
import type { Query, Store } from "../model/store.js";
import { reevaluate } from "./reevaluate.js";
import { areEqualLists } from "./replay-record.js";
import type { ReplayableDefinition, UnavailableDefinition } from "./replayable-definitions.js";
import type { Damage, DamagedRecord, DecisionLine, DecisionVisitor, NotReplayable } from "./walk-log.js";
import { SkippedRecords, walkLog } from "./walk-log.js";

/** How another definition would have decided recorded questions, as `backtest --format json` prints it. */
export interface BacktestReport {
  readonly decision_id: string;
  /** The definition under test. */
  readonly definition_hash: string;
  readonly total: number;
  readonly changed: number;
  /** The share of changed decisions among those that could be replayed. */
  readonly change_rate: number;
  readonly not_replayable: number;
  readonly reasons: readonly NotReplayable[];
  /** Changes only: those that would newly permit something first, then by frequency. */
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

/** Evaluates the context of every decision that matches the query with another definition. */
export async function backtestLog(
  definition: ReplayableDefinition,
  store: Store,
  query: Query,
  onProgress: (replayed: number, share: number) => void = () => undefined,
): Promise<BacktestReport> {
  const collector = new BacktestCollector(definition);
  await walkLog(store, query, collector, (share) => onProgress(collector.total, share));
  return collector.report();
}

const examplesPerTransition = 3;

class BacktestCollector implements DecisionVisitor {
  readonly #definition: ReplayableDefinition;
  readonly #skipped = new SkippedRecords();
  readonly #transitions = new Map<
    string,
    {
      readonly from: string;
      readonly to: string;
      readonly examples: BacktestExample[];
      count: number;
      readonly risk: number;
    }
  >();
  #changed = 0;
  #total = 0;

  constructor(definition: ReplayableDefinition) {
    this.#definition = definition;
  }

  get total(): number {
    return this.#total;
  }

  visit(line: DecisionLine, madeWith: ReplayableDefinition | UnavailableDefinition): void {
    this.#total++;
    const outcome = this.#reevaluate(line, madeWith);
    if ("notReplayable" in outcome) this.#skipped.add(outcome.notReplayable, line.record.record_id);
    else if ("error" in outcome || !isSameOutcome(line.record, outcome))
      this.#addChange(line.record, outcome);
  }

  visitDamaged({ record_id, seq }: DamagedRecord, damage: Damage): void {
    this.#total++;
    const reason = damage === "unreadable" ? "it cannot be read" : "it was changed after it was written";
    this.#skipped.add(reason, record_id ?? String(seq));
  }

  #reevaluate(
    line: DecisionLine,
    madeWith: ReplayableDefinition | UnavailableDefinition,
  ): BacktestOutcome | { readonly notReplayable: string } {
    try {
      const again = reevaluate(line, this.#definition, madeWith);
      if ("notReplayable" in again) return again;
      const { evaluated, blocked, escalated } = again.guarded;
      const { selected_labels, selected_targets, outputs } = evaluated;
      const answer = { selected_labels, selected_targets, blocked, escalated };
      return outputs === undefined ? answer : { ...answer, outputs };
    } catch (error) {
      if (!(error instanceof DecisionError)) throw error;
      return { error: error.message };
    }
  }

  #addChange(record: DecisionRecord, outcome: BacktestOutcome): void {
    this.#changed++;
    const texts = transitionText(record, outcome);
    const key = JSON.stringify([texts.from, texts.to]);
    const transition = this.#transitions.get(key) ?? {
      ...texts,
      examples: [],
      count: 0,
      risk: transitionRisk(record, outcome),
    };
    transition.count++;
    if (transition.examples.length < examplesPerTransition) {
      const { record_id, seq, timestamp } = record;
      transition.examples.push({ record_id, seq, timestamp, ...texts });
    }
    this.#transitions.set(key, transition);
  }

  report(): BacktestReport {
    const { definition, definition_hash } = this.#definition.loaded;
    const replayed = this.#total - this.#skipped.count;
    const sorted = [...this.#transitions.values()].sort((a, b) => a.risk - b.risk || b.count - a.count);
    return {
      decision_id: definition.id,
      definition_hash,
      total: this.#total,
      changed: this.#changed,
      change_rate: replayed === 0 ? 0 : this.#changed / replayed,
      not_replayable: this.#skipped.count,
      reasons: this.#skipped.reasons(),
      transitions: sorted.map(({ from, to, count }) => ({ from, to, count })),
      examples: sorted.flatMap(({ examples }) => examples),
    };
  }
}

/** The fields that a backtest compares, or the error that the definition under test ends with. */
export type BacktestOutcome = RecordedOutcome | { readonly error: string };

export type RecordedOutcome = Pick<
  DecisionRecord,
  "selected_labels" | "selected_targets" | "outputs" | "blocked" | "escalated"
>;

const isSameOutcome = (a: RecordedOutcome, b: RecordedOutcome): boolean =>
  areEqualLists(a.selected_labels, b.selected_labels) &&
  areEqualLists(a.selected_targets, b.selected_targets) &&
  outputsText(a) === outputsText(b) &&
  a.blocked === b.blocked &&
  a.escalated === b.escalated;

/** Names both sides of a change by their labels; adds what differs where the labels are equal: targets, outputs or the guardrails' verdict. */
export function transitionText(
  from: RecordedOutcome,
  to: BacktestOutcome,
): { readonly from: string; readonly to: string } {
  const [before, after] = [labelsText(from), labelsText(to)];
  if (before !== after || "error" in to) return { from: before, to: after };
  const detailText = [targetsText, outputsText].find((text) => text(from) !== text(to)) ?? guardText;
  return { from: `${before} (${detailText(from)})`, to: `${after} (${detailText(to)})` };
}

function labelsText(outcome: BacktestOutcome): string {
  if ("error" in outcome) return `error: ${outcome.error}`;
  if (outcome.blocked && outcome.selected_labels.length === 0) return "blocked";
  return outcome.selected_labels.join(", ");
}

const targetsText = ({ selected_targets: targets }: RecordedOutcome): string =>
  targets.length === 0 ? "no target" : targets.join(" ");

/** A definition that declares no output answers like one whose branches have none. */
const outputsText = ({ outputs = [] }: RecordedOutcome): string =>
  outputs.every((output) => output === null)
    ? "no output"
    : outputs.map((output) => canonicalJson(output)).join(", ");

function guardText({ blocked, escalated }: RecordedOutcome): string {
  if (blocked) return "blocked";
  return escalated ? "escalated" : "as decided";
}

/** Ranks changes for review: lower comes first; below 0, the new outcome permits more than the old one. */
export function transitionRisk(from: RecordedOutcome, to: BacktestOutcome): number {
  const [before, after] = [permissivenessOf(from), permissivenessOf(to)];
  return after > before ? before - after : 1;
}

/** How far each outcome lets an agent proceed. */
const permissivenessByLabel: ReadonlyMap<string | undefined, number> = new Map([
  ["denied", 0],
  ["RED", 0],
  ["YELLOW", 1],
  ["GREEN-SKIP", 2],
  ["GREEN", 3],
  ["allowed_by_exception", 3],
  ["allowed", 3],
]);

function permissivenessOf(outcome: BacktestOutcome): number {
  if ("error" in outcome || outcome.blocked) return 0;
  if (outcome.escalated) return 1;
  return permissivenessByLabel.get(outcome.selected_labels[0]) ?? 2;
}
