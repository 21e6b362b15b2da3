/** Enough for one wait for the disk to be worth it. */
const maxBatchItems = 256;

interface PendingItem<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommitOptions<Item, Outcome> {
  /** Calls it when it may write, in order; fails where that never comes. */
  readonly runLocked: (write: (turn: number) => Promise<void>) => Promise<void>;
  readonly write: (items: readonly Item[], turn: number) => Promise<readonly Outcome[]>;
  readonly sizeOf: (item: Item) => number;
  readonly maxBatchSize: number;
}

/** What arrives in one turn of the event loop, or while the last lot was written, is written together. */
export class GroupCommit<Item, Outcome> {
  readonly #options: GroupCommitOptions<Item, Outcome>;
  #waiting: PendingItem<Item, Outcome>[] = [];
  #isScheduled = false;
  #onIdle: (() => void)[] = [];

  constructor(options: GroupCommitOptions<Item, Outcome>) {
    this.#options = options;
  }

  add(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => this.#schedule());
    });
  }

  /** Resolves once all that was added is written, or has failed. */
  async idle(): Promise<void> {
    if (this.#isScheduled) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(): void {
    const { runLocked: inTurn } = this.#options;
    inTurn((turn) => this.#writeLot(turn)).catch((error: unknown) => {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
      this.#goOn();
    });
  }

  /** The next lot is in the queue before this one is over, so that both may have the same turn. */
  async #writeLot(turn: number): Promise<void> {
    const lot = this.#waiting.splice(0, this.#nextLot());
    try {
      const items = lot.map(({ item }) => item);
      const outcomes = await this.#options.write(items, turn);
      for (const [index, { resolve }] of lot.entries()) resolve(outcomes[index] as Outcome);
    } catch (error) {
      for (const { reject } of lot) reject(error);
    }
    this.#goOn();
  }

  #goOn(): void {
    if (this.#waiting.length > 0) {
      this.#schedule();
      return;
    }
    this.#isScheduled = false;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #nextLot(): number {
    const { sizeOf, maxBatchSize: largest } = this.#options;
    let size = 0;
    const end = this.#waiting.findIndex(({ item }, index) => {
      size += sizeOf(item);
      return index >= maxBatchItems || (index > 0 && size > largest);
    });
    return end === -1 ? this.#waiting.length : end;
  }
}
