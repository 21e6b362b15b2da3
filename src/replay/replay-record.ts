import type { Reevaluation } from "./reevaluate.js";
import { reevaluate } from "./reevaluate.js";
import type { ReplayableDefinition, UnavailableDefinition } from "./replayable-definitions.js";
import { DecisionError } from "../errors.js";
import type { Outcome } from "../evaluate/evaluate.js";
import type { Guarded } from "../guard/guard.js";
import type { Json } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { LogLine } from "../model/store.js";
import { printable } from "../text.js";
import { scoredHash, deterministicHash, valuesReadJson } from "../record/deterministic-hash.js";
import { isWellFormedRecord } from "../record/well-formed.js";

/** What came of asking a record's question again. */
type ReplayOutcome =
  | { readonly status: "matched" }
  | { readonly status: "not_replayable"; readonly why: string }
  | ReplayMismatch;

export interface ReplayMismatch {
  readonly status: "mismatched";
  readonly expected: ComparedFields;
  readonly actual: ComparedFields;
  readonly differences: readonly RecordDifference[];
}

interface RecordDifference {
  readonly what: string;
  readonly expected: Json;
  readonly actual: Json;
}

/** What is the matter with a line that is no longer what was written; undefined: nothing. */
export function findDamage({ record, intact }: LogLine): ReplayMismatch | undefined {
  if (!intact) return toMismatch({ record: "as it was written" }, { record: "changed since" });
  return isWellFormedRecord(record) ? undefined : toMismatch({ record: "whole" }, { record: "damaged" });
}

/** A line of which nothing can be read any more. */
export const unreadableMismatch = (): ReplayMismatch =>
  toMismatch({ record: "as it was written" }, { record: "cannot be read" });

const matched: ReplayOutcome = { status: "matched" };

/** Asks a sound record's question of the definition that it was made with. */
export function replayRecord(
  line: LogLine & { readonly record: DecisionRecord },
  kept: ReplayableDefinition | UnavailableDefinition,
): ReplayOutcome {
  const { record } = line;
  if ("missing" in kept) {
    if (kept.changed === true)
      return toMismatch({ definition: "as it was kept" }, { definition: kept.missing });
    return { status: "not_replayable", why: kept.missing };
  }
  try {
    const again = reevaluate(line, kept);
    if ("why" in again) return { status: "not_replayable", why: again.why };
    const given = { guarded: again.guarded, hash: replayedHash(again, kept) };
    return matchesRecord(record, given) ? matched : toMismatch(expectedFields(record), actualFields(given));
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    const differences = [{ what: "error", expected: null, actual: error.message }];
    return {
      status: "mismatched",
      expected: expectedFields(record),
      actual: { error: error.message },
      differences,
    };
  }
}

function replayedHash(
  { guarded: { evaluated }, scope }: Reevaluation,
  { loaded, prepared }: ReplayableDefinition,
): string {
  const { outcome } = evaluated;
  return outcome?.type === "scored"
    ? scoredHash(scope.context, outcome)
    : deterministicHash(loaded, valuesReadJson(prepared, scope), evaluated);
}

function toMismatch(expected: ComparedFields, actual: ComparedFields): ReplayMismatch {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  const differences = [...names].flatMap((what) => {
    const [was, is] = [expected[what] ?? null, actual[what] ?? null];
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ what, expected: was, actual: is }];
  });
  return { status: "mismatched", expected, actual, differences };
}

/** What must come out the same, by name. */
type ComparedFields = Readonly<Record<string, Json>>;

/** An answer that was given again, with the hash that it then has. */
interface ReplayedAnswer {
  readonly guarded: Guarded;
  readonly hash: string;
}

/** The same as comparing what the following two tell; a log is long, and mostly nothing differs. */
function matchesRecord(record: DecisionRecord, { guarded, hash }: ReplayedAnswer): boolean {
  const { evaluated, blocked, escalated } = guarded;
  return (
    record.deterministic_hash === hash &&
    record.blocked === blocked &&
    record.escalated === escalated &&
    areEqualLists(record.selected_labels, evaluated.selected_labels) &&
    areEqualLists(record.selected_targets, evaluated.selected_targets) &&
    matchesOutcome(record, evaluated.outcome)
  );
}

function matchesOutcome(record: DecisionRecord, outcome: Outcome | undefined): boolean {
  switch (record.type) {
    case "scored":
      return (
        outcome?.type === "scored" &&
        outcome.decision === record.decision &&
        outcome.confidence === record.confidence
      );
    case "policy":
      return outcome?.type === "policy" && outcome.outcome === record.outcome;
    case "gate":
      return outcome?.type === "gate" && outcome.status === record.status;
    default:
      return outcome === undefined;
  }
}

export function areEqualLists(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

function expectedFields(record: DecisionRecord): ComparedFields {
  const { selected_labels, selected_targets, blocked, escalated, deterministic_hash } = record;
  const compared: ComparedFields = { labels: selected_labels, targets: selected_targets, blocked, escalated };
  return { ...outcomeFields(record), ...compared, deterministic_hash };
}

function actualFields({ guarded, hash }: ReplayedAnswer): ComparedFields {
  const { evaluated, blocked, escalated } = guarded;
  const { selected_labels, selected_targets, outcome } = evaluated;
  const compared: ComparedFields = { labels: selected_labels, targets: selected_targets, blocked, escalated };
  return { ...(outcome && outcomeFields(outcome)), ...compared, deterministic_hash: hash };
}

/** What only this type of decision answers with. */
function outcomeFields(answer: DecisionRecord | Outcome): ComparedFields {
  switch (answer.type) {
    case "scored":
      return { decision: answer.decision, confidence: answer.confidence };
    case "policy":
      return { outcome: answer.outcome };
    case "gate":
      return { status: answer.status };
    default:
      return {};
  }
}

/** As an error names a difference. */
export const mismatchText = ({ what, expected, actual }: RecordDifference): string =>
  `${what} mismatch (expected: ${valueText(expected)}, got: ${valueText(actual)})`;

/** As it is told where a difference is no error. */
export const changedText = ({ what, expected, actual }: RecordDifference): string => {
  const name = what.replaceAll("_", " ");
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)} changed: ${valueText(expected)} -> ${valueText(actual)}`;
};

/** On one line, so that no value can look like a difference of its own. */
export function valueText(value: Json): string {
  if (Array.isArray(value))
    return value.length === 0 ? "nothing" : (value as readonly Json[]).map(valueText).join(", ");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return printable(text).replaceAll("\n", "\\n");
}
