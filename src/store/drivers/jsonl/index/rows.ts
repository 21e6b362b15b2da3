import type { PagesState } from "./paged-file.js";
import { PagedFile } from "./paged-file.js";

/**
 * The index has one row of 32 bytes per record, in log order, as eight 32-bit numbers: the time (a 64-bit float, so
 * two of them), offset, length, shape, the previous row of the same decision, and two for the digest.
 */
export const rowLength = 32;

export const numbersPerRow = rowLength / 4;
export const shapeAt = 4;
export const digestAt = 6;

/** Rows in memory. */
export class Rows {
  #times: Float64Array;
  #numbers: Uint32Array<ArrayBuffer>;
  #count: number;

  constructor(numbers = new Uint32Array(64 * numbersPerRow), count = 0) {
    this.#times = timesView(numbers);
    this.#numbers = numbers;
    this.#count = count;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds an empty row and returns its position. */
  add(): number {
    if ((this.#count + 1) * numbersPerRow > this.#numbers.length) this.#grow();
    return this.#count++;
  }

  /** The raw numbers, eight per row, for loops over very many rows. */
  get numbers(): Uint32Array {
    return this.#numbers;
  }

  /** In microseconds since 1970. */
  time(row: number): number {
    return this.#times[row * 4] ?? 0;
  }

  /** The offset of the line in its segment. */
  offset(row: number): number {
    return this.#numbers[row * numbersPerRow + 2] ?? 0;
  }

  /** The length of the line without its newline. */
  length(row: number): number {
    return this.#numbers[row * numbersPerRow + 3] ?? 0;
  }

  shape(row: number): number {
    return this.#numbers[row * numbersPerRow + shapeAt] ?? 0;
  }

  /** The number of the previous row of the same decision, plus one; 0 if there is none. */
  previous(row: number): number {
    return this.#numbers[row * numbersPerRow + 5] ?? 0;
  }

  /** The first bits of the deterministic hash, which identifies the decision and the input values that were read. */
  digestLow(row: number): number {
    return this.#numbers[row * numbersPerRow + digestAt] ?? 0;
  }

  digestHigh(row: number): number {
    return this.#numbers[row * numbersPerRow + digestAt + 1] ?? 0;
  }

  setPlace(row: number, time: number, offset: number, length: number): void {
    this.#times[row * 4] = time;
    this.#numbers[row * numbersPerRow + 2] = offset;
    this.#numbers[row * numbersPerRow + 3] = length;
  }

  setShape(row: number, shape: number, before: number): void {
    this.#numbers[row * numbersPerRow + shapeAt] = shape;
    this.#numbers[row * numbersPerRow + 5] = before;
  }

  setDigest(row: number, low: number, high: number): void {
    this.#numbers[row * numbersPerRow + digestAt] = low;
    this.#numbers[row * numbersPerRow + digestAt + 1] = high;
  }

  #grow(): void {
    const grown = new Uint32Array(this.#numbers.length * 2);
    grown.set(this.#numbers);
    this.#times = timesView(grown);
    this.#numbers = grown;
  }
}

const timesView = ({ buffer, byteOffset, byteLength }: Uint32Array<ArrayBuffer>): Float64Array =>
  new Float64Array(buffer, byteOffset, byteLength / 8);

/** All rows of an index: the saved ones on disk, followed by the unsaved ones in memory. */
export class RowFile {
  readonly #pages: PagedFile;
  #new = new Rows();
  #page: { readonly number: number; readonly rows: Rows } | undefined;

  constructor(path: string, saved?: PagesState) {
    this.#pages = new PagedFile(path, rowLength, saved);
    // Now, because a process that creates a new index deletes this file.
    if (this.savedCount > 0) this.#pages.open();
  }

  get count(): number {
    return this.savedCount + this.#new.count;
  }

  get savedCount(): number {
    return this.#pages.saved.count;
  }

  /** The rows that are not on disk yet. */
  get unsaved(): Rows {
    return this.#new;
  }

  /** Returns the rows `from` (inclusive) to `to` (exclusive), all in memory. For reading many rows. */
  read(from: number, to: number): Rows {
    const { savedCount } = this;
    const saved = Math.max(0, Math.min(to, savedCount) - from);
    const numbers = new Uint32Array((to - from) * numbersPerRow);
    const bytes = new Uint8Array(numbers.buffer);
    if (saved > 0) this.#pages.readInto(bytes.subarray(0, saved * rowLength), from);
    if (to > savedCount) {
      const start = Math.max(0, from - savedCount);
      const unsaved = this.#new.numbers.subarray(start * numbersPerRow, (to - savedCount) * numbersPerRow);
      numbers.set(unsaved, saved * numbersPerRow);
    }
    return new Rows(numbers, to - from);
  }

  /** Returns a page of rows and the position of one row in it. For reading single rows. */
  at(number: number): { readonly rows: Rows; readonly row: number } {
    if (number >= this.savedCount) return { rows: this.#new, row: number - this.savedCount };
    const { itemsPerPage } = this.#pages;
    const page = Math.floor(number / itemsPerPage);
    if (this.#page?.number !== page)
      this.#page = { number: page, rows: new Rows(this.#pages.page(page), itemsPerPage) };
    return { rows: this.#page.rows, row: number - page * itemsPerPage };
  }

  /** Writes the unsaved rows. Returns the state to save. */
  write(): PagesState {
    return this.#pages.write(this.#new.numbers.subarray(0, this.#new.count * numbersPerRow));
  }

  /** Call when the state that `write` returned is saved. */
  markSaved(saved: PagesState): void {
    this.#pages.markSaved(saved);
    this.#page = undefined;
    this.#new = new Rows();
  }

  close(): void {
    this.#pages.close();
  }
}
