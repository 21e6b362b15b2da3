import type { DecisionType } from "../model/definition.js";
import type { Entity, Precedent } from "../model/lineage.js";
import type { DecisionRecord } from "../model/record.js";
import type { Result } from "../model/result.js";
import type { Neighbour, Ledger } from "../model/store.js";
import { entitiesOf, isSameEntity, inputSourcesOf } from "../record/record-keys.js";
import { isWellFormedRecord } from "../record/well-formed.js";

/** Older records are not considered. */
export const maxNeighbours = 1000;
export const defaultMinSimilarity = 0.7;
export const defaultPrecedentLimit = 5;

export interface PrecedentOptions {
  readonly limit?: number;
  readonly minSimilarity?: number;
  /** Limits precedents to records that the caller may see; absent: all. */
  readonly maySee?: (record: DecisionRecord) => Promise<boolean>;
}

/** A precedent with its record. */
interface FoundPrecedent {
  readonly precedent: Precedent;
  readonly record: DecisionRecord;
}

/** The branches that a decision selected. */
interface SelectedOutcome {
  readonly labels: readonly string[];
  readonly targets: readonly string[];
}

/** Chooses the most similar neighbours, which are given newest first; of equally similar ones, the newest first. */
export async function choosePrecedents(
  { labels, targets, ...traits }: Traits & SelectedOutcome,
  neighbours: readonly Neighbour[],
  { limit = defaultPrecedentLimit, minSimilarity = defaultMinSimilarity, maySee }: PrecedentOptions = {},
): Promise<readonly FoundPrecedent[]> {
  const similarity = similarityScorer(traits);
  const ranked: { readonly neighbour: Neighbour; readonly score: number }[] = [];
  for (const neighbour of neighbours.slice(0, maxNeighbours)) {
    const score = similarity(neighbour);
    if (score >= minSimilarity) ranked.push({ neighbour, score });
  }
  ranked.sort((a, b) => b.score - a.score || b.neighbour.seq - a.neighbour.seq);
  const found = new Map<string, FoundPrecedent>();
  for (const { neighbour, score } of ranked) {
    if (found.size >= limit) break;
    const record = await neighbour.read();
    // A pending decision may have been recorded in the meantime.
    if (record?.kind !== "decision" || found.has(record.record_id)) continue;
    if (maySee !== undefined && !(await maySee(record))) continue;
    const precedent = {
      record_id: record.record_id,
      similarity: rounded(score),
      match_reason: matchReason(traits, entitiesOf(record), neighbour.sources),
      outcome_matched:
        haveSameItems(labels, neighbour.labels) && haveSameItems(targets, record.selected_targets),
    };
    found.set(record.record_id, { precedent, record });
  }
  return [...found.values()];
}

/** Returns a test that is true once `limit` identical neighbours were seen: older ones cannot rank higher. */
export function stopAfterLimit(
  traits: Traits,
  { limit = defaultPrecedentLimit, maySee }: PrecedentOptions = {},
): (found: Neighbour) => boolean {
  // Visibility is only known once a record is read.
  if (maySee !== undefined) return () => false;
  const similarity = similarityScorer(traits);
  let same = 0;
  return (found) => similarity(found) === 1 && ++same >= limit;
}

/** Returns a test for neighbours whose entities alone rule out the minimum similarity, even with the same sources. */
export function cannotReachSimilarity(
  { entities, sources }: Traits,
  { minSimilarity = defaultMinSimilarity }: PrecedentOptions = {},
): (shared: number, others: number) => boolean {
  const read = new Set(sources).size;
  return (shared, others) => (shared + read) / (entities.length + others - shared + read) < minSimilarity;
}

const rounded = (score: number): number => Math.round(score * 10_000) / 10_000;

/** Describes what two decisions have in common. */
function matchReason(
  { entities, sources }: Traits,
  others: readonly Entity[],
  otherSources: readonly string[],
): string {
  const shared = entities.filter((each) => others.some((other) => isSameEntity(each, other)));
  const names = shared.map(({ type, id }) => `${type}:${id}`);
  const read = sources.filter((source) => otherSources.includes(source));
  const about = `same ${names.slice(0, maxListedEntities).join(", ")}${names.length > maxListedEntities ? " and others" : ""}`;
  return read.length === 0 ? about : `${about}; both read ${read.join(", ")}`;
}

