import { closeSync, openSync, readSync } from "node:fs";

const pageLength = 8 * 1024;
const pagesPerBackwardRead = 8;
/** Four megabytes. */
const maxPages = 512;

/** Reads an append-only file of fixed-length items page by page, with a page cache. */
export class PagedFile {
  readonly itemsPerPage: number;
  readonly #path: string;
  readonly #itemLength: number;
  readonly #pages = new Map<number, Uint32Array<ArrayBuffer>>();
  #fd: number | undefined;

  constructor(path: string, itemLength: number) {
    this.#path = path;
    this.#itemLength = itemLength;
    this.itemsPerPage = pageLength / itemLength;
  }

  /** Opens the file, which can then be read even if it is deleted. */
  open(): void {
    this.#fd ??= openSync(this.#path, "r");
  }

  /** Returns the numbers of a page; zeros beyond the end of the file. */
  page(number: number): Uint32Array<ArrayBuffer> {
    const cached = this.#pages.get(number);
    if (cached !== undefined) return cached;
    // If the next page was read before, the caller goes backwards: read several pages before this one, too.
    const first = this.#pages.has(number + 1) ? Math.max(0, number + 1 - pagesPerBackwardRead) : number;
    const bytes = new Uint8Array((number + 1 - first) * pageLength);
    this.readInto(bytes, first * this.itemsPerPage);
    if (this.#pages.size >= maxPages) this.#pages.clear();
    let page = new Uint32Array();
    for (let each = first; each <= number; each++) {
      page = new Uint32Array(bytes.buffer, (each - first) * pageLength, pageLength / 4);
      this.#pages.set(each, page);
    }
    return page;
  }

  /** Reads from an item on without using the page cache. */
  readInto(bytes: Uint8Array, item: number): void {
    if (this.#fd !== undefined) readSync(this.#fd, bytes, 0, bytes.length, item * this.#itemLength);
  }

  /** Removes the page of an item from the cache, because it was not full when it was read. */
  invalidate(item: number): void {
    this.#pages.delete(Math.floor(item / this.itemsPerPage));
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
