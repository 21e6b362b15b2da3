/** Lets so many in at a time; the others wait in the order in which they came. */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }
}

/** Does one thing after the other; what is asked for meanwhile is done together. */
export function batchWhileBusy<Item>(
  work: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let waiting: Item[] = [];
  let next: Promise<void> | undefined;
  let underWay: Promise<void> = Promise.resolve();
  return (item) => {
    waiting.push(item);
    next ??= underWay.then(() => {
      const items = waiting;
      waiting = [];
      next = undefined;
      const done = work(items);
      underWay = done.catch(() => undefined);
      return done;
    });
    return next;
  };
}
