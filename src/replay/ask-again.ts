import { evaluate } from "../evaluate/evaluate.js";
import type { Guarded } from "../guard/guard.js";
import { guard } from "../guard/guard.js";
import type { DecisionRecord } from "../model/record.js";
import type { Scope } from "../model/scope.js";
import type { LogLine } from "../model/store.js";
import { masked } from "../record/mask.js";
import { readsConcealed } from "./concealed.js";
import type { Ready } from "./kept-decisions.js";
import { missingFacts } from "./missing-facts.js";

export interface AskedAgain {
  readonly guarded: Guarded;
  /** Of the context, the facts and the time that are recorded, and nothing else. */
  readonly scope: Scope;
}

/** Asks a definition what a record was asked; or tells why the record does not hold all that takes. */
export function askAgain(
  record: DecisionRecord,
  { text }: Pick<LogLine, "text">,
  { loaded, prepared }: Ready,
): AskedAgain | { readonly why: string } {
  const { context, facts, timestamp, record_id, workflow_id: workflow } = record;
  if (context === undefined) return { why: "its inputs were not logged" };
  if (text.includes(marker) && readsConcealed(prepared, context)) return { why: "it read masked values" };
  const missing = missingFacts({ loaded, prepared }, record);
  if (missing !== undefined) return { why: missing };
  const system = { request_time: timestamp, request_id: record_id };
  const scope: Scope = { context, facts, system, input: undefined };
  return { guarded: guard(loaded, evaluate(prepared, scope), { workflow, facts, context }), scope };
}

const marker = JSON.stringify(masked);
