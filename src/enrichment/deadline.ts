/** Time as a fetch sees it, in microseconds. */
export interface Timing {
  /** Of a clock that only ever goes forward. */
  readonly now: () => number;
  /** Over sooner when the signal says so. */
  readonly sleep: (microseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** When a fetch must be over, with all that it does. */
export class Deadline {
  readonly #end: number;
  readonly #timing: Timing;
  readonly #passed: Promise<undefined>;
  readonly #over = new AbortController();
  readonly #kept = new AbortController();

  constructor(microseconds: number, timing: Timing) {
    this.#timing = timing;
    this.#end = timing.now() + microseconds;
    this.#passed = timing.sleep(microseconds, this.#kept.signal).then(() => {
      if (!this.#kept.signal.aborted) this.#over.abort();
      return undefined;
    });
  }

  /** Says when it has passed. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  left(): number {
    return this.#end - this.#timing.now();
  }

  /** What comes of it, or undefined where that takes too long. */
  async race<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.#passed]);
  }

  /** For one that was kept: nothing is to be ended any more. */
  cancel(): void {
    this.#kept.abort();
  }
}
