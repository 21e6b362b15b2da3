import { destinationsOf, fetchesOf } from "../definition/fetches.js";
import { evaluate } from "../evaluate/evaluate.js";
import { removeAt } from "../expression/put-at.js";
import type { Guarded } from "../guard/guard.js";
import { guard } from "../guard/guard.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Scope } from "../model/scope.js";
import type { LogLine } from "../model/store.js";
import { masked } from "../record/mask.js";
import { recordedSystem } from "../record/recorded-system.js";
import { readsConcealed } from "./concealed.js";
import type { Ready, Unkept } from "./kept-decisions.js";
import { missingFacts } from "./missing-facts.js";

export interface AskedAgain {
  readonly guarded: Guarded;
  /** Of the context, the facts and the time that are recorded, and nothing else. */
  readonly scope: Scope;
}

/**
 * Asks a definition what a record was asked; or tells why the record does not hold all that takes. It may be
 * another definition than the one that the record was `made` with.
 */
export function askAgain(
  { record, text }: Pick<LogLine, "text"> & { readonly record: DecisionRecord },
  ready: Ready,
  made: Ready | Unkept = ready,
): AskedAgain | { readonly why: string } {
  const { loaded, prepared } = ready;
  const { context, facts, workflow_id: workflow } = record;
  if (context === undefined) return { why: "its inputs were not logged" };
  if (mayBeMasked(record, loaded) && text.includes(marker) && readsConcealed(prepared, record)) {
    return { why: "it read masked values" };
  }
  const missing = missingFacts(ready, record, made);
  if (missing !== undefined) return { why: missing };
  const system = recordedSystem(record);
  const seen = ready === made ? context : withoutUnfetched(context, made, ready);
  const scope: Scope = { context: seen, facts, system, input: undefined };
  return { guarded: guard(loaded, evaluate(prepared, scope), { workflow, facts, context: seen }), scope };
}

/** Without what was fetched then and would not be now. */
function withoutUnfetched(context: JsonObject, made: Ready | Unkept, { loaded }: Ready): JsonObject {
  if ("missing" in made) return context;
  const now = fetchesOf(loaded.definition).flatMap(destinationsOf);
  const then = fetchesOf(made.loaded.definition).flatMap(destinationsOf);
  return then.filter((at) => !now.includes(at)).reduce((left, at) => removeAt(left, at), context);
}

const marker = JSON.stringify(masked);

/** What looks masked may as well have been given so; only the definition that it was made with can tell. */
const mayBeMasked = (
  { definition_hash: hash }: DecisionRecord,
  { definition, definition_hash }: LoadedDefinition,
): boolean => hash !== definition_hash || (definition.logging?.mask ?? []).length > 0;
