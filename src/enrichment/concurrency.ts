/** Runs at most `max` tasks at a time. Others wait in order of arrival. */
export class ConcurrencyLimit {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** Processes one batch at a time. Items added while a batch is running form the next batch. */
export function batchWhileBusy<Item>(
  process: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let waiting: Item[] = [];
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  return (item) => {
    waiting.push(item);
    next ??= running.then(() => {
      const items = waiting;
      waiting = [];
      next = undefined;
      const done = process(items);
      running = done.catch(() => undefined);
      return done;
    });
    return next;
  };
}
