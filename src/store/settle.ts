import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { TimeSource } from "../clock.js";
import { systemTime } from "../clock.js";
import { DecisionError } from "../errors.js";
import type { FileKind, FoundFile, FoundFiles } from "./definition-directory.js";
import { displayPath, filesStamp, findFiles } from "./definition-directory.js";

/** A file that was modified more recently may still be being saved: truncated, or written in part. */
const idleSettledAfterMs = 50;

/**
 * On a busy machine the process that saves a file may have to wait for its next turn, so that a file has to be unchanged
 * for longer: up to ten times as long, from four processes for each core on.
 */
const settledAfter = (load: number): number =>
  Math.min(maxSettledAfterMs, Math.max(idleSettledAfterMs, (idleSettledAfterMs * load) / 4));
const maxSettledAfterMs = 10 * idleSettledAfterMs;

/** How long a file may keep changing before it is refused. */
const maxWaitMs = 1_000;

/** The load of this moment counts, too: its average follows a sudden rise slowly. */
export const settlingTime: TimeSource = {
  ...systemTime,
  load: () => Math.max(systemTime.load(), runningProcesses() / availableParallelism()),
};

/** Returns how many processes run or wait for a core; 0 except on Linux. */
function runningProcesses(): number {
  try {
    return Number(/ (\d+)\//.exec(readFileSync("/proc/loadavg", "latin1"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

interface SettleOptions {
  readonly kind: FileKind;
  readonly directory: string;
  /** A single file of the directory. */
  readonly onlyFile?: string | undefined;
  readonly time: TimeSource;
}

/** Finds definition files that are not being saved. */
export class SettledFiles {
  readonly #options: SettleOptions;
  readonly #time: TimeSource;
  readonly #startedAt: number;
  /** Grows while the machine gets busier. */
  #settledAfter: number;

  constructor(options: SettleOptions) {
    this.#options = options;
    this.#time = options.time;
    this.#startedAt = this.#time.stopwatch();
    this.#settledAfter = settledAfter(this.#time.load());
  }

  /**
   * Waits until no file was modified within the last 50 ms (longer on a busy machine), or all were seen unchanged for as
   * long, which counts for modification times in the future. Throws if they keep changing for a second.
   */
  async find(): Promise<readonly FoundFile[]> {
    let found = this.#find();
    let unchangedSince = this.#time.stopwatch();
    for (;;) {
      const recent = mostRecent(found, this.#time.now(), this.#settledAfter);
      const remaining = this.#settledAfter - (this.#time.stopwatch() - unchangedSince);
      if (recent === undefined || remaining <= 0) return found.files;
      this.assertInTime(recent.path);
      await this.#sleep(Math.min(recent.remaining, remaining));
      const next = this.#find();
      if (filesStamp(next) !== filesStamp(found)) unchangedSince = this.#time.stopwatch();
      found = next;
    }
  }

  /** A process that wakes late shows how long the one that saves the file may have to wait for its turn. */
  async #sleep(milliseconds: number): Promise<void> {
    const startedAt = this.#time.stopwatch();
    await this.#time.sleep(milliseconds);
    const late = this.#time.stopwatch() - startedAt - milliseconds;
    const longest = Math.max(this.#settledAfter, settledAfter(this.#time.load()), 3 * late);
    this.#settledAfter = Math.min(maxSettledAfterMs, longest);
  }

  /** Throws if files have been changing for too long. */
  assertInTime(path: string): void {
    if (this.#time.stopwatch() - this.#startedAt < maxWaitMs) return;
    const shown = displayPath(this.#options.directory, path);
    throw new DecisionError("definition_invalid", `\`${shown}\` keeps changing`, {
      hint: "run the command again when the definitions are saved",
    });
  }

  #find(): FoundFiles {
    const { kind, directory, onlyFile } = this.#options;
    return findFiles(kind, directory, onlyFile);
  }
}

interface RecentChange {
  readonly path: string;
  /** Milliseconds until it counts as settled. */
  readonly remaining: number;
}

/** Returns the latest of the recent changes. */
function mostRecent(
  { files, folders }: FoundFiles,
  now: number,
  settledAfterMs: number,
): RecentChange | undefined {
  let latest: RecentChange | undefined;
  for (const { path, modifiedAt } of [...folders, ...files]) {
    const remaining = settledAfterMs - (now - modifiedAt);
    if (remaining > (latest?.remaining ?? 0)) latest = { path, remaining };
  }
  return latest;
}
