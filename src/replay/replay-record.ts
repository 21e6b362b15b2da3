import { canonicalJson } from "../digest/canonical-json.js";
import { DecisionError } from "../errors.js";
import type { Outcome } from "../evaluate/evaluate.js";
import type { Guarded } from "../guard/guard.js";
import type { Json } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import { deterministicHash, scoredHash, valuesReadJson } from "../record/deterministic-hash.js";
import type { ValueDifference } from "./difference-text.js";
import type { Reevaluation } from "./reevaluate.js";
import { reevaluate } from "./reevaluate.js";
import type { ReplayableDefinition, UnavailableDefinition } from "./replayable-definitions.js";
import type { Damage, DecisionLine } from "./walk-log.js";

/** The result of evaluating a record's context again. */
type ReplayOutcome =
  | { readonly status: "matched" }
  | { readonly status: "not_replayable"; readonly reason: string }
  | ReplayMismatch;

export interface ReplayMismatch {
  readonly status: "mismatched";
  readonly expected: ComparedFields;
  readonly actual: ComparedFields;
  readonly differences: readonly ValueDifference[];
}

/** The values that a replay must reproduce, by name. */
type ComparedFields = Readonly<Record<string, Json>>;

const matched: ReplayOutcome = { status: "matched" };

/** Evaluates the context of a well-formed record again, with the definition that the record was made with. */
export function replayRecord(
  line: DecisionLine,
  definition: ReplayableDefinition | UnavailableDefinition,
): ReplayOutcome {
  const { record } = line;
  if ("unavailable" in definition) {
    const { unavailable: reason, isChanged = false } = definition;
    if (isChanged) return toMismatch({ definition: "as stored" }, { definition: reason });
    return { status: "not_replayable", reason };
  }
  try {
    const again = reevaluate(line, definition);
    if ("notReplayable" in again) return { status: "not_replayable", reason: again.notReplayable };
    const answer = { guarded: again.guarded, hash: replayedHash(again, definition) };
    return matchesRecord(record, answer) ? matched : toMismatch(expectedFields(record), actualFields(answer));
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

/** Reports a record that is not as it was written. */
export function damageMismatch(damage: Damage): ReplayMismatch {
  const { expected, actual } = damageTexts[damage];
  return toMismatch({ record: expected }, { record: actual });
}

const damageTexts: Readonly<Record<Damage, { readonly expected: string; readonly actual: string }>> = {
  changed: { expected: "as written", actual: "changed since" },
  malformed: { expected: "complete", actual: "damaged" },
  unreadable: { expected: "as written", actual: "unreadable" },
};

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
    const [before, after] = [expected[what] ?? null, actual[what] ?? null];
    return canonicalJson(before) === canonicalJson(after) ? [] : [{ what, expected: before, actual: after }];
  });
  return { status: "mismatched", expected, actual, differences };
}

/** The answer of a replay, with its deterministic hash. */
interface ReplayedAnswer {
  readonly guarded: Guarded;
  readonly hash: string;
}

/** Equivalent to comparing `expectedFields` and `actualFields`, without building them: most records match. */
function matchesRecord(record: DecisionRecord, { guarded, hash }: ReplayedAnswer): boolean {
  const { evaluated, blocked, escalated } = guarded;
  return (
    record.deterministic_hash === hash &&
    record.blocked === blocked &&
    record.escalated === escalated &&
    areEqualLists(record.selected_labels, evaluated.selected_labels) &&
    areEqualLists(record.selected_targets, evaluated.selected_targets) &&
    areEqualOutputs(record.outputs, evaluated.outputs) &&
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
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return outcome === undefined;
  }
}

export function areEqualLists(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

/** Compares as canonical JSON: a stored definition may have its keys in another order. */
const areEqualOutputs = (a: readonly Json[] | undefined, b: readonly Json[] | undefined): boolean =>
  a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);

function expectedFields(record: DecisionRecord): ComparedFields {
  const { selected_labels, selected_targets, outputs, blocked, escalated, deterministic_hash } = record;
  const compared: ComparedFields = {
    labels: selected_labels,
    targets: selected_targets,
    ...(outputs !== undefined && { outputs }),
    blocked,
    escalated,
  };
  return { ...outcomeFields(record), ...compared, deterministic_hash };
}

function actualFields({ guarded, hash }: ReplayedAnswer): ComparedFields {
  const { evaluated, blocked, escalated } = guarded;
  const { selected_labels, selected_targets, outputs, outcome } = evaluated;
  const compared: ComparedFields = {
    labels: selected_labels,
    targets: selected_targets,
    ...(outputs !== undefined && { outputs }),
    blocked,
    escalated,
  };
  return { ...(outcome && outcomeFields(outcome)), ...compared, deterministic_hash: hash };
}

/** Returns the fields that only this type of decision has. */
function outcomeFields(answer: DecisionRecord | Outcome): ComparedFields {
  switch (answer.type) {
    case "scored":
      return { decision: answer.decision, confidence: answer.confidence };
    case "policy":
      return { outcome: answer.outcome };
    case "gate":
      return { status: answer.status };
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return {};
  }
}
