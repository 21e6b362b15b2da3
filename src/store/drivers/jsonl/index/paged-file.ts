import { closeSync, readSync } from "node:fs";
import { basename } from "node:path";
import type { PageSum } from "./page-sum.js";
import { areSumsEqual, DamagedIndexError, emptySum, extendShortSum, extendSum, seedOf } from "./page-sum.js";
import { systemFiles, writeAll } from "../files.js";
import { openRegularFile } from "../../../regular-file.js";

const pageLength = 8 * 1024;
const numbersPerPage = pageLength / 4;
/** A complete page is followed by its checksum: two numbers. */
const storedLength = pageLength + 8;
const pagesPerBackwardRead = 8;
/** Four megabytes. */
const maxPages = 512;

/** The saved part of a file. */
export interface PagesState {
  /** The number of items. */
  readonly count: number;
  /** The checksum of the items in the last page, which is incomplete and has none in the file. */
  readonly sum: PageSum;
}

/** An append-only file of fixed-length items. Every page has a checksum, which is verified when the page is read. */
export class PagedFile {
  readonly itemsPerPage: number;
  readonly #path: string;
  readonly #name: string;
  readonly #seed: number;
  readonly #numbersPerItem: number;
  readonly #pages = new Map<number, Uint32Array<ArrayBuffer>>();
  #saved: PagesState;
  #fd: number | undefined;

  constructor(path: string, itemLength: number, saved?: PagesState) {
    this.#path = path;
    this.#name = basename(path);
    this.#seed = seedOf(this.#name);
    this.#numbersPerItem = itemLength / 4;
    this.itemsPerPage = pageLength / itemLength;
    this.#saved = saved ?? { count: 0, sum: emptySum(this.#seed, 0) };
  }

  get saved(): PagesState {
    return this.#saved;
  }

  /** Opens the file, which can then be read even if it is deleted. */
  open(): void {
    this.#fd ??= openRegularFile(this.#path, "r");
  }

  /** Returns the numbers of a page. Those after the last saved item are undefined. */
  page(number: number): Uint32Array<ArrayBuffer> {
    const cached = this.#pages.get(number);
    if (cached !== undefined) return cached;
    // If the next page was read before, the caller goes backwards: read several pages before this one, too.
    const first = this.#pages.has(number + 1) ? Math.max(0, number + 1 - pagesPerBackwardRead) : number;
    const pages = this.#readPages(first, number);
    if (this.#pages.size >= maxPages) this.#pages.clear();
    for (const [at, page] of pages.entries()) this.#pages.set(first + at, page);
    return pages.at(-1) ?? new Uint32Array();
  }

  /** Reads items from one on without using the page cache. */
  readInto(bytes: Uint8Array, item: number): void {
    const itemLength = this.#numbersPerItem * 4;
    const first = Math.floor(item / this.itemsPerPage);
    const last = Math.floor((item + bytes.length / itemLength - 1) / this.itemsPerPage);
    let from = (item - first * this.itemsPerPage) * itemLength;
    let filled = 0;
    for (const { buffer, byteOffset } of this.#readPages(first, last)) {
      const length = Math.min(pageLength - from, bytes.length - filled);
      bytes.set(new Uint8Array(buffer, byteOffset + from, length), filled);
      filled += length;
      from = 0;
    }
  }

  /** Writes items after the saved ones. Returns the state to save; readers ignore the items until it is saved. */
  write(items: Uint32Array): PagesState {
    const { count } = this.#saved;
    let { sum } = this.#saved;
    let page = Math.floor(count / this.itemsPerPage);
    const start = (count - page * this.itemsPerPage) * this.#numbersPerItem;
    const completed = Math.floor((start + items.length) / numbersPerPage);
    const stored = new Uint32Array(items.length + 2 * completed);
    let written = 0;
    for (let from = 0, room = numbersPerPage - start; from < items.length; room = numbersPerPage) {
      const to = Math.min(from + room, items.length);
      sum = extendSum(sum, items, from, to);
      stored.set(items.subarray(from, to), written);
      written += to - from;
      if (to - from === room) {
        stored.set([sum.low, sum.high], written);
        written += 2;
        sum = emptySum(this.#seed, ++page);
      }
      from = to;
    }
    const fd = openRegularFile(this.#path, count === 0 ? "w" : "r+", { mode: 0o600 });
    try {
      const offset = Math.floor(count / this.itemsPerPage) * storedLength + start * 4;
      writeAll(systemFiles, fd, new Uint8Array(stored.buffer), offset);
    } finally {
      closeSync(fd);
    }
    return { count: count + items.length / this.#numbersPerItem, sum };
  }

  /** Call when the state that `write` returned is saved. */
  markSaved(saved: PagesState): void {
    this.open();
    // This page was not complete when it was read.
    this.#pages.delete(Math.floor(this.#saved.count / this.itemsPerPage));
    this.#saved = saved;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** Reads and verifies the pages `first` to `last`, both inclusive. */
  #readPages(first: number, last: number): readonly Uint32Array<ArrayBuffer>[] {
    const bytes = new Uint8Array((last + 1 - first) * storedLength);
    this.#read(bytes, first * storedLength);
    const pages: Uint32Array<ArrayBuffer>[] = [];
    const extend = last - first < pagesPerBackwardRead ? extendShortSum : extendSum;
    for (let page = first; page <= last; page++) {
      const stored = new Uint32Array(bytes.buffer, (page - first) * storedLength, storedLength / 4);
      if (!this.#isIntact(page, stored, extend)) throw new DamagedIndexError(this.#name);
      pages.push(stored.subarray(0, numbersPerPage));
    }
    return pages;
  }

  #read(bytes: Uint8Array, offset: number): void {
    if (this.#fd === undefined) return;
    try {
      readSync(this.#fd, bytes, 0, bytes.length, offset);
    } catch {
      // For example a directory, or a bad sector.
      throw new DamagedIndexError(this.#name);
    }
  }

  #isIntact(page: number, stored: Uint32Array, extend: typeof extendSum): boolean {
    const { count, sum } = this.#saved;
    const items = Math.min(count - page * this.itemsPerPage, this.itemsPerPage);
    const expected =
      items < this.itemsPerPage
        ? sum
        : { low: stored[numbersPerPage] ?? 0, high: stored[numbersPerPage + 1] ?? 0 };
    const actual = extend(emptySum(this.#seed, page), stored, 0, items * this.#numbersPerItem);
    return items > 0 && areSumsEqual(actual, expected);
  }
}
