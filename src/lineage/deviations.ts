import { outcomeText, haveSameItems } from "./precedents.js";
import type { Precedent } from "../model/lineage.js";
import type { DecisionRecord } from "../model/record.js";
import type { Ledger } from "../model/store.js";
import { isWellFormedRecord } from "../record/well-formed.js";

/** A decision whose outcome or rationale differs from a precedent. */
export interface Deviation {
  readonly record_id: string;
  readonly precedent_id: string;
  readonly decision_id: string;
  readonly deviation_type: "outcome_differs" | "rationale_differs";
  readonly explanation: string;
}

/** How consistent decisions are with their precedents. */
export interface Assessment {
  readonly observer: "precedent_consistency";
  readonly summary: string;
  readonly severity: "caution" | "info";
  readonly suggestions: readonly string[];
  /** How many decisions were assessed. */
  readonly decisions: number;
  /** Newest first. */
  readonly deviations: readonly Deviation[];
}

/** Compares decisions, newest first, with the precedents that were recorded with them. */
export async function assessConsistency(
  records: AsyncIterable<DecisionRecord> | Iterable<DecisionRecord>,
  log: Pick<Ledger, "find">,
): Promise<Assessment> {
  const deviations: Deviation[] = [];
  let decisions = 0;
  for await (const record of records) {
    decisions++;
    for (const precedent of recordedPrecedents(record)) {
      const deviation = findDeviation(record, precedent, await findPrecedentRecord(precedent, log));
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
  const isSame =
    earlier === undefined ? outcome_matched : haveSameItems(record.selected_labels, earlier.selected_labels);
  if (!isSame) {
    const before =
      earlier === undefined
        ? "another outcome before (that record is gone)"
        : `${quoted(outcomeText(earlier))} before`;
    const explanation = `${quoted(outcomeText(record))} now, ${before}`;
    return { ...between, deviation_type: "outcome_differs", explanation };
  }
  if (earlier === undefined || record.type === "weighted") return undefined;
  const [now, before] = [rationaleOf(record), rationaleOf(earlier)];
  if (haveSameItems(now, before)) return undefined;
  const explanation = `${quoted(outcomeText(record))} both times, but ${reasonText(now)} now, ${reasonText(before)} before`;
  return { ...between, deviation_type: "rationale_differs", explanation };
}

const quoted = (text: string): string => `\`${text}\``;

/** Returns the reasons of the outcome; the messages of guardrails where these blocked or escalated it. */
function rationaleOf(record: DecisionRecord): readonly string[] {
  if (record.type === "policy") return [record.reason];
  if (record.type === "gate" || !(record.blocked || record.escalated)) return record.because;
  const failed = record.guardrails.filter(({ passed, on_fail }) => !passed && on_fail !== "warn");
  return failed.map(({ message }) => message);
}

const reasonText = (reasons: readonly string[]): string =>
  reasons.length === 0 ? "without a reason" : `because of ${quoted(reasons.join("; "))}`;

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
