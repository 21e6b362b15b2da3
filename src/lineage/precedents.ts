import type { Entity, Precedent } from "../model/lineage.js";
import type { DecisionRecord } from "../model/record.js";
import type { Neighbour } from "../model/store.js";
import { entitiesOf, isSame } from "../record/record-keys.js";
import type { Traits } from "./similarity.js";
import { haveSameTexts, similarityTo } from "./similarity.js";

/** Older ones are not looked at. */
export const mostNeighbours = 1000;
export const leastSimilarity = 0.7;
export const mostPrecedents = 5;

export interface Wanted {
  readonly limit?: number;
  readonly minSimilarity?: number;
  /** Only records that this is true of; absent: all. */
  readonly maySee?: (record: DecisionRecord) => Promise<boolean>;
}

/** A precedent with the record that it is. */
export interface FoundPrecedent {
  readonly precedent: Precedent;
  readonly record: DecisionRecord;
}

/** What a decision came to. */
export interface Outcome {
  readonly labels: readonly string[];
  readonly targets: readonly string[];
}

/** The most similar of the neighbours, which are given newest first; of equals, the newest first. */
export async function choosePrecedents(
  { labels, targets, ...traits }: Traits & Outcome,
  neighbours: readonly Neighbour[],
  { limit = mostPrecedents, minSimilarity = leastSimilarity, maySee }: Wanted = {},
): Promise<readonly FoundPrecedent[]> {
  const similarity = similarityTo(traits);
  const ranked: { readonly neighbour: Neighbour; readonly score: number }[] = [];
  for (const neighbour of neighbours.slice(0, mostNeighbours)) {
    const score = similarity(neighbour);
    if (score >= minSimilarity) ranked.push({ neighbour, score });
  }
  ranked.sort((a, b) => b.score - a.score || b.neighbour.seq - a.neighbour.seq);
  const found = new Map<string, FoundPrecedent>();
  for (const { neighbour, score } of ranked) {
    if (found.size >= limit) break;
    const record = await neighbour.read();
    // One that was about to be recorded may have been recorded meanwhile.
    if (record?.kind !== "decision" || found.has(record.record_id)) continue;
    if (maySee !== undefined && !(await maySee(record))) continue;
    const precedent = {
      record_id: record.record_id,
      similarity: rounded(score),
      match_reason: matchReason(traits, entitiesOf(record), neighbour.sources),
      outcome_matched:
        haveSameTexts(labels, neighbour.labels) && haveSameTexts(targets, record.selected_targets),
    };
    found.set(record.record_id, { precedent, record });
  }
  return [...found.values()];
}

/** Nothing is more similar than what is the same, and the newest of these come first. */
export function enoughOf(
  traits: Traits,
  { limit = mostPrecedents, maySee }: Wanted = {},
): (found: Neighbour) => boolean {
  // Whether one may be seen is only known once it is read.
  if (maySee !== undefined) return () => false;
  const similarity = similarityTo(traits);
  let same = 0;
  return (found) => similarity(found) === 1 && ++same >= limit;
}

/** Whether one is too different by its entities alone, even if it has read the very same. */
export function hopelessFor(
  { entities, sources }: Traits,
  { minSimilarity = leastSimilarity }: Wanted = {},
): (shared: number, others: number) => boolean {
  const read = new Set(sources).size;
  return (shared, others) => (shared + read) / (entities.length + others - shared + read) < minSimilarity;
}

const rounded = (score: number): number => Math.round(score * 10_000) / 10_000;

/** What the two have in common, in words. */
export function matchReason(
  { entities, sources }: Traits,
  others: readonly Entity[],
  otherSources: readonly string[],
): string {
  const shared = entities.filter((each) => others.some((other) => isSame(each, other)));
  const names = shared.map(({ type, id }) => `${type}:${id}`);
  const read = sources.filter((source) => otherSources.includes(source));
  const about = `same ${names.slice(0, mostNamed).join(", ")}${names.length > mostNamed ? " and others" : ""}`;
  return read.length === 0 ? about : `${about}; both read ${read.join(", ")}`;
}

const mostNamed = 3;
