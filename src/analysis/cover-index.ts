import type { Box } from "./box.js";
import { boxesMeet, setIn } from "./box.js";
import type { CellSet } from "./cell-set.js";
import { cellsOf, countCells } from "./cell-set.js";
import type { WorkLimit } from "./formula.js";
import type { Space } from "./space.js";

/** A box, and the rule that it belongs to. */
export interface OwnedBox {
  readonly owner: number;
  readonly box: Box;
}

/** Finds the boxes that meet another box, without comparing it with all of them. */
export class BoxIndex {
  readonly #space: Space;
  readonly #limit: WorkLimit;
  readonly #entries: OwnedBox[] = [];
  /** By dimension, then by cell: the entries whose narrowest set is in that dimension. */
  readonly #narrow = new Map<number, Narrow>();
  readonly #wide: number[] = [];
  readonly #maxCells: number;

  /** `expected` is the number of boxes that are going to be added. */
  constructor(space: Space, limit: WorkLimit, expected: number) {
    this.#space = space;
    this.#limit = limit;
    this.#maxCells = Math.max(minListed, Math.floor(maxEntries / (expected + 1)));
  }

  add(owner: number, box: Box): void {
    const id = this.#entries.push({ owner, box }) - 1;
    let best: { readonly dimension: number; readonly set: CellSet; readonly share: number } | undefined;
    for (const [at, dimension] of box.dimensions.entries()) {
      const set = box.sets[at] ?? [];
      const share = countCells(set) / (this.#space.dimensions[dimension]?.size ?? 1);
      if (best === undefined || share < best.share) best = { dimension, set, share };
    }
    if (best === undefined || countCells(best.set) > this.#maxCells) {
      this.#wide.push(id);
      return;
    }
    const narrow = this.#narrow.get(best.dimension) ?? { all: [], byCell: new Map<number, number[]>() };
    this.#narrow.set(best.dimension, narrow);
    narrow.all.push(id);
    for (const cell of cellsOf(best.set)) {
      const ids = narrow.byCell.get(cell);
      if (ids === undefined) narrow.byCell.set(cell, [id]);
      else ids.push(id);
    }
  }

  /** Returns the boxes that meet a box, in the order in which they were added. */
  meeting(box: Box): readonly OwnedBox[] {
    const ids = new Set(this.#wide);
    for (const [dimension, { all, byCell }] of this.#narrow) {
      const set = setIn(box, dimension);
      const isWide = set === undefined || countCells(set) > all.length;
      if (isWide) for (const id of all) ids.add(id);
      else for (const cell of cellsOf(set)) for (const id of byCell.get(cell) ?? []) ids.add(id);
    }
    this.#limit.spend(ids.size + 1);
    const found: OwnedBox[] = [];
    for (const id of ids) {
      const entry = this.#entries[id];
      if (entry !== undefined && boxesMeet(entry.box, box)) found.push(entry);
    }
    return found.sort((a, b) => a.owner - b.owner);
  }
}

interface Narrow {
  readonly all: number[];
  readonly byCell: Map<number, number[]>;
}

/** A box is listed at each of its cells if it has this many, or if all lists together stay short. */
const minListed = 32;
const maxEntries = 2_000_000;

/** The cells of one dimension that rules which depend on nothing else cover, each with the first such rule. */
export class CoveredCells {
  readonly #owners: Int32Array;
  /** For each cell the next one that is not covered; follows links as far as needed. */
  readonly #next: Int32Array;
  #count = 0;

  constructor(size: number) {
    this.#owners = new Int32Array(size).fill(-1);
    this.#next = Int32Array.from({ length: size + 1 }, (_, cell) => cell);
  }

  #uncoveredFrom(cell: number): number {
    let root = cell;
    while (this.#next[root] !== root) root = this.#next[root] ?? root;
    for (let each = cell; each !== root;) {
      const next = this.#next[each] ?? root;
      this.#next[each] = root;
      each = next;
    }
    return root;
  }

  cover(set: CellSet, owner: number): void {
    for (let index = 0; index < set.length; index += 2) {
      const last = set[index + 1] ?? -1;
      for (let cell = this.#uncoveredFrom(set[index] ?? 0); cell <= last; cell = this.#uncoveredFrom(cell)) {
        this.#owners[cell] = owner;
        this.#next[cell] = cell + 1;
        this.#count++;
      }
    }
  }

  /** Returns the cells of a set that are not covered. */
  uncovered(set: CellSet, limit: WorkLimit): CellSet {
    if (this.#count === 0) return set;
    const left: number[] = [];
    for (let index = 0; index < set.length; index += 2) {
      const last = set[index + 1] ?? -1;
      let cell = this.#uncoveredFrom(set[index] ?? 0);
      while (cell <= last) {
        const first = cell;
        while (cell <= last && this.#next[cell] === cell) cell++;
        left.push(first, cell - 1);
        limit.spend(cell - first);
        cell = this.#uncoveredFrom(cell);
      }
    }
    return left;
  }

  /** Returns the rules that cover cells of a set, in their order. */
  owners(set: CellSet, limit: WorkLimit): readonly number[] {
    limit.spend(countCells(set));
    const found = new Set<number>();
    for (const cell of cellsOf(set)) {
      const owner = this.#owners[cell] ?? -1;
      if (owner !== -1) found.add(owner);
    }
    return [...found].sort((a, b) => a - b);
  }
}
