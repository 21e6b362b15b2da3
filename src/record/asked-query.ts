import { decisionTypes } from "../definition/decision-types.js";
import { DecisionError } from "../errors.js";
import type { Query } from "../model/store.js";
import { didYouMean } from "../nearest.js";
import type { AskedRange, NameOf } from "./asked-range.js";
import { askedRange } from "./asked-range.js";

/** Which records are meant, as somebody writes it. */
export interface AskedQuery extends AskedRange {
  readonly decision_id?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly stage_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly label?: string | undefined;
  readonly target?: string | undefined;
  readonly type?: string | undefined;
  /** Absent: decisions. */
  readonly kind?: string | undefined;
  readonly limit?: string | undefined;
}

export const askedKinds = ["decision", "tool_result", "note", "all"] as const;

/** What is meant by it at this moment; throws where that is nothing. */
export function askedQuery(asked: AskedQuery, at: string, nameOf: NameOf): Query {
  const { decision_id, workflow_id, stage_id, session_id, correlation_id, label, target } = asked;
  const kind = oneOf("kind", asked.kind ?? "decision", askedKinds);
  return {
    ...askedRange(asked, at, nameOf),
    ...(kind !== "all" && { kind }),
    ...(asked.type !== undefined && { type: oneOf("type", asked.type, decisionTypes) }),
    ...(asked.limit !== undefined && { limit: limitOf(asked.limit, nameOf("limit")) }),
    ...(decision_id !== undefined && { decision_id }),
    ...(workflow_id !== undefined && { workflow_id }),
    ...(stage_id !== undefined && { stage_id }),
    ...(session_id !== undefined && { session_id }),
    ...(correlation_id !== undefined && { correlation_id }),
    ...(label !== undefined && { label }),
    ...(target !== undefined && { target }),
  };
}

export function oneOf<T extends string>(what: string, given: string, known: readonly T[]): T {
  const found = known.find((each) => each === given);
  if (found !== undefined) return found;
  throw new DecisionError("usage", `there is no ${what} \`${given}\``, {
    hint: didYouMean(given, known) ?? `choose one of ${known.join(", ")}`,
  });
}

export function limitOf(text: string, name: string): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && Number.isSafeInteger(limit)) return limit;
  throw new DecisionError("usage", `${name} must be a whole number from 1 (got \`${text}\`)`, {
    hint: `such as ${name} 20`,
  });
}
