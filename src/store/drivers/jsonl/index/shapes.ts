import type { LogRecord } from "../../../../model/record.js";

/** What many records have in common, and is asked for. */
export interface Shape {
  readonly kind: LogRecord["kind"] | "unreadable";
  readonly decision_id?: string;
  readonly definition_hash?: string;
  readonly labels?: readonly string[];
  readonly type?: string;
  /** What the cache had to say, where it was asked. */
  readonly cache?: "hit" | "miss";
}

/** The shapes that were seen, with how many records have each and where each decision was last. */
export class Shapes {
  readonly list: Shape[];
  readonly counts: number[];
  /** By decision: the number of its last row, plus one. */
  readonly last: Map<string, number>;
  readonly #byText = new Map<string, number>();
  /** Hash tables of two-part fingerprints; where both parts are equal, so are the shapes. */
  readonly #first = new Int32Array(slots);
  readonly #second = new Int32Array(slots);
  readonly #known = new Int32Array(slots);

  constructor(
    list: readonly Shape[] = [],
    counts: readonly number[] = [],
    last: readonly (readonly [string, number])[] = [],
  ) {
    this.list = [...list];
    this.counts = [...counts];
    this.last = new Map(last);
    for (const [index, shape] of this.list.entries()) this.#byText.set(JSON.stringify(shape), index);
  }

  /** The shape with these fingerprints, or -1. */
  at(first: number, second: number): number {
    const slot = (first ^ second) & (slots - 1);
    const known = this.#known[slot] ?? 0;
    return known > 0 && this.#first[slot] === first && this.#second[slot] === second ? known - 1 : -1;
  }

  /** The number of a shape, which from now on these fingerprints stand for. */
  learn(shape: Shape, first?: number, second = 0): number {
    const text = JSON.stringify(shape);
    let index = this.#byText.get(text);
    if (index === undefined) {
      index = this.list.push(shape) - 1;
      this.counts.push(0);
      this.#byText.set(text, index);
    }
    if (first !== undefined) {
      const slot = (first ^ second) & (slots - 1);
      this.#first[slot] = first;
      this.#second[slot] = second;
      this.#known[slot] = index + 1;
    }
    return index;
  }

  /** Counts a row of the shape; gives the row before it of the same decision, plus one. */
  count(shape: number, row: number): number {
    this.counts[shape] = (this.counts[shape] ?? 0) + 1;
    const id = this.list[shape]?.decision_id;
    if (id === undefined) return 0;
    const before = this.last.get(id) ?? 0;
    this.last.set(id, row + 1);
    return before;
  }
}

const slots = 4096;
