import {
  choosePrecedents,
  stopAfterLimit,
  cannotReachSimilarity,
  maxNeighbours,
  defaultPrecedentLimit,
  traitsOfLineage,
} from "../lineage/precedents.js";
import type { Lineage, Precedent } from "../model/lineage.js";
import type { NeighbourSubject } from "../model/store.js";
import { recordVisibility, visibleNeighbours } from "../record/record-visibility.js";
import type { Records } from "../record/records.js";

/** A decision that is about to be recorded. */
interface Decided {
  readonly subject: NeighbourSubject;
  /** Undefined where it is not recorded, or can still lose a limit race. */
  readonly recordId: string | undefined;
  readonly lineage: Lineage;
  readonly labels: readonly string[];
  readonly targets: readonly string[];
  /** The organisation that the caller is bound to: precedents are chosen among what it may see. */
  readonly org: string | undefined;
}

/** Finds the most similar earlier decisions. Runs after the answer is known, so precedents never influence it. */
export async function findPrecedents(
  decided: Decided,
  records: Records,
  limit = defaultPrecedentLimit,
): Promise<readonly Precedent[]> {
  const { subject, recordId, lineage, labels, targets, org } = decided;
  const { entities } = lineage;
  if (entities.length === 0) return [];
  const own = traitsOfLineage(lineage);
  const recent = records.pending.neighbours(subject, entities, org);
  // Added at once: later decisions of the same batch may have it as a precedent.
  if (recordId !== undefined) {
    records.pending.add({ record_id: recordId, subject, entities, traits: own, labels, targets, org });
  }
  const choose = async (): Promise<readonly Precedent[]> => {
    const traits = { entities, ...own, tool: subject.tool, labels, targets };
    // A decision that is just being recorded may be found both as pending and in the log.
    const stopAfter = stopAfterLimit(traits, { limit: limit + recent.length });
    const bounds = { stopAfter, cannotMatch: cannotReachSimilarity(traits) };
    const most = Math.max(0, maxNeighbours - recent.length);
    const maySee = recordVisibility(org, records);
    const known =
      maySee === undefined
        ? await records.log.neighbours(subject, entities, most, bounds)
        : await visibleNeighbours(records.log, { subject, entities, most, ...bounds }, maySee);
    const found = await choosePrecedents(traits, [...recent, ...known], { limit });
    return found.map(({ precedent }) => precedent);
  };
  try {
    return await records.pending.afterEarlier(choose());
  } catch (error) {
    if (recordId !== undefined) records.pending.remove(recordId);
    throw error;
  }
}
