import { formatTimestamp, microsecondsOf } from "../../src/record/timestamp.js";
import { noon } from "../store/entries.js";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock in microseconds that advances only on request or while all tasks wait for it. */
export class VirtualTime {
  #now = microsecondsOf(noon);
  #sleepers: readonly Sleeper[] = [];

  readonly now = (): number => this.#now;

  readonly clock = (): string => formatTimestamp(this.#now);

  readonly sleep = (microseconds: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const sleeper = { at: this.#now + Math.max(0, microseconds), wake: resolve };
      this.#sleepers = [...this.#sleepers, sleeper];
      signal?.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        resolve();
      });
    });

  /** Advances the clock until the work is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    const state = { done: false };
    const settled = work.finally(() => (state.done = true));
    settled.catch(() => undefined);
    await settling();
    while (!state.done) {
      const [next] = this.#sleepers.toSorted((a, b) => a.at - b.at);
      if (next === undefined) throw new Error("nobody will ever wake up");
      this.#wake(next);
      await settling();
    }
    return settled;
  }

  /** Advances the clock by a duration and runs everything due in it. */
  async pass(microseconds: number): Promise<void> {
    const end = this.#now + microseconds;
    for (;;) {
      await settling();
      const [next] = this.#sleepers.toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) break;
      this.#wake(next);
    }
    this.#now = end;
  }

  /** Sets the wall clock. */
  set(timestamp: string): void {
    this.#now = microsecondsOf(timestamp);
  }

  #wake(sleeper: Sleeper): void {
    this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
    this.#now = Math.max(this.#now, sleeper.at);
    sleeper.wake();
  }
}

/** Runs all pending microtasks. */
export const settling = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
