/** Enough to spread the cost of one sync. */
const maxBatchItems = 256;

interface PendingItem<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommitOptions<Item, Outcome> {
  /** Runs the write under the lock, in order; rejects if the lock cannot be acquired. */
  readonly runLocked: (write: (turn: number) => Promise<void>) => Promise<void>;
  readonly write: (items: readonly Item[], turn: number) => Promise<readonly Outcome[]>;
  readonly sizeOf: (item: Item) => number;
  readonly maxBatchSize: number;
}

/** Collects items that arrive in one turn of the event loop, or during the last write, and writes them in one batch. */
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

  /** Resolves when all added items are written or rejected. */
  async idle(): Promise<void> {
    if (this.#isScheduled) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(): void {
    const { runLocked } = this.#options;
    runLocked((acquisition) => this.#writeBatch(acquisition)).catch((error: unknown) => {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
      this.#continue();
    });
  }

  /** Schedules the next batch before this task ends, so that both can run under the same acquisition of the lock. */
  async #writeBatch(acquisition: number): Promise<void> {
    const batch = this.#waiting.splice(0, this.#nextBatchLength());
    try {
      const items = batch.map(({ item }) => item);
      const outcomes = await this.#options.write(items, acquisition);
      for (const [index, { resolve }] of batch.entries()) resolve(outcomes[index] as Outcome);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#continue();
  }

  #continue(): void {
    if (this.#waiting.length > 0) {
      this.#schedule();
      return;
    }
    this.#isScheduled = false;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #nextBatchLength(): number {
    const { sizeOf, maxBatchSize: largest } = this.#options;
    let size = 0;
    const end = this.#waiting.findIndex(({ item }, index) => {
      size += sizeOf(item);
      return index >= maxBatchItems || (index > 0 && size > largest);
    });
    return end === -1 ? this.#waiting.length : end;
  }
}
