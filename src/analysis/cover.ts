import type { Box } from "./box.js";
import { boxSize, setIn } from "./box.js";
import type { CellSet } from "./cell-set.js";
import {
  allCells,
  areEqualSets,
  intersectSets,
  isEmptySet,
  isSubset,
  setsMeet,
  subtractSets,
  uniteAll,
} from "./cell-set.js";
import type { WorkLimit } from "./formula.js";
import type { Space } from "./space.js";

/** The remaining cells of every dimension of a space. */
export type Domains = readonly CellSet[];

/** Returns the cells of a box in every dimension of the space. */
export function domainsOf(box: Box, { dimensions, bounds }: Space): Domains {
  const domains: CellSet[] = dimensions.map((each) => (each.type === "path" ? each.all : [0, 2]));
  for (const each of [bounds, box]) {
    for (const [index, dimension] of each.dimensions.entries())
      domains[dimension] = intersectSets(domains[dimension] ?? [], each.sets[index] ?? []);
  }
  return domains;
}

/** Whether a dimension has no cells left. */
export const isVoid = (domains: Domains): boolean => domains.some(isEmptySet);

/** Returns the box of domains. Dimensions that may have any value are left out, such as that the context is an object. */
export function boxOfDomains(domains: Domains, { dimensions, bounds }: Space): Box {
  const named = domains.flatMap((set, dimension) => {
    const each = dimensions[dimension];
    const isContext = each?.type === "path" && each.segments.length === 0;
    const all = (isContext ? setIn(bounds, dimension) : undefined) ?? allCells(each?.size ?? 0);
    return areEqualSets(set, all) ? [] : [{ dimension, set }];
  });
  return { dimensions: named.map(({ dimension }) => dimension), sets: named.map(({ set }) => set) };
}

interface Search {
  readonly limit: WorkLimit;
  /** Boxes that are added while the search goes on; what they cover is not visited any more. */
  readonly added: readonly Box[];
  /** Called with parts of the domains that no box covers, all of them disjoint; ends the search by returning false. */
  readonly visit: (part: Domains) => boolean;
}

/**
 * Visits everything in the domains that no box covers. Each box is a clause: an uncovered input is outside of it in one
 * of its dimensions. A box that can be left in one dimension only restricts that one; otherwise the search branches.
 * Returns whether the search was not ended.
 */
export function visitUncovered(domains: Domains, boxes: readonly Box[], search: Search): boolean {
  return visit({ domains, boxes, seen: 0 }, search);
}

interface State {
  readonly domains: Domains;
  readonly boxes: readonly Box[];
  /** How many of the added boxes are among them, or were left. */
  readonly seen: number;
}

function visit(state: State, search: Search): boolean {
  const { added, limit } = search;
  limit.spend(1 + (state.domains.length >> 4));
  if (isVoid(state.domains)) return true;
  const boxes = state.seen < added.length ? [...state.boxes, ...added.slice(state.seen)] : state.boxes;
  const seen = added.length;
  const reduced = reduce(state.domains, boxes, limit);
  if (reduced === undefined) return true;
  const split = chooseSplit(reduced);
  if (split === undefined) return search.visit(reduced.domains);
  const { dimension, set } = split;
  const old = reduced.domains[dimension] ?? [];
  const branches = [subtractSets(old, set), intersectSets(old, set)];
  return branches.every((part) =>
    visit(
      { domains: replaceAt(reduced.domains, dimension, part), boxes: reduced.boxes.map(boxOfClause), seen },
      search,
    ),
  );
}

const boxOfClause = ({ box }: Clause): Box => box;

const replaceAt = (domains: Domains, at: number, set: CellSet): Domains =>
  domains.map((each, index) => (index === at ? set : each));

/** A box, and its dimensions in which an input can be outside of it. */
interface Clause {
  readonly box: Box;
  /** Indexes into the dimensions of the box; at least two. */
  readonly free: readonly number[];
}

interface Reduced {
  readonly domains: Domains;
  readonly boxes: readonly Clause[];
}

/** Restricts the domains until each box can be left in several dimensions; undefined if some box cannot be left. */
function reduce(start: Domains, all: readonly Box[], limit: WorkLimit): Reduced | undefined {
  let domains = start;
  let boxes = all;
  for (;;) {
    limit.spend(boxes.reduce((sum, box) => sum + (boxSize(box) >> 2), boxes.length + 1));
    const clauses: Clause[] = [];
    const forced = new Map<number, CellSet[]>();
    for (const box of boxes) {
      const free = freeDimensions(box, domains);
      if (free === undefined) continue;
      const [first] = free;
      if (first === undefined) return undefined;
      if (free.length > 1) {
        clauses.push({ box, free });
        continue;
      }
      const dimension = box.dimensions[first] ?? 0;
      const sets = forced.get(dimension);
      if (sets === undefined) forced.set(dimension, [box.sets[first] ?? []]);
      else sets.push(box.sets[first] ?? []);
    }
    if (forced.size === 0) return { domains, boxes: clauses };
    const next = [...domains];
    for (const [dimension, sets] of forced) {
      const left = subtractSets(next[dimension] ?? [], uniteAll(sets));
      if (isEmptySet(left)) return undefined;
      next[dimension] = left;
    }
    domains = next;
    boxes = clauses.map(boxOfClause);
  }
}

