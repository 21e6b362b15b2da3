import { stopwatch } from "../../../clock.js";
import type { Lock } from "./lock.js";

/** How long the lock is held while tasks remain, before it goes to the next process that waits. */
const maxHoldMs = 20;

/** A process that has run this many tasks counts as busy. */
const busyAfterTasks = 32;
/** How long a busy process keeps the lock without a task: the next one usually arrives soon. */
const lingerMs = 2;

interface Task {
  /** Never rejects: the result goes to the caller of `LockQueue.run`. */
  readonly run: (acquisition: number) => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs tasks one at a time under the lock of the store. Tasks that are already queued run under the same
 * acquisition, so a busy process acquires the lock once for many tasks.
 */
export class LockQueue {
  readonly #open: () => Lock;
  #tasks: Task[] = [];
  #acquisition = 0;
  #isRunning = false;
  #onIdle: (() => void)[] = [];
  #taskCount = 0;
  /** Ends the wait of `#linger`. */
  #onTask = (): void => undefined;

  constructor(open: () => Lock) {
    this.#open = open;
  }

  /**
   * Runs the work under the lock. It receives the number of the acquisition: between two tasks with the same
   * number no other process has held the lock.
   */
  run<T>(work: (acquisition: number) => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = async (acquisition: number): Promise<T> => work(acquisition);
      const run = (acquisition: number): Promise<void> => begin(acquisition).then(resolve, reject);
      this.#tasks.push({ run, reject });
      if (this.#isRunning) this.#onTask();
      else void this.#runAll();
    });
  }

  /** Resolves when the queue is empty and the lock is released. */
  async idle(): Promise<void> {
    this.#onTask();
    if (this.#isRunning) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#tasks.length > 0) {
      try {
        await this.#runUnderLock(this.#open());
      } catch (error) {
        // The lock could not be acquired. Tasks queued meanwhile fail too: each would wait for the same timeout.
        for (const { reject } of this.#tasks.splice(0)) reject(error);
      }
    }
    this.#isRunning = false;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  async #runUnderLock(lock: Lock): Promise<void> {
    const release = await lock.acquire();
    const startedAt = stopwatch();
    this.#acquisition++;
    try {
      do {
        this.#taskCount++;
        await this.#tasks.shift()?.run(this.#acquisition);
        if (this.#tasks.length === 0 && this.#taskCount >= busyAfterTasks && !lock.hasWaiters())
          await this.#linger();
      } while (this.#tasks.length > 0 && stopwatch() - startedAt < maxHoldMs);
    } finally {
      release();
    }
  }

  /** Keeps the lock for a moment: acquiring it again costs more than most tasks. Runs only if no process waits. */
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
