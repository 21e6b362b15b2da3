import type { KeyHash } from "./key-hash.js";

/** The beginning of a decision's line that was seen before. */
export interface KnownBeginning {
  readonly shape: number;
  /** What tells the shape. */
  readonly bytes: Buffer;
  /** The same, and all up to who it was made for; where there is nothing in it that records are looked up by. */
  longer?: Buffer;
  /** The longer one, and all up to the end of the artifacts; where there are none, and no entities. */
  bare?: Buffer | undefined;
  /** How far behind the artifacts the policies were. */
  policiesAt?: number;
  /** The policies as they were last. */
  policies?: { readonly bytes: Buffer; readonly keys: readonly KeyHash[] };
}

const slots = 4096;

/** Beginnings by their fingerprints, so that lines that begin alike need not be taken apart. */
export class Beginnings {
  readonly #known = new Array<KnownBeginning | undefined>(slots).fill(undefined);

  /** What was last seen with the fingerprint. */
  at(fingerprint: number): KnownBeginning | undefined {
    return this.#known[fingerprint & (slots - 1)];
  }

  remember(fingerprint: number, known: KnownBeginning): KnownBeginning {
    this.#known[fingerprint & (slots - 1)] = known;
    return known;
  }
}

/** Whether these bytes stand on a line, from a place on. */
export function standsAt(line: Buffer, bytes: Buffer, from: number, end: number): boolean {
  const to = from + bytes.length;
  return to <= end && line.compare(bytes, 0, bytes.length, from, to) === 0;
}
