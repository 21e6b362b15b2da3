import type { LogRecord } from "../model/record.js";
import type { DecisionSummary } from "./record-summary.js";
import { textsOf } from "./recorded-lineage.js";

/** A way that a decision took; without a target, the answer itself. */
export interface Branch {
  readonly label: string | null;
  readonly target: string | null;
}

/** What an answer would have been that was blocked or escalated. */
export interface Proposal {
  readonly branches: readonly Branch[];
  readonly outcome: string | null;
  readonly status: string | null;
}

export const branchesOf = ({ selected_labels, selected_targets }: DecisionSummary): readonly Branch[] =>
  paired(selected_labels, selected_targets);

/** Null where the answer stood. */
export function proposalOf(record: LogRecord): Proposal | null {
  const fields = record as unknown as Readonly<Record<string, unknown>>;
  if (fields["blocked"] !== true && fields["escalated"] !== true) return null;
  return {
    branches: paired(textsOf(fields["proposed_labels"]), textsOf(fields["proposed_targets"])),
    outcome: textOrNull(fields["proposed_outcome"]),
    status: textOrNull(fields["proposed_status"]),
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** One label may have several targets, and many have none. */
function paired(labels: readonly string[], targets: readonly string[]): readonly Branch[] {
  if (targets.length === 0) return labels.map((label) => ({ label, target: null }));
  const common = labels.length === 0 ? null : labels.join(", ");
  return targets.map((target, index) => ({
    label: labels.length === targets.length ? (labels[index] ?? null) : common,
    target,
  }));
}
