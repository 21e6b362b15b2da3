import { choosePrecedents, mostNeighbours, mostPrecedents } from "../lineage/precedents.js";
import type { Lineage, Precedent } from "../model/lineage.js";
import type { Records } from "../record/records.js";

interface Decided {
  readonly decisionId: string;
  /** Undefined where it is not recorded. */
  readonly recordId: string | undefined;
  readonly lineage: Lineage;
  readonly labels: readonly string[];
}

/** The most similar earlier decisions. They are looked for when the answer is known, so they have no part in it. */
export async function findPrecedents(decided: Decided, records: Records): Promise<readonly Precedent[]> {
  const { decisionId, recordId, lineage, labels } = decided;
  const { entities, inputs } = lineage;
  if (entities.length === 0) return [];
  const sources = inputs.map(({ source }) => source);
  const recent = records.recent.neighbours(decisionId, entities);
  // At once: whoever is decided in the same batch may rest on this one.
  if (recordId !== undefined) {
    records.recent.add({ record_id: recordId, decision_id: decisionId, entities, sources, labels });
  }
  const known = await records.log.neighbours(decisionId, entities, mostNeighbours);
  const traits = { entities, sources, labels };
  const fresh = await choosePrecedents(traits, recent);
  const except = new Set(fresh.map(({ precedent }) => precedent.record_id));
  const older = await choosePrecedents(traits, known, { except });
  const all = [...fresh, ...older].map(({ precedent }) => precedent);
  return all.sort((a, b) => b.similarity - a.similarity).slice(0, mostPrecedents);
}
