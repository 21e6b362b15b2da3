import type { Outcome } from "../evaluate/evaluated.js";
import type { Guarded } from "../guard/guard.js";
import type { Json } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";

/** What must come out the same, by name. */
export type Compared = Readonly<Record<string, Json>>;

/** An answer that was given again, with the hash that it then has. */
export interface GivenAgain {
  readonly guarded: Guarded;
  readonly hash: string;
}

/** The same as comparing what the following two tell; a log is long, and mostly nothing differs. */
export function isSame(record: DecisionRecord, { guarded, hash }: GivenAgain): boolean {
  const { evaluated, blocked, escalated } = guarded;
  return (
    record.deterministic_hash === hash &&
    record.blocked === blocked &&
    record.escalated === escalated &&
    areSame(record.selected_labels, evaluated.selected_labels) &&
    areSame(record.selected_targets, evaluated.selected_targets) &&
    isSameOutcome(record, evaluated.outcome)
  );
}

function isSameOutcome(record: DecisionRecord, outcome: Outcome | undefined): boolean {
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

export function areSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

export function expectedOf(record: DecisionRecord): Compared {
  const { selected_labels, selected_targets, blocked, escalated, deterministic_hash } = record;
  const compared: Compared = { labels: selected_labels, targets: selected_targets, blocked, escalated };
  return { ...said(record), ...compared, deterministic_hash };
}

export function actualOf({ guarded, hash }: GivenAgain): Compared {
  const { evaluated, blocked, escalated } = guarded;
  const { selected_labels, selected_targets, outcome } = evaluated;
  const compared: Compared = { labels: selected_labels, targets: selected_targets, blocked, escalated };
  return { ...(outcome && said(outcome)), ...compared, deterministic_hash: hash };
}

/** What only this type of decision answers with. */
function said(answer: DecisionRecord | Outcome): Compared {
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
