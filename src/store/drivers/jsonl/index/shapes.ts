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
  /** By fingerprint: the shape that was last seen with it, and the bytes it was recognised by. */
  readonly #known = new Int32Array(slots);
  readonly #bytes: Buffer[] = [];

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

  /** The shape of a line that has these bytes in the part that tells; -1 where it is not known. */
  at(fingerprint: number, line: Buffer, from: number, to: number): number {
    const slot = fingerprint & (slots - 1);
    const bytes = this.#bytes[slot];
    if (bytes === undefined || line.compare(bytes, 0, bytes.length, from, to) !== 0) return -1;
    return this.#known[slot] ?? -1;
  }

  /** From now on these bytes stand for the shape. */
  remember(shape: number, fingerprint: number, bytes: Buffer): void {
    const slot = fingerprint & (slots - 1);
    this.#known[slot] = shape;
    this.#bytes[slot] = bytes;
  }

  /** The number of a shape. */
  learn(shape: Shape): number {
    const text = JSON.stringify(shape);
    let index = this.#byText.get(text);
    if (index === undefined) {
      index = this.list.push(shape) - 1;
      this.counts.push(0);
      this.#byText.set(text, index);
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
