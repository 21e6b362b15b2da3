import type { DecisionType } from "../model/definition.js";
import type { Entity, Lineage, Precedent } from "../model/lineage.js";
import type { DecisionRecord } from "../model/record.js";
import type { Result } from "../model/result.js";
import type { Ledger, Neighbour, NeighbourTraits } from "../model/store.js";
import { entitiesOf, isSameEntity, policiesOf, toolOf, traitsOf } from "../record/record-keys.js";
import type { MaySee } from "../record/find-records.js";
import type { NeighbourQuery } from "../record/record-visibility.js";
import { visibleNeighbours } from "../record/record-visibility.js";
import { isWellFormedRecord } from "../record/well-formed.js";

/** Older records are not considered. */
export const maxNeighbours = 1000;
export const defaultMinSimilarity = 0.7;
export const defaultPrecedentLimit = 5;

export interface PrecedentOptions {
  readonly limit?: number;
  readonly minSimilarity?: number;
  /** Only records that consulted this policy or applied this override; absent: all. */
  readonly policy?: string;
  /** Limits precedents to records that the caller may see; absent: all. */
  readonly maySee?: MaySee;
}

/** A precedent with its record. */
interface FoundPrecedent {
  readonly precedent: Precedent;
  readonly record: DecisionRecord;
}

/** The branches that a decision selected. */
interface SelectedOutcome {
  /** The tool that a policy decided about; absent for other types. */
  readonly tool?: string | undefined;
  readonly labels: readonly string[];
  readonly targets: readonly string[];
}

/** Chooses the most similar neighbours, which are given newest first; of equally similar ones, the newest first. */
export async function choosePrecedents(
  { tool, labels, targets, ...traits }: Traits & SelectedOutcome,
  neighbours: readonly Neighbour[],
  options: PrecedentOptions = {},
): Promise<readonly FoundPrecedent[]> {
  const { limit = defaultPrecedentLimit, minSimilarity = defaultMinSimilarity, policy, maySee } = options;
  const similarity = similarityScorer(traits);
  const ranked: { neighbour: Neighbour; others: NeighbourTraits; score: number }[] = [];
  for (const neighbour of neighbours.slice(0, maxNeighbours)) {
    const others = neighbour.traits ?? (await readTraits(neighbour));
    const score = others === undefined ? 0 : similarity(neighbour, others);
    if (others !== undefined && score >= minSimilarity) ranked.push({ neighbour, others, score });
  }
  ranked.sort((a, b) => b.score - a.score || b.neighbour.seq - a.neighbour.seq);
  const found = new Map<string, FoundPrecedent>();
  for (const { neighbour, others, score } of ranked) {
    if (found.size >= limit) break;
    const record = await neighbour.read();
    // A pending decision may have been recorded in the meantime.
    if (record?.kind !== "decision" || found.has(record.record_id)) continue;
    if (policy !== undefined && !policiesOf(record).includes(policy)) continue;
    if (maySee !== undefined && !(await maySee(record))) continue;
    const precedent = {
      record_id: record.record_id,
      similarity: rounded(score),
      match_reason: matchReason(traits, entitiesOf(record), others),
      outcome_matched:
        haveSameLabels(labels, neighbour.labels, tool !== undefined) &&
        haveSameItems(targets, record.selected_targets),
    };
    found.set(record.record_id, { precedent, record });
  }
  return [...found.values()];
}

async function readTraits(neighbour: Neighbour): Promise<NeighbourTraits | undefined> {
  const record = await neighbour.read();
  return record && traitsOf(record);
}

/** Returns the traits, besides entities, that precedents are compared by. */
export const traitsOfLineage = ({ inputs, param_names: params = [] }: Lineage): NeighbourTraits => ({
  sources: inputs.map(({ source }) => source),
  params,
});

