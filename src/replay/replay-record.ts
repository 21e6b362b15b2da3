import { DecisionError } from "../errors.js";
import type { Guarded } from "../guard/guard.js";
import type { Json } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Scope } from "../model/scope.js";
import type { LogLine } from "../model/store.js";
import { scoredHash } from "../record/audit-payload.js";
import { deterministicHash } from "../record/deterministic-hash.js";
import { valuesRead } from "../record/values-read.js";
import { isWholeRecord } from "../record/whole-record.js";
import { askAgain } from "./ask-again.js";
import type { Ready, Unkept } from "./kept-decisions.js";

/** What came of asking a record's question again. */
export type Replayed =
  { readonly status: "matched" } | { readonly status: "not_replayable"; readonly why: string } | Mismatched;

export interface Mismatched {
  readonly status: "mismatched";
  readonly expected: Compared;
  readonly actual: Compared;
  readonly differences: readonly RecordDifference[];
}

/** What must come out the same, by name. */
export type Compared = Readonly<Record<string, Json>>;

export interface RecordDifference {
  readonly what: string;
  readonly expected: Json;
  readonly actual: Json;
}

/** Asks a record's question of the definition that it was made with. */
export function replayRecord(
  line: LogLine & { readonly record: DecisionRecord },
  kept: Ready | Unkept,
): Replayed {
  const { record, intact } = line;
  if (!intact) return mismatched({ record: "as it was written" }, { record: "changed since" });
  if (!isWholeRecord(record)) return mismatched({ record: "whole" }, { record: "damaged" });
  if ("missing" in kept) return { status: "not_replayable", why: kept.missing };
  try {
    const again = askAgain(record, line, kept);
    if ("why" in again) return { status: "not_replayable", why: again.why };
    return compare(expectedOf(record), actualOf(again.guarded, again.scope, kept));
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    const differences = [{ what: "error", expected: null, actual: error.message }];
    return {
      status: "mismatched",
      expected: expectedOf(record),
      actual: { error: error.message },
      differences,
    };
  }
}

function expectedOf(record: DecisionRecord): Compared {
  const { selected_labels, selected_targets, blocked, escalated, deterministic_hash } = record;
  const compared: Compared = { labels: selected_labels, targets: selected_targets, blocked, escalated };
  switch (record.type) {
    case "scored":
      return { decision: record.decision, confidence: record.confidence, ...compared, deterministic_hash };
    case "policy":
      return { outcome: record.outcome, ...compared, deterministic_hash };
    case "gate":
      return { status: record.status, ...compared, deterministic_hash };
    default:
      return { ...compared, deterministic_hash };
  }
}

function actualOf(
  { evaluated, blocked, escalated }: Guarded,
  scope: Scope,
  { loaded, prepared }: Ready,
): Compared {
  const { selected_labels, selected_targets, outcome } = evaluated;
  const compared: Compared = { labels: selected_labels, targets: selected_targets, blocked, escalated };
  if (outcome?.type === "scored") {
    const { decision, confidence } = outcome;
    return { decision, confidence, ...compared, deterministic_hash: scoredHash(scope.context, outcome) };
  }
  const hash = { deterministic_hash: deterministicHash(loaded, valuesRead(prepared, scope), evaluated) };
  if (outcome?.type === "policy") return { outcome: outcome.outcome, ...compared, ...hash };
  if (outcome?.type === "gate") return { status: outcome.status, ...compared, ...hash };
  return { ...compared, ...hash };
}

/** All that is compared is short, so comparing texts is quick. */
function compare(expected: Compared, actual: Compared): Replayed {
  for (const name in expected) if (isOther(expected[name], actual[name])) return mismatched(expected, actual);
  return { status: "matched" };
}

const isOther = (a: Json | undefined, b: Json | undefined): boolean =>
  a !== b && JSON.stringify(a) !== JSON.stringify(b);

function mismatched(expected: Compared, actual: Compared): Mismatched {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  const differences = [...names].flatMap((what) => {
    const [was, is] = [expected[what] ?? null, actual[what] ?? null];
    return isOther(was, is) ? [{ what, expected: was, actual: is }] : [];
  });
  return { status: "mismatched", expected, actual, differences };
}
