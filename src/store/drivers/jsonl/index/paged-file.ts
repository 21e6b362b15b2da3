import { closeSync, openSync, readSync } from "node:fs";

const pageLength = 8 * 1024;
const pagesPerBackwardRead = 8;
/** Four megabytes. */
const maxPages = 512;

/** A file of items of one length that only grows, read page by page; pages that were read are remembered. */
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

  /** From then on it can be read, even if the file loses its name. */
  open(): void {
    this.#fd ??= openSync(this.#path, "r");
  }

  /** The numbers of a page; zeros where the file has none. */
  page(number: number): Uint32Array<ArrayBuffer> {
    const known = this.#pages.get(number);
    if (known !== undefined) return known;
    // Whoever has just been at the next one goes backwards, and wants those before, too.
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

  /** Past the remembered pages, from an item on. */
  readInto(bytes: Uint8Array, item: number): void {
    if (this.#fd !== undefined) readSync(this.#fd, bytes, 0, bytes.length, item * this.#itemLength);
  }

  /** The page of this item was not full when it was read. */
  invalidate(item: number): void {
    this.#pages.delete(Math.floor(item / this.itemsPerPage));
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
