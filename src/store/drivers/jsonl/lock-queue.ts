import { stopwatch } from "../../../clock.js";
import type { Lock } from "./lock.js";
import { sleep } from "./lock.js";

/** So long the lock is kept where more is to be done; others who want it are then let in. In milliseconds. */
const maxHoldMs = 20;
/** Longer than those who wait for the lock take to look again. */
const yieldPauseMs = 5;

/** After so many things to do a process counts as a busy one. */
const busyAfterTasks = 32;
/** So long a busy process keeps the lock where nothing is to be done: soon there will be. In milliseconds. */
const lingerMs = 2;

interface Task {
  /** Never fails: who asked for it is told. */
  readonly run: (turn: number) => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/**
 * Does one thing after the other under the lock of the store. What is waiting when one is done comes in the same
 * turn, so that a busy process takes the lock once for many things.
 */
export class LockQueue {
  readonly #open: () => Lock;
  #tasks: Task[] = [];
  #turn = 0;
  #isRunning = false;
  #onIdle: (() => void)[] = [];
  #yieldedAt = 0;
  #done = 0;
  #onTask = (): void => undefined;

  constructor(open: () => Lock) {
    this.#open = open;
  }

  /** The work is told its turn: within one, nobody else has had the lock. */
  run<T>(work: (turn: number) => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = async (turn: number): Promise<T> => work(turn);
      const run = (turn: number): Promise<void> => begin(turn).then(resolve, reject);
      this.#tasks.push({ run, reject });
      if (this.#isRunning) this.#onTask();
      else void this.#runAll();
    });
  }

  /** Resolves once nothing is being done. */
  async idle(): Promise<void> {
    this.#onTask();
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
      do {
        this.#done++;
        await this.#tasks.shift()?.run(this.#turn);
        if (this.#tasks.length === 0 && this.#done >= busyAfterTasks && !lock.hasWaiters())
          await this.#linger();
      } while (this.#tasks.length > 0 && stopwatch() - startedAt < maxHoldMs);
    } finally {
      release();
    }
    if (this.#tasks.length === 0 || stopwatch() - this.#yieldedAt < maxHoldMs) return;
    if (lock.hasWaiters()) await sleep(yieldPauseMs);
    this.#yieldedAt = stopwatch();
  }

  /** To take the lock again costs more than what is done under it; whoever else wants it has it at once. */
  async #linger(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, lingerMs);
      this.#onTask = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#onTask = () => undefined;
  }
}
