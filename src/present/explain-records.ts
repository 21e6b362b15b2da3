import { buildMethodology } from "../lineage/methodology.js";
import type { Definition } from "../model/definition.js";
import type { DecisionRecord } from "../model/record.js";
import type { Store } from "../model/store.js";
import { explainCall } from "../record/explain-call.js";
import { explain, explainConditions } from "../record/explain.js";
import type { SessionRecords, StoredRecord } from "../record/find-records.js";
import { findStoredDefinition } from "../record/stored-definition.js";
import type { ExplainedRecord } from "./explain-view.js";
import type { ExplainedSession } from "./session-view.js";

/** Explains records with the definitions that made them. Looks up each definition once. */
export function createExplainer(
  store: Store,
  verbose: boolean,
): (stored: StoredRecord<DecisionRecord>) => Promise<ExplainedRecord> {
  const definitions = new Map<string, Promise<Definition | undefined>>();
  return async ({ record, intact }) => {
    const { definition_hash: hash } = record;
    const lookup = definitions.get(hash) ?? findStoredDefinition(hash, store);
    definitions.set(hash, lookup);
    const definition = await lookup;
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
  { decisions, results, assessments, damaged }: SessionRecords,
  explainOne: (stored: StoredRecord<DecisionRecord>) => Promise<ExplainedRecord>,
): Promise<ExplainedSession> {
  const explained: ExplainedRecord[] = [];
  for (const decision of decisions) explained.push(await explainOne(decision));
  const methodology = buildMethodology({
    decisions: decisions.map(({ record }) => record),
    results: results.map(({ record }) => record),
  });
  return { session, explained, results, assessments, methodology, damaged };
}
