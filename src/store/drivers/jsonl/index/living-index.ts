import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import { stopwatch } from "../../../../clock.js";
import { isMissing } from "../files.js";
import { segmentName } from "../segments.js";
import { findSegments, isSameLog, tailIn } from "./fits.js";
import type { LogIndex, Progress } from "./log-index.js";
import { openIndex } from "./open-index.js";
import { saveIndex } from "./save-index.js";

/** In milliseconds: what others do is seen that late at most. */
const patience = 50;
/** So many new rows are read again in less time than keeping them takes. */
const worthKeeping = 64;
/** While the index is open, only what is lost if the process dies has to be read again. */
const worthKeepingMeanwhile = 1024;

export interface LivingOptions {
  readonly progress?: Progress | undefined;
  /** Called before the whole log is looked at; what it gives, after that. */
  readonly onLook: () => (index: LogIndex) => void;
  /** What was read before may no longer be there. */
  readonly onReplaced: () => void;
}

/** An index that stays open, for a process that asks again and again. What this process adds is seen at once. */
export class LivingIndex {
  readonly #log: string;
  readonly #options: LivingOptions;
  #index: LogIndex | undefined;
  /** The newest segment that the index covers. */
  #newest: { readonly first: number; readonly fd: number } | undefined;
  #lookedAt = 0;
  #news: "none" | "grown" | "changed" = "none";
  /** How many are in the midst of reading each index. */
  readonly #readers = new Map<LogIndex, number>();

  constructor(log: string, options: LivingOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** This process has added to the log; or has done more than that. */
  tell(news: "grown" | "changed"): void {
    if (this.#news !== "changed") this.#news = news;
  }

  /** The index as the log is now. It stays as it is, but for growing, until it is given back. */
  take(): LogIndex {
    const index = this.#current();
    this.#readers.set(index, (this.#readers.get(index) ?? 0) + 1);
    return index;
  }

  giveBack(index: LogIndex): void {
    const left = (this.#readers.get(index) ?? 1) - 1;
    if (left > 0) this.#readers.set(index, left);
    else {
      this.#readers.delete(index);
      if (index !== this.#index) index.close();
    }
  }

  close(): void {
    if (this.#index !== undefined) saveIndex(this.#index, worthKeeping);
    this.#leave();
  }

  #current(): LogIndex {
    if (this.#index === undefined || !this.#isCurrent(this.#index)) {
      this.#leave();
      this.#options.onReplaced();
      const looked = this.#options.onLook();
      const { progress } = this.#options;
      this.#index = openIndex(this.#log, { progress, keepFrom: worthKeeping });
      looked(this.#index);
      this.#lookedAt = stopwatch();
      this.#news = "none";
    }
    return this.#index;
  }

  /** False where it is no longer the index of this log, or others have kept a newer one. */
  #isCurrent(index: LogIndex): boolean {
    try {
      return this.#refreshed(index);
    } catch (error) {
      // Pruned meanwhile.
      if (isMissing(error)) return false;
      throw error;
    }
  }

  #refreshed(index: LogIndex): boolean {
    const now = stopwatch();
    const isDue = this.#news === "changed" || now - this.#lookedAt > patience;
    if (!isDue && this.#news === "none") return true;
    const isFollowed = isDue ? this.#lookAtAll(index) : this.#lookAtNewest(index);
    if (isDue) this.#lookedAt = now;
    this.#news = "none";
    return isFollowed && saveIndex(index, worthKeepingMeanwhile) !== "theirs";
  }

  #lookAtAll(index: LogIndex): boolean {
    const looked = this.#options.onLook();
    const found = findSegments(this.#log);
    const { segments, lastHash } = index;
    if (!isSameLog(this.#log, { segments, last_hash: lastHash }, found)) return false;
    index.catchUp(this.#log, found, this.#options.progress);
    looked(index);
    return true;
  }

  /** As long as only the newest segment grows, nothing else need be asked for. */
  #lookAtNewest(index: LogIndex): boolean {
    const { segments, lastHash } = index;
    const newest = segments.at(-1);
    if (newest === undefined) return false;
    const fd = this.#open(newest.first);
    const { size, nlink, mtimeMs } = fstatSync(fd);
    if (nlink === 0 || size < newest.bytes) return false;
    if (size > newest.bytes) {
      if (tailIn(fd, newest.bytes) !== lastHash) return false;
      index.catchUp(this.#log, [{ first: newest.first, bytes: size, changedAt: mtimeMs }]);
    }
    const next = `${this.#log}/${segmentName(index.first + index.count)}`;
    return statSync(next, { throwIfNoEntry: false }) === undefined || this.#lookAtAll(index);
  }

  #open(first: number): number {
    if (this.#newest?.first !== first) {
      this.#closeNewest();
      this.#newest = { first, fd: openSync(`${this.#log}/${segmentName(first)}`, "r") };
    }
    return this.#newest.fd;
  }

  #closeNewest(): void {
    if (this.#newest !== undefined) closeSync(this.#newest.fd);
    this.#newest = undefined;
  }

  #leave(): void {
    this.#closeNewest();
    const index = this.#index;
    this.#index = undefined;
    if (index !== undefined && !this.#readers.has(index)) index.close();
  }
}
