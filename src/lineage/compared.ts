import type { DecisionType } from "../model/definition.js";
import type { Entity, Precedent } from "../model/lineage.js";
import type { DecisionRecord } from "../model/record.js";
import type { Result } from "../model/result.js";
import type { Ledger } from "../model/store.js";
import { entitiesOf, sourcesOf } from "../record/record-keys.js";
import { isWholeRecord } from "../record/whole-record.js";
import type { Wanted } from "./precedents.js";
import { choosePrecedents, enoughOf, hopelessFor, mostNeighbours } from "./precedents.js";

/** A decision beside the earlier ones that are most like it. */
export interface Compared {
  readonly decision_id: string;
  /** Absent where the decision is not made. */
  readonly record_id?: string;
  readonly type: DecisionType;
  readonly outcome: string;
  readonly entities: readonly Entity[];
  /** The top-level parts of the context that it reads. */
  readonly sources: readonly string[];
  /** The most similar first. */
  readonly precedents: readonly ComparedPrecedent[];
}

export interface ComparedPrecedent extends Precedent {
  readonly outcome: string;
  readonly because: readonly string[];
  readonly seq: number;
  readonly timestamp: string;
  readonly decision_version?: string;
}

/** A record and those before it, compared as they would have been when it was made. */
export async function compareRecord(
  record: DecisionRecord,
  log: Pick<Ledger, "neighbours">,
  wanted: Wanted,
): Promise<Compared> {
  const asked = { result: record, entities: entitiesOf(record), sources: sourcesOf(record) };
  return compare(asked, { log, before: record.seq }, wanted);
}

/** A decision that is not recorded, and all that came before it. */
export const compareAnswer = (
  asked: Asked,
  log: Pick<Ledger, "neighbours">,
  wanted: Wanted,
): Promise<Compared> => compare(asked, { log, before: Infinity }, wanted);

interface Asked {
  readonly result: Result;
  readonly entities: readonly Entity[];
  readonly sources: readonly string[];
}

interface Earlier {
  readonly log: Pick<Ledger, "neighbours">;
  /** Only records before this one. */
  readonly before: number;
}

async function compare(
  { result, entities, sources }: Asked,
  { log, before }: Earlier,
  wanted: Wanted,
): Promise<Compared> {
  const { decision_id, record_id, type, selected_labels: labels, selected_targets: targets } = result;
  const traits = { entities, sources, labels, targets };
  const bounds = { before, isEnough: enoughOf(traits, wanted), isHopeless: hopelessFor(traits, wanted) };
  const earlier =
    entities.length === 0 ? [] : await log.neighbours(decision_id, entities, mostNeighbours, bounds);
  const found = await choosePrecedents(traits, earlier, wanted);
  return {
    decision_id,
    ...(record_id !== undefined && { record_id }),
    type,
    outcome: outcomeOf(result),
    entities,
    sources,
    precedents: found
      .filter(({ record }) => isWholeRecord(record))
      .map(({ precedent, record }) => described(precedent, record)),
  };
}

function described(precedent: Precedent, record: DecisionRecord): ComparedPrecedent {
  const { because, seq, timestamp, decision_version: version } = record;
  const told = { outcome: outcomeOf(record), because, seq, timestamp };
  return { ...precedent, ...told, ...(version !== undefined && { decision_version: version }) };
}

/** How a decision came out, in a word or a few. */
export const outcomeOf = ({ selected_labels: labels, blocked }: Result): string =>
  blocked && labels.length === 0 ? "blocked" : labels.join(", ");
