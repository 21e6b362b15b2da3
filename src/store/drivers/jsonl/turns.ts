import { stopwatch } from "../../../clock.js";
import type { Lock } from "./lock.js";
import { pause } from "./lock.js";

/** So long the lock is kept where more is to be done; others who want it are then let in. In milliseconds. */
const longest = 20;
/** Longer than those who wait for the lock take to look again. */
const courtesy = 5;

interface Task {
  /** Never fails: who asked for it is told. */
  readonly run: (turn: number) => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/**
 * Does one thing after the other under the lock of the store. What is waiting when one is done comes in the same
 * turn, so that a busy process takes the lock once for many things.
 */
export class Turns {
  readonly #open: () => Lock;
  #tasks: Task[] = [];
  #turn = 0;
  #isRunning = false;
  #onIdle: (() => void)[] = [];
  #yieldedAt = 0;

  constructor(open: () => Lock) {
    this.#open = open;
  }

  /** The work is told its turn: within one, nobody else has had the lock. */
  take<T>(work: (turn: number) => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = async (turn: number): Promise<T> => work(turn);
      const run = (turn: number): Promise<void> => begin(turn).then(resolve, reject);
      this.#tasks.push({ run, reject });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  /** Resolves once nothing is being done. */
  async idle(): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    this.#yieldedAt = stopwatch();
    while (this.#tasks.length > 0) {
      try {
        await this.#runTurn(this.#open());
      } catch (error) {
        // Without the lock nothing can be done; whoever came meanwhile would only wait as long once more.
        for (const { reject } of this.#tasks.splice(0)) reject(error);
      }
    }
    this.#isRunning = false;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  async #runTurn(lock: Lock): Promise<void> {
    const release = await lock.acquire();
    const startedAt = stopwatch();
    this.#turn++;
    try {
      do await this.#tasks.shift()?.run(this.#turn);
      while (this.#tasks.length > 0 && stopwatch() - startedAt < longest);
    } finally {
      release();
    }
    if (this.#tasks.length === 0 || stopwatch() - this.#yieldedAt < longest) return;
    if (lock.isWanted()) await pause(courtesy);
    this.#yieldedAt = stopwatch();
  }
}
