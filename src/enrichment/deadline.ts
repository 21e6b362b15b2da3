/** The clock of a fetch, in microseconds. */
export interface Timing {
  /** A monotonic clock. */
  readonly now: () => number;
  /** Ends early when the signal is aborted. */
  readonly sleep: (microseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** The longest delay that a Node timer supports, in milliseconds. */
export const maxTimerDelay = 2 ** 31 - 1;

/** The time limit of a fetch, with all its retries and waits. */
export class Deadline {
  readonly #end: number;
  readonly #timing: Timing;
  readonly #passed: Promise<undefined>;
  readonly #expiry = new AbortController();
  readonly #cancellation = new AbortController();

  constructor(microseconds: number, timing: Timing) {
    this.#timing = timing;
    this.#end = timing.now() + microseconds;
    this.#passed = timing.sleep(microseconds, this.#cancellation.signal).then(() => {
      if (!this.#cancellation.signal.aborted) this.#expiry.abort();
      return undefined;
    });
  }

  /** Aborted when the deadline passes. */
  get signal(): AbortSignal {
    return this.#expiry.signal;
  }

  left(): number {
    return this.#end - this.#timing.now();
  }

  /** Returns the result of the work, or undefined if the deadline passes first. */
  async race<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.#passed]);
  }

  /** Stops the timer. The signal is not aborted any more. */
  cancel(): void {
    this.#cancellation.abort();
  }
}
