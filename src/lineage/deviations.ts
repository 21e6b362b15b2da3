import { isSameOutcome, outcomeText, haveSameItems } from "./precedents.js";
import type { Rationale } from "./rationale.js";
import { rationaleOf } from "./rationale.js";
import type { Assessment, Deviation } from "../model/assessment.js";
import type { Precedent } from "../model/lineage.js";
import type { DecisionRecord } from "../model/record.js";
import type { Ledger } from "../model/store.js";
import { isWellFormedRecord } from "../record/well-formed.js";

export type { Assessment, Deviation } from "../model/assessment.js";

export interface AssessmentOptions {
  /** Whether decisions may be compared with this precedent, which is undefined where its record is gone; absent: always. */
  readonly isComparable?: (earlier: DecisionRecord | undefined) => boolean;
}

/** Compares decisions, newest first, with the precedents that were recorded with them. */
export async function assessConsistency(
  records: AsyncIterable<DecisionRecord> | Iterable<DecisionRecord>,
  log: Pick<Ledger, "find">,
  { isComparable = () => true }: AssessmentOptions = {},
): Promise<Assessment> {
  const deviations: Deviation[] = [];
  let decisions = 0;
  for await (const record of records) {
    decisions++;
    for (const precedent of recordedPrecedents(record)) {
      const earlier = await findPrecedentRecord(precedent, log);
      const deviation = isComparable(earlier) ? findDeviation(record, precedent, earlier) : undefined;
      if (deviation !== undefined) deviations.push(deviation);
    }
  }
  return {
    observer: "precedent_consistency",
    summary: summaryOf(decisions, deviations),
    severity: deviations.length > 0 ? "caution" : "info",
    suggestions: suggestionsFor(deviations),
    decisions,
    deviations,
  };
}

export const hasOutcomeDeviation = ({ deviations }: Assessment): boolean =>
  deviations.some(({ deviation_type: type }) => type === "outcome_differs");

/** Skips malformed precedents of a damaged record. */
function recordedPrecedents({ lineage }: DecisionRecord): readonly Precedent[] {
  const recorded: unknown = lineage?.precedents;
  if (!Array.isArray(recorded)) return [];
  return (recorded as readonly (Precedent | null)[]).filter(
    (each): each is Precedent => typeof each?.record_id === "string",
  );
}

/** Returns undefined where the record was pruned or is damaged. */
async function findPrecedentRecord(
  { record_id }: Precedent,
  log: Pick<Ledger, "find">,
): Promise<DecisionRecord | undefined> {
  const found = await log.find({ beginning: record_id });
  if ("candidates" in found || found.record.kind !== "decision") return undefined;
  return isWellFormedRecord(found.record) ? found.record : undefined;
}

/** Uses the precedent's record; where that is gone, what the decision recorded about it. */
function findDeviation(
  record: DecisionRecord,
  { record_id: precedent_id, outcome_matched }: Precedent,
  earlier: DecisionRecord | undefined,
): Deviation | undefined {
  const { record_id, decision_id } = record;
  const between = { record_id, precedent_id, decision_id };
  const isSame = earlier === undefined ? outcome_matched : isSameOutcome(record, earlier);
  if (!isSame) {
    const before =
      earlier === undefined
        ? "another outcome before (that record is gone)"
        : `${quoted(outcomeText(earlier))} before`;
    const explanation = `${quoted(outcomeText(record))} now, ${before}`;
    return { ...between, deviation_type: "outcome_differs", explanation };
  }
  // An exception has another rationale by its nature, and a draw has none.
  if (earlier === undefined || record.type === "weighted" || !hasSameLabels(record, earlier))
    return undefined;
  const [now, before] = [rationaleOf(record), rationaleOf(earlier)];
  if (haveSameItems(now.basis, before.basis)) return undefined;
  const explanation = `${quoted(outcomeText(record))} both times, but ${reasonTexts(now, before)}`;
  return { ...between, deviation_type: "rationale_differs", explanation };
}

const hasSameLabels = (record: DecisionRecord, earlier: DecisionRecord): boolean =>
  haveSameItems(record.selected_labels, earlier.selected_labels);

const quoted = (text: string): string => `\`${text}\``;

/** Shows what decided where the reasons read the same. */
function reasonTexts(now: Rationale, before: Rationale): string {
  const part = haveSameItems(now.reasons, before.reasons) ? "basis" : "reasons";
  return `${reasonText(now[part])} now, ${reasonText(before[part])} before`;
}

const reasonText = (reasons: readonly string[]): string =>
  reasons.length === 0 ? "without a reason" : `because of ${quoted(shortened(reasons.join("; ")))}`;

const maxReasonLength = 300;

/** A reason may contain a long value of the context. Half of a surrogate pair at the end is dropped. */
const shortened = (text: string): string =>
  text.length <= maxReasonLength
    ? text
    : `${text.slice(0, maxReasonLength).replace(/[\ud800-\udbff]$/, "")}…`;

function summaryOf(decisions: number, deviations: readonly Deviation[]): string {
  const deviating = new Set(deviations.map(({ record_id }) => record_id)).size;
  const noun = decisions === 1 ? "decision" : "decisions";
  return `${deviating} of ${decisions} ${noun} deviated from precedent`;
}

function suggestionsFor(deviations: readonly Deviation[]): readonly string[] {
  const types = new Set(deviations.map(({ deviation_type: type }) => type));
  return [
    ...(types.has("outcome_differs")
      ? [
          "Check whether the different outcome is intended",
          "If it is, publish a new version of the definition; if not, restore the earlier behaviour",
        ]
      : []),
    ...(types.has("rationale_differs")
      ? ["Check whether the conditions still measure the same; document the change if they do not"]
      : []),
  ];
}
