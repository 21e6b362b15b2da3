import type { ExpiredSegments } from "./expired-segments.js";
import { isNotFound } from "./files.js";
import { stopwatch } from "../../../clock.js";
import { parseDuration } from "../../../definition/duration.js";
import { DecisionError } from "../../../errors.js";

interface RetentionOptions {
  /** The directory of the log. */
  readonly log: string;
  /** For how long records are kept, such as `90d`. */
  readonly duration: string;
  /** In microseconds since 1970. */
  readonly now: () => number;
  /** Removes the segments, unless another process has done it. */
  readonly remove: (expired: ExpiredSegments) => Promise<void>;
  /** Called with the reason if expired records could not be removed. */
  readonly onError: (error: unknown) => void;
}

/** A long-running process looks for expired segments this often. */
const intervalMs = 3_600_000;

/**
 * Removes expired segments in the background after an append: after the first one of a process, when a segment is full,
 * and every hour. Nothing that fails here fails a decision.
 */
export class Retention {
  readonly #options: RetentionOptions;
  readonly #duration: number;
  #checkedAt = -Infinity;
  #checkedSegment = 0;
  #running: Promise<void> | undefined;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#duration = parseDuration(options.duration) ?? 0;
    if (this.#duration > 0) return;
    throw new DecisionError("usage", `\`retention\` must be a duration (got \`${options.duration}\`)`, {
      hint: "such as 90d",
    });
  }

  /** Starts a search if one is due. `segment` is the one that was appended to. */
  afterAppend(segment: number): void {
    if (this.#running !== undefined) return;
    const now = stopwatch();
    if (segment === this.#checkedSegment && now - this.#checkedAt < intervalMs) return;
    this.#checkedAt = now;
    this.#checkedSegment = segment;
    this.#running = this.#apply().finally(() => (this.#running = undefined));
  }

  /** Resolves when no search is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #apply(): Promise<void> {
    const { log, now, remove, onError } = this.#options;
    try {
      // The caller gets the answer first.
      await new Promise((resolve) => setImmediate(resolve));
      const { findExpired } = await import("./expired-segments.js");
      const expired = await findExpired(log, now() - this.#duration);
      if (expired === undefined) return;
      await remove(expired);
      // There may be more of them.
      this.#checkedSegment = 0;
    } catch (error) {
      // Another process removed a segment meanwhile.
      if (!isNotFound(error)) onError(error);
    }
  }
}
