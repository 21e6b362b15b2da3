import { closeSync, openSync } from "node:fs";
import { systemFiles, writeAll } from "../files.js";
import { Pages } from "./pages.js";
import { Rows, numbersPerRow, rowLength } from "./rows.js";

/** All rows: those that are kept on disk, and behind them the new ones. */
export class RowFile {
  readonly #path: string;
  readonly #pages: Pages;
  #kept: number;
  #new = new Rows();
  #page: { readonly number: number; readonly rows: Rows } | undefined;

  constructor(path: string, kept: number) {
    this.#path = path;
    this.#kept = kept;
    this.#pages = new Pages(path, rowLength);
    // At once: whoever makes the index anew removes the rows of this one.
    if (kept > 0) this.#pages.open();
  }

  get count(): number {
    return this.#kept + this.#new.count;
  }

  get kept(): number {
    return this.#kept;
  }

  /** Those that are not kept yet. */
  get added(): Rows {
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
  settle(): void {
    this.#pages.open();
    this.#pages.forget(this.#kept);
    this.#page = undefined;
    this.#kept = this.count;
    this.#new = new Rows();
  }

  close(): void {
    this.#pages.close();
  }
}