/** Returns the dimensions in which a part of the domains is outside of the box; undefined if all of it is outside. */
function freeDimensions({ dimensions, sets }: Box, domains: Domains): readonly number[] | undefined {
  const free: number[] = [];
  for (let index = 0; index < dimensions.length; index++) {
    const domain = domains[dimensions[index] ?? 0] ?? [];
    const set = sets[index] ?? [];
    if (!setsMeet(domain, set)) return undefined;
    if (!isSubset(domain, set)) free.push(index);
  }
  return free;
}

/** Chooses a box that can be left in the fewest ways, and of its dimensions the one that most boxes share. */
function chooseSplit({ boxes }: Reduced): { readonly dimension: number; readonly set: CellSet } | undefined {
  let [shortest] = boxes;
  if (shortest === undefined) return undefined;
  const uses = new Map<number, number>();
  for (const clause of boxes) {
    if (clause.free.length < shortest.free.length) shortest = clause;
    for (const index of clause.free) {
      const dimension = clause.box.dimensions[index] ?? 0;
      uses.set(dimension, (uses.get(dimension) ?? 0) + 1);
    }
  }
  const { box, free } = shortest;
  const usesAt = (index: number): number => uses.get(box.dimensions[index] ?? 0) ?? 0;
  const best = free.reduce((most, index) => (usesAt(index) > usesAt(most) ? index : most));
  return { dimension: box.dimensions[best] ?? 0, set: box.sets[best] ?? [] };
}

/** Returns a part of the domains that no box covers; undefined if they cover everything. */
export function findUncovered(
  domains: Domains,
  boxes: readonly Box[],
  limit: WorkLimit,
): Domains | undefined {
  let found: Domains | undefined;
  visitUncovered(domains, boxes, {
    limit,
    added: [],
    visit: (part) => {
      found = part;
      return false;
    },
  });
  return found;
}

export interface Complement {
  readonly boxes: readonly Box[];
  /** False if there are more than `most` of them, or if the limit was reached. */
  readonly isComplete: boolean;
}

/**
 * Returns everything in the domains that no box covers, as boxes that are as large as possible and may overlap.
 * `ignored` boxes contain no input, so a box may extend into them.
 */
export function complementOf(
  domains: Domains,
  boxes: readonly Box[],
  { space, limit, most }: { readonly space: Space; readonly limit: WorkLimit; readonly most: number },
): Complement {
  const found: Box[] = [];
  const isComplete = limit.within(() =>
    visitUncovered(domains, [...boxes, ...space.impossible], {
      limit,
      added: found,
      visit: (part) => {
        if (found.length === most) return false;
        found.push(boxOfDomains(widen(part, domains, boxes, limit), space));
        return true;
      },
    }),
  );
  return { boxes: found, isComplete: isComplete === true };
}

/** Widens a part that no box covers, one dimension after the other, up to the domains or to a box. */
function widen(part: Domains, most: Domains, boxes: readonly Box[], limit: WorkLimit): Domains {
  let widened = part;
  const isWhole = (dimension: number): boolean => isSubset(most[dimension] ?? [], widened[dimension] ?? []);
  const reach = (dimension: number): CellSet => {
    limit.spend(boxes.length);
    const blocking = boxes.flatMap((box) => blockingSet(box, widened, dimension));
    return subtractSets(most[dimension] ?? [], uniteAll(blocking));
  };
  // A dimension that may have any value is left out of the region, so those come first.
  for (const onlyWhole of [true, false]) {
    for (let dimension = part.length - 1; dimension >= 0; dimension--) {
      if (isWhole(dimension)) continue;
      const set = reach(dimension);
      const reachesAll = isSubset(most[dimension] ?? [], set);
      if (reachesAll || !onlyWhole) widened = replaceAt(widened, dimension, set);
    }
  }
  return widened;
}

/** The values of a dimension at which the widened part would meet the box. */
function blockingSet({ dimensions, sets }: Box, widened: Domains, dimension: number): readonly CellSet[] {
  let blocking: CellSet | undefined;
  for (let index = 0; index < dimensions.length; index++) {
    if (dimensions[index] === dimension) blocking = sets[index];
    else if (!setsMeet(widened[dimensions[index] ?? 0] ?? [], sets[index] ?? [])) return [];
  }
  return blocking === undefined ? [] : [blocking];
}
