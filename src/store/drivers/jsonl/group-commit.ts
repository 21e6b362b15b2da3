/** Enough for one wait for the disk to be worth it. */
const mostTogether = 256;

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** What arrives in one turn of the event loop, or while the last lot was written, is written together. */
export class GroupCommit<Item, Outcome> {
  readonly #write: (items: readonly Item[]) => Promise<readonly Outcome[]>;
  readonly #sizeOf: (item: Item) => number;
  readonly #largest: number;
  #waiting: Waiting<Item, Outcome>[] = [];
  #isWriting = false;

  constructor(
    write: (items: readonly Item[]) => Promise<readonly Outcome[]>,
    { sizeOf, largest }: { readonly sizeOf: (item: Item) => number; readonly largest: number },
  ) {
    this.#write = write;
    this.#sizeOf = sizeOf;
    this.#largest = largest;
  }

  add(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isWriting) return;
      this.#isWriting = true;
      setImmediate(() => void this.#writeAll());
    });
  }

  #nextLot(): number {
    let size = 0;
    const end = this.#waiting.findIndex(({ item }, index) => {
      size += this.#sizeOf(item);
      return index >= mostTogether || (index > 0 && size > this.#largest);
    });
    return end === -1 ? this.#waiting.length : end;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lot = this.#waiting.splice(0, this.#nextLot());
      try {
        const outcomes = await this.#write(lot.map(({ item }) => item));
        for (const [index, { resolve }] of lot.entries()) resolve(outcomes[index] as Outcome);
      } catch (error) {
        for (const { reject } of lot) reject(error);
      }
    }
    this.#isWriting = false;
  }
}
