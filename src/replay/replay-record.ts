import { DecisionError } from "../errors.js";
import type { Json } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { LogLine } from "../model/store.js";
import { scoredHash } from "../record/audit-payload.js";
import { deterministicHash } from "../record/deterministic-hash.js";
import { valuesRead } from "../record/values-read.js";
import { isWholeRecord } from "../record/whole-record.js";
import type { AskedAgain } from "./ask-again.js";
import { askAgain } from "./ask-again.js";
import type { Compared } from "./compared.js";
import { actualOf, expectedOf, isSame } from "./compared.js";
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

export interface RecordDifference {
  readonly what: string;
  readonly expected: Json;
  readonly actual: Json;
}

/** What is the matter with a line that is no longer what was written; undefined: nothing. */
export function damageOf({ record, intact }: LogLine): Mismatched | undefined {
  if (!intact) return mismatched({ record: "as it was written" }, { record: "changed since" });
  return isWholeRecord(record) ? undefined : mismatched({ record: "whole" }, { record: "damaged" });
}

/** A line of which nothing can be read any more. */
export const unreadable = (): Mismatched =>
  mismatched({ record: "as it was written" }, { record: "cannot be read" });

const matched: Replayed = { status: "matched" };

/** Asks a sound record's question of the definition that it was made with. */
export function replayRecord(
  line: LogLine & { readonly record: DecisionRecord },
  kept: Ready | Unkept,
): Replayed {
  const { record } = line;
  if ("missing" in kept) {
    if (kept.changed === true)
      return mismatched({ definition: "as it was kept" }, { definition: kept.missing });
    return { status: "not_replayable", why: kept.missing };
  }
  try {
    const again = askAgain(line, kept);
    if ("why" in again) return { status: "not_replayable", why: again.why };
    const given = { guarded: again.guarded, hash: hashOf(again, kept) };
    return isSame(record, given) ? matched : mismatched(expectedOf(record), actualOf(given));
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

function hashOf({ guarded: { evaluated }, scope }: AskedAgain, { loaded, prepared }: Ready): string {
  const { outcome } = evaluated;
  return outcome?.type === "scored"
    ? scoredHash(scope.context, outcome)
    : deterministicHash(loaded, valuesRead(prepared, scope), evaluated);
}

function mismatched(expected: Compared, actual: Compared): Mismatched {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  const differences = [...names].flatMap((what) => {
    const [was, is] = [expected[what] ?? null, actual[what] ?? null];
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ what, expected: was, actual: is }];
  });
  return { status: "mismatched", expected, actual, differences };
}