/** Returns a test that is true once `limit` identical neighbours were seen: older ones cannot rank higher. */
export function stopAfterLimit(
  traits: Traits,
  { limit = defaultPrecedentLimit, policy, maySee }: PrecedentOptions = {},
): (found: Neighbour) => boolean {
  // Visibility and policies are only known once a record is read.
  if (maySee !== undefined || policy !== undefined) return () => false;
  const similarity = similarityScorer(traits);
  let same = 0;
  return (found) => found.traits !== undefined && similarity(found, found.traits) === 1 && ++same >= limit;
}

/** Returns a test for neighbours whose entities alone rule out the minimum similarity, even with the same other traits. */
export function cannotReachSimilarity(
  { entities, sources, params }: Traits,
  { minSimilarity = defaultMinSimilarity }: PrecedentOptions = {},
): (shared: number, others: number) => boolean {
  const same = new Set(sources).size + new Set(params).size;
  return (shared, others) => (shared + same) / (entities.length + others - shared + same) < minSimilarity;
}

const rounded = (score: number): number => Math.round(score * 10_000) / 10_000;

/** Describes what two decisions have in common. */
function matchReason(
  { entities, sources, params }: Traits,
  others: readonly Entity[],
  otherTraits: NeighbourTraits,
): string {
  const shared = entities.filter((each) => others.some((other) => isSameEntity(each, other)));
  const names = shared.map(({ type, id }) => `${type}:${id}`);
  const about = `same ${firstOf(names)}`;
  const read = sources.filter((source) => otherTraits.sources.includes(source));
  const given = params.filter((name) => otherTraits.params.includes(name));
  return [
    about,
    ...(read.length === 0 ? [] : [`both read ${read.join(", ")}`]),
    ...(given.length === 0 ? [] : [`both have params ${firstOf(given)}`]),
  ].join("; ");
}

const maxListed = 3;

const firstOf = (names: readonly string[]): string =>
  `${names.slice(0, maxListed).join(", ")}${names.length > maxListed ? " and others" : ""}`;

/** The traits by which decisions are compared: their unique entities, the parts of the context they read, and the names of params. */
export interface Traits extends NeighbourTraits {
  readonly entities: readonly Entity[];
}

/** Returns the traits of a record by which precedents are compared. */
export const precedentTraits = (record: DecisionRecord): Traits => ({
  entities: entitiesOf(record),
  ...traitsOf(record),
});

/**
 * Returns how similar two decisions are, from 0 to 1: the shared entities, sources and names of params, divided by all
 * of both. Precedents are chosen by it.
 */
export function precedentSimilarity(a: Traits, b: Traits): number {
  const shared = a.entities.filter((each) => b.entities.some((other) => isSameEntity(each, other))).length;
  return rounded(similarityScorer(a)({ shared, entities: b.entities.length }, b));
}

type Scorer = (other: Pick<Neighbour, "shared" | "entities">, traits: NeighbourTraits) => number;

/** Returns a function that scores similarity from 0 to 1: shared traits divided by all traits (Jaccard). */
function similarityScorer({ entities, sources, params }: Traits): Scorer {
  const ownSources = new Set(sources);
  const ownParams = new Set(params);
  // Most decisions of one definition have the same traits.
  const overlaps = new Map<NeighbourTraits, Overlap>();
  const overlapWith = (others: NeighbourTraits): Overlap => {
    let overlap = overlaps.get(others);
    if (overlap === undefined) {
      const bySource = overlapOf(ownSources, new Set(others.sources));
      const byParam = overlapOf(ownParams, new Set(others.params));
      overlap = { shared: bySource.shared + byParam.shared, union: bySource.union + byParam.union };
      overlaps.set(others, overlap);
    }
    return overlap;
  };
  return ({ shared, entities: others }, traits) => {
    const overlap = overlapWith(traits);
    const union = entities.length + others - shared + overlap.union;
    return union === 0 ? 0 : (shared + overlap.shared) / union;
  };
}

interface Overlap {
  readonly shared: number;
  readonly union: number;
}

