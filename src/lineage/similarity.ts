import type { Entity } from "../model/lineage.js";
import type { Neighbour } from "../model/store.js";

/** What makes two decisions alike: what they are about, each entity once, and what they read. */
export interface Traits {
  readonly entities: readonly Entity[];
  readonly sources: readonly string[];
}

type Other = Pick<Neighbour, "shared" | "entities" | "sources">;

/** Tells how similar others are, from 0 to 1: what both have, out of what either has. */
export function similarityTo({ entities, sources }: Traits): (other: Other) => number {
  const own = new Set(sources);
  // Those of one definition all read the same.
  const known = new Map<readonly string[], SourceOverlap>();
  const overlapWith = (others: readonly string[]): SourceOverlap => {
    let overlap = known.get(others);
    if (overlap === undefined) {
      overlap = overlapOf(own, new Set(others));
      known.set(others, overlap);
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

function overlapOf(own: ReadonlySet<string>, other: ReadonlySet<string>): SourceOverlap {
  const shared = [...own].filter((source) => other.has(source)).length;
  return { shared, union: own.size + other.size - shared };
}

/** Whether both lists hold the same texts, in whichever order: so do two decisions that came out the same. */
export function haveSameTexts(texts: readonly string[], others: readonly string[]): boolean {
  const ordered = others.toSorted();
  return texts.length === others.length && texts.toSorted().every((text, index) => text === ordered[index]);
}
