import { accountOf } from "../lineage/account.js";
import type { Definition } from "../model/definition.js";
import type { DecisionRecord } from "../model/record.js";
import type { Store } from "../model/store.js";
import type { Explained } from "./explain-view.js";
import type { ExplainedSession } from "./session-view.js";
import { explain, explainConditions } from "../record/explain.js";
import { explainCall } from "../record/explain-call.js";
import { keptDefinition } from "../record/kept-definition.js";
import type { Kept, SessionRecords } from "../record/session-records.js";

/** Explains records with the definitions that they were made with, each looked up once. */
export function explainer(
  store: Store,
  verbose: boolean,
): (kept: Kept<DecisionRecord>) => Promise<Explained> {
  const definitions = new Map<string, Promise<Definition | undefined>>();
  return async ({ record, intact }) => {
    const { definition_hash: hash } = record;
    const looking = definitions.get(hash) ?? keptDefinition(hash, store);
    definitions.set(hash, looking);
    const definition = await looking;
    return {
      record,
      explanation: explain(record, definition),
      intact,
      all: verbose ? explainConditions(record, definition) : undefined,
      call: explainCall(record, definition),
    };
  };
}

export async function explainSession(
  session: string,
  { decisions, results, damaged }: SessionRecords,
  explainOne: (kept: Kept<DecisionRecord>) => Promise<Explained>,
): Promise<ExplainedSession> {
  const explained: Explained[] = [];
  for (const kept of decisions) explained.push(await explainOne(kept));
  const account = accountOf({
    decisions: decisions.map(({ record }) => record),
    results: results.map(({ record }) => record),
  });
  return { session, explained, results, account, damaged };
}
