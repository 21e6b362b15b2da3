import type { FSWatcher } from "node:fs";
import { closeSync, readdirSync, unlinkSync, watch } from "node:fs";
import { openRegularFile } from "../../regular-file.js";

/** Precedes the name of a ticket. Names of lock files contain a dot, so none of them looks like a ticket. */
const prefix = "wait-";

/**
 * The place of a process in the queue for a lock: an empty file, named after the moment since the machine started and
 * the process. The owner that hands the lock over removes the file, which wakes the process that watches it. Errors are
 * ignored: without its file, a process looks for the lock from time to time.
 */
export class LockTicket {
  readonly name: string;
  readonly #path: string;
  #watcher: FSWatcher | undefined;
  #isQueued = false;
  #wake = (): void => undefined;

  constructor(directory: string, owner: string) {
    this.name = `${String(process.hrtime.bigint()).padStart(20, "0")}-${owner}`;
    this.#path = `${directory}/${prefix}${this.name}`;
  }

  /** Whether the file is there, and removing it will wake this process. */
  get isQueued(): boolean {
    return this.#isQueued;
  }

  /** Creates the file, in its old place if it was removed. Returns whether it is new. */
  queue(): boolean {
    try {
      closeSync(openRegularFile(this.#path, "wx", { mode: 0o600 }));
    } catch (error) {
      this.#isQueued = (error as NodeJS.ErrnoException).code === "EEXIST" && this.#watcher !== undefined;
      return false;
    }
    this.#watcher?.close();
    this.#watcher = watchFile(this.#path, () => {
      this.#isQueued = false;
      this.#wake();
    });
    this.#isQueued = this.#watcher !== undefined;
    return true;
  }

  /** Resolves when the file is removed, at the latest after this time. */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close(): void {
    this.#watcher?.close();
    unlinkIfPossible(this.#path);
  }
}

function watchFile(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    // The number of watchers of a system is limited.
    return watch(path, onChange).on("error", () => undefined);
  } catch {
    return undefined;
  }
}

/** Returns the tickets in a directory, oldest first. */
export function ticketsIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
      .sort();
  } catch {
    return [];
  }
}

/** Removes a ticket, which wakes its process. */
export const removeTicket = (directory: string, ticket: string): void => {
  unlinkIfPossible(`${directory}/${prefix}${ticket}`);
};

function unlinkIfPossible(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    return;
  }
}
