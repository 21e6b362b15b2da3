import { buildMethodology } from "../lineage/methodology.js";
import type { Definition } from "../model/definition.js";
import type { DecisionRecord } from "../model/record.js";
import type { Store } from "../model/store.js";
import type { ExplainedRecord } from "./explain-view.js";
import type { ExplainedSession } from "./session-view.js";
import { explain, explainConditions } from "../record/explain.js";
import { explainCall } from "../record/explain-call.js";
import { findStoredDefinition } from "../record/stored-definition.js";
import type { StoredRecord, SessionRecords } from "../record/find-records.js";

/** Explains records with the definitions that they were made with, each looked up once. */
export function createExplainer(
  store: Store,
  verbose: boolean,
): (kept: StoredRecord<DecisionRecord>) => Promise<ExplainedRecord> {
  const definitions = new Map<string, Promise<Definition | undefined>>();
  return async ({ record, intact }) => {
    const { definition_hash: hash } = record;
    const looking = definitions.get(hash) ?? findStoredDefinition(hash, store);
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
  explainOne: (kept: StoredRecord<DecisionRecord>) => Promise<ExplainedRecord>,
): Promise<ExplainedSession> {
  const explained: ExplainedRecord[] = [];
  for (const kept of decisions) explained.push(await explainOne(kept));
  const account = buildMethodology({
    decisions: decisions.map(({ record }) => record),
    results: results.map(({ record }) => record),
  });
  return { session, explained, results, account, damaged };
}
