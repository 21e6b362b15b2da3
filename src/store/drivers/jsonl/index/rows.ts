import { closeSync, openSync } from "node:fs";
import { PagedFile } from "./paged-file.js";
import { systemFiles, writeAll } from "../files.js";

/** What the index keeps of a record: 32 bytes, in the order of the log. */
export const rowLength = 32;

export const numbersPerRow = rowLength / 4;
export const shapeAt = 4;
export const digestAt = 6;

/** Rows one after the other in memory. */
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

  /** Makes room for one more row and gives its position. */
  add(): number {
    if ((this.#count + 1) * numbersPerRow > this.#numbers.length) this.#grow();
    return this.#count++;
  }

  /** The rows as numbers, eight each: for going through very many. */
  get numbers(): Uint32Array {
    return this.#numbers;
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#numbers.buffer, this.#numbers.byteOffset, this.#count * rowLength);
  }

  /** In microseconds since 1970. */
  time(row: number): number {
    return this.#times[row * 4] ?? 0;
  }

  /** Where the line begins in its segment. */
  offset(row: number): number {
    return this.#numbers[row * numbersPerRow + 2] ?? 0;
  }

  /** Without the newline. */
  length(row: number): number {
    return this.#numbers[row * numbersPerRow + 3] ?? 0;
  }

  shape(row: number): number {
    return this.#numbers[row * numbersPerRow + shapeAt] ?? 0;
  }

  /** The number of the row before of the same decision, plus one; 0: there is none. */
  previous(row: number): number {
    return this.#numbers[row * numbersPerRow + 5] ?? 0;
  }

  /** The beginning of the deterministic hash, which differs where the values read do. */
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

/** All rows: those that are kept on disk, and behind them the new ones. */
export class RowFile {
  readonly #path: string;
  readonly #pages: PagedFile;
  #kept: number;
  #new = new Rows();
  #page: { readonly number: number; readonly rows: Rows } | undefined;

  constructor(path: string, savedCount: number) {
    this.#path = path;
    this.#kept = savedCount;
    this.#pages = new PagedFile(path, rowLength);
    // At once: whoever makes the index anew removes the rows of this one.
    if (savedCount > 0) this.#pages.open();
  }

  get count(): number {
    return this.#kept + this.#new.count;
  }

  get kept(): number {
    return this.#kept;
  }

  /** Those that are not kept yet. */
  get unsaved(): Rows {
    return this.#new;
  }

  /** The rows from one number up to, but without, another; as many as asked for are in memory at once. */
  read(from: number, to: number): Rows {
    const kept = Math.max(0, Math.min(to, this.#kept) - from);
    const numbers = new Uint32Array((to - from) * numbersPerRow);
    const whole = new Uint8Array(numbers.buffer);
    if (kept > 0) this.#pages.readInto(whole.subarray(0, kept * rowLength), from);
    if (to > this.#kept) {
      const start = Math.max(0, from - this.#kept);
      const added = this.#new.bytes().subarray(start * rowLength, (to - this.#kept) * rowLength);
      whole.set(added, kept * rowLength);
    }
    return new Rows(numbers, to - from);
  }

  /** Rows among which one is, and where it is among them; for one here and one there. */
  at(number: number): { readonly rows: Rows; readonly row: number } {
    if (number >= this.#kept) return { rows: this.#new, row: number - this.#kept };
    const { itemsPerPage } = this.#pages;
    const page = Math.floor(number / itemsPerPage);
    if (this.#page?.number !== page)
      this.#page = { number: page, rows: new Rows(this.#pages.page(page), itemsPerPage) };
    return { rows: this.#page.rows, row: number - page * itemsPerPage };
  }

  /** Puts the new rows behind the kept ones; whoever does not know of them does not mind. */
  write(): void {
    const fd = openSync(this.#path, this.#kept === 0 ? "w" : "r+", 0o600);
    try {
      writeAll(systemFiles, fd, this.#new.bytes(), this.#kept * rowLength);
    } finally {
      closeSync(fd);
    }
  }

  /** The new rows are now kept. */
  markSaved(): void {
    this.#pages.open();
    this.#pages.invalidate(this.#kept);
    this.#page = undefined;
    this.#kept = this.count;
    this.#new = new Rows();
  }

  close(): void {
    this.#pages.close();
  }
}
