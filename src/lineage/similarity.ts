import type { Entity } from "../model/lineage.js";
import type { Neighbour } from "../model/store.js";

/** What makes two decisions alike: what they are about, each entity once, and what they read. */
export interface Traits {
  readonly entities: readonly Entity[];
  readonly sources: readonly string[];
}

/** From 0 to 1: what both have, out of what either has. */
export function similarity(
  { entities, sources }: Traits,
  { shared, entities: others, sources: otherSources }: Pick<Neighbour, "shared" | "entities" | "sources">,
): number {
  const own = new Set(sources);
  const other = new Set(otherSources);
  const sharedSources = [...own].filter((source) => other.has(source)).length;
  const union = entities.length + others - shared + own.size + other.size - sharedSources;
  return union === 0 ? 0 : (shared + sharedSources) / union;
}

/** Whether both lists hold the same texts, in whichever order: so do two decisions that came out the same. */
export function haveSameTexts(texts: readonly string[], others: readonly string[]): boolean {
  const ordered = others.toSorted();
  return texts.length === others.length && texts.toSorted().every((text, index) => text === ordered[index]);
}