function overlapOf(own: ReadonlySet<string>, other: ReadonlySet<string>): Overlap {
  const shared = [...own].filter((name) => other.has(name)).length;
  return { shared, union: own.size + other.size - shared };
}

/** Whether both decisions have the same outcome. Tool calls are compared by whether they were allowed. */
export const isSameOutcome = (
  { type, selected_labels: labels }: Pick<Result, "type" | "selected_labels">,
  other: Pick<Result, "selected_labels">,
): boolean => haveSameLabels(labels, other.selected_labels, type === "policy");

/** A call that was allowed by exception was allowed. */
function haveSameLabels(labels: readonly string[], others: readonly string[], isCall: boolean): boolean {
  const permission = (label: string): string => (label === "allowed_by_exception" ? "allowed" : label);
  return isCall
    ? haveSameItems(labels.map(permission), others.map(permission))
    : haveSameItems(labels, others);
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
  /** The tool that a policy decided about. */
  readonly tool?: string;
  readonly outcome: string;
  readonly entities: readonly Entity[];
  /** The top-level parts of the context that it reads. */
  readonly sources: readonly string[];
  /** The names of the params of a tool call. */
  readonly param_names: readonly string[];
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
  const decision = { result: record, entities: entitiesOf(record), ...traitsOf(record) };
  return compare(decision, { log, before: record.seq }, options);
}

/** Finds the precedents of a result that is not recorded. */
export const compareResult = (
  decision: ComparedDecision,
  log: Pick<Ledger, "neighbours">,
  options: PrecedentOptions,
): Promise<PrecedentComparison> => compare(decision, { log, before: Infinity }, options);

interface ComparedDecision extends Traits {
  readonly result: Result;
}

interface EarlierRecords {
  readonly log: Pick<Ledger, "neighbours">;
  /** Only records before this one. */
  readonly before: number;
}

async function compare(
  { result, entities, sources, params }: ComparedDecision,
  { log, before }: EarlierRecords,
  options: PrecedentOptions,
): Promise<PrecedentComparison> {
  const { decision_id, record_id, type, selected_labels: labels, selected_targets: targets } = result;
  // A damaged record may contain anything.
  const tool = toolOf({ ...result, kind: "decision" } as DecisionRecord);
  const traits = { entities, sources, params, tool, labels, targets };
  const bounds = {
    before,
    stopAfter: stopAfterLimit(traits, options),
    cannotMatch: cannotReachSimilarity(traits, options),
  };
  const earlier =
    entities.length === 0
      ? []
      : await earlierNeighbours(log, { subject: { decision_id, tool }, entities, ...bounds }, options);
  const found = await choosePrecedents(traits, earlier, options);
  return {
    decision_id,
    ...(record_id !== undefined && { record_id }),
    type,
    ...(tool !== undefined && { tool }),
    outcome: outcomeText(result),
    entities,
    sources,
    param_names: params,
    precedents: found
      .filter(({ record }) => isWellFormedRecord(record))
      .map(({ precedent, record }) => describePrecedent(precedent, record)),
  };
}

const earlierNeighbours = (
  log: Pick<Ledger, "neighbours">,
  { subject, entities, ...bounds }: Omit<NeighbourQuery, "most">,
  { maySee }: PrecedentOptions,
): Promise<readonly Neighbour[]> =>
  maySee === undefined
    ? log.neighbours(subject, entities, maxNeighbours, bounds)
    : visibleNeighbours(log, { subject, entities, most: maxNeighbours, ...bounds }, maySee);

function describePrecedent(precedent: Precedent, record: DecisionRecord): ComparedPrecedent {
  const { because, seq, timestamp, decision_version: version } = record;
  const fields = { outcome: outcomeText(record), because, seq, timestamp };
  return { ...precedent, ...fields, ...(version !== undefined && { decision_version: version }) };
}

/** Returns the labels of a decision as text. */
export const outcomeText = ({ selected_labels: labels, blocked }: Result): string =>
  blocked && labels.length === 0 ? "blocked" : labels.join(", ");
