import { closeSync, openSync, readSync } from "node:fs";

const pageLength = 8 * 1024;
/** Four megabytes. */
const mostPages = 512;

/** A file of items of one length that only grows, read page by page; pages that were read are remembered. */
export class Pages {
  readonly itemsPerPage: number;
  readonly #path: string;
  readonly #itemLength: number;
  readonly #pages = new Map<number, ArrayBuffer>();
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

  /** The bytes of a page; zeros where the file has none. */
  page(number: number): ArrayBuffer {
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = new ArrayBuffer(pageLength);
      this.readInto(new Uint8Array(page), number * this.itemsPerPage);
      const [oldest] = this.#pages.keys();
      if (this.#pages.size >= mostPages && oldest !== undefined) this.#pages.delete(oldest);
      this.#pages.set(number, page);
    }
    return page;
  }

  /** Past the remembered pages, from an item on. */
  readInto(bytes: Uint8Array, item: number): void {
    if (this.#fd !== undefined) readSync(this.#fd, bytes, 0, bytes.length, item * this.#itemLength);
  }

  /** The page of this item was not full when it was read. */
  forget(item: number): void {
    this.#pages.delete(Math.floor(item / this.itemsPerPage));
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