const maxListedEntities = 3;

/** The traits by which decisions are compared: their unique entities, and the parts of the context they read. */
interface Traits {
  readonly entities: readonly Entity[];
  readonly sources: readonly string[];
}

type ScoredNeighbour = Pick<Neighbour, "shared" | "entities" | "sources">;

/** Returns a function that scores similarity from 0 to 1: shared traits divided by all traits (Jaccard). */
function similarityScorer({ entities, sources }: Traits): (other: ScoredNeighbour) => number {
  const own = new Set(sources);
  // All decisions of one definition have the same list of sources.
  const overlaps = new Map<readonly string[], SourceOverlap>();
  const overlapWith = (others: readonly string[]): SourceOverlap => {
    let overlap = overlaps.get(others);
    if (overlap === undefined) {
      overlap = sourceOverlap(own, new Set(others));
      overlaps.set(others, overlap);
    }
    return overlap;
  };
  return ({ shared, entities: others, sources: read }) => {
    const overlap = overlapWith(read);
    const union = entities.length + others - shared + overlap.union;
    return union === 0 ? 0 : (shared + overlap.shared) / union;
  };
}

interface SourceOverlap {
  readonly shared: number;
  readonly union: number;
}

function sourceOverlap(own: ReadonlySet<string>, other: ReadonlySet<string>): SourceOverlap {
  const shared = [...own].filter((source) => other.has(source)).length;
  return { shared, union: own.size + other.size - shared };
}

/** Whether both lists have the same texts, in any order. */
export function haveSameItems(texts: readonly string[], others: readonly string[]): boolean {
  const ordered = others.toSorted();
  return texts.length === others.length && texts.toSorted().every((text, index) => text === ordered[index]);
}

/** A decision with its most similar precedents. */
export interface PrecedentComparison {
  readonly decision_id: string;
  /** Absent where the decision is not recorded. */
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

/** Finds the precedents of a record among the records before it. */
export async function compareRecord(
  record: DecisionRecord,
  log: Pick<Ledger, "neighbours">,
  options: PrecedentOptions,
): Promise<PrecedentComparison> {
  const decision = { result: record, entities: entitiesOf(record), sources: inputSourcesOf(record) };
  return compare(decision, { log, before: record.seq }, options);
}

/** Finds the precedents of a result that is not recorded. */
export const compareResult = (
  decision: ComparedDecision,
  log: Pick<Ledger, "neighbours">,
  options: PrecedentOptions,
): Promise<PrecedentComparison> => compare(decision, { log, before: Infinity }, options);

interface ComparedDecision {
  readonly result: Result;
  readonly entities: readonly Entity[];
  readonly sources: readonly string[];
}

interface EarlierRecords {
  readonly log: Pick<Ledger, "neighbours">;
  /** Only records before this one. */
  readonly before: number;
}

async function compare(
  { result, entities, sources }: ComparedDecision,
  { log, before }: EarlierRecords,
  options: PrecedentOptions,
): Promise<PrecedentComparison> {
  const { decision_id, record_id, type, selected_labels: labels, selected_targets: targets } = result;
  const traits = { entities, sources, labels, targets };
  const bounds = {
    before,
    stopAfter: stopAfterLimit(traits, options),
    cannotMatch: cannotReachSimilarity(traits, options),
  };
  const earlier =
    entities.length === 0 ? [] : await log.neighbours(decision_id, entities, maxNeighbours, bounds);
  const found = await choosePrecedents(traits, earlier, options);
  return {
    decision_id,
    ...(record_id !== undefined && { record_id }),
    type,
    outcome: outcomeText(result),
    entities,
    sources,
    precedents: found
      .filter(({ record }) => isWellFormedRecord(record))
      .map(({ precedent, record }) => describePrecedent(precedent, record)),
  };
}

function describePrecedent(precedent: Precedent, record: DecisionRecord): ComparedPrecedent {
  const { because, seq, timestamp, decision_version: version } = record;
  const fields = { outcome: outcomeText(record), because, seq, timestamp };
  return { ...precedent, ...fields, ...(version !== undefined && { decision_version: version }) };
}

/** Returns the labels of a decision as text. */
export const outcomeText = ({ selected_labels: labels, blocked }: Result): string =>
  blocked && labels.length === 0 ? "blocked" : labels.join(", ");
