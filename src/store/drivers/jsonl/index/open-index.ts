import { readdirSync, rmSync, closeSync, fstatSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { SegmentStats, IndexState } from "./index-state.js";
import {
  statSegments,
  matchesLog,
  readIndexState,
  writeIndexState,
  coversSameLog,
  hashEndingAt,
} from "./index-state.js";
import type { Progress } from "./log-index.js";
import { LogIndex } from "./log-index.js";
import type { PostingsState } from "./postings.js";
import { postingsFileName } from "./postings.js";
import { stopwatch } from "../../../../clock.js";
import { makeDirectory } from "../../../files.js";
import { isModifiedAfterHead } from "../damage-detection.js";
import { isNotFound } from "../files.js";
import { openLock } from "../lock.js";
import { segmentName } from "../segments.js";
import { verifyStore } from "../verify-store.js";

interface OpenIndexOptions {
  readonly progress?: Progress | undefined;
  /** So many new rows are worth being kept. */
  readonly minRowsToSave?: number;
}

const maxAttempts = 5;

/** The index of a log as it is at this moment. */
export function openIndex(log: string, options: OpenIndexOptions = {}): LogIndex {
  for (let tries = 1; ; tries++) {
    try {
      return openOnce(log, options);
    } catch (error) {
      // A segment may be pruned while it is read.
      if (!isNotFound(error) || tries === maxAttempts) throw error;
    }
  }
}

function openOnce(log: string, { progress, minRowsToSave: keepFrom = 1 }: OpenIndexOptions): LogIndex {
  const { index, found } = openSaved(log) ?? createIndex(log, progress);
  index.catchUp(log, found, progress);
  saveIndex(index, keepFrom);
  return index;
}

/** An index, and the log as it was found when that was seen to fit. */
interface FoundIndex {
  readonly index: LogIndex;
  readonly found: readonly SegmentStats[];
}

/** Going through the lines does not check them; that is only worth its time where somebody has touched them. */
function createIndex(log: string, progress?: Progress): FoundIndex {
  const index = new LogIndex(indexDirectory(log), undefined);
  if (isModifiedAfterHead(log)) index.damage = verifyStore(dirname(log), { progress }).problems[0]?.message;
  return { index, found: statSegments(log) };
}

const indexDirectory = (log: string): string => `${log}/index`;

/** Undefined where there is none that fits. What is kept may be replaced while we look; then we look again. */
function openSaved(log: string): FoundIndex | undefined {
  let state = readIndexState(indexDirectory(log));
  for (let tries = 0; tries < maxAttempts && state !== undefined; tries++) {
    // Found after the state was read: a log is ahead of what is kept of it, never behind.
    const found = statSegments(log);
    const index = matchesLog(log, state, found) ? tryOpen(log, state) : undefined;
    if (index !== undefined) return { index, found };
    const before = state;
    state = readIndexState(indexDirectory(log));
    if (state?.rows_file === before.rows_file && state.rows === before.rows) return undefined;
  }
  return undefined;
}

function tryOpen(log: string, state: IndexState): LogIndex | undefined {
  try {
    return new LogIndex(indexDirectory(log), state);
  } catch {
    return undefined;
  }
}

/**
 * Keeps what was read where it is at least so many rows, unless nothing can be written here or somebody else
 * is about to. Tells where somebody else already has: then what they kept is to be used.
 */
function saveIndex(index: LogIndex, atLeast = 1): "kept" | "left" | "theirs" {
  if (index.rows.unsaved.count < atLeast) return "left";
  try {
    makeDirectory(index.directory, 0o700);
    const release = openLock(`${index.directory}/lock`).tryAcquire();
    if (release === undefined) return "left";
    try {
      return writeIndex(index);
    } finally {
      release();
    }
  } catch {
    return "left";
  }
}

/** What the state does not speak of yet is not there for anybody, so it comes last. */
function writeIndex(index: LogIndex): "kept" | "theirs" {
  const { directory, rowsFile, rows, postings } = index;
  const current = readIndexState(directory);
  const isOurs = current?.rows_file === rowsFile ? current.rows === rows.kept : rows.kept === 0;
  if (!isOurs) return "theirs";
  rows.write();
  const written = postings.write();
  writeIndexState(directory, toIndexState(index, written));
  const isSwept = current?.rows_file === rowsFile && hasSameTables(current.postings, written);
  rows.markSaved();
  postings.markSaved(written);
  if (!isSwept) removeUnusedFiles(directory, rowsFile, written);
  return "kept";
}

function toIndexState(index: LogIndex, postings: PostingsState): IndexState {
  const { rowsFile, count, first, segments, lastHash, hasGaps: gaps, damage, shapes } = index;
  return {
    rows_file: rowsFile,
    rows: count,
    first,
    segments,
    last_hash: lastHash,
    gaps,
    ...(damage !== undefined && { damage }),
    postings,
    ...shapes.state,
  };
}

const hasSameTables = ({ tables }: PostingsState, other: PostingsState): boolean =>
  tables.at(-1)?.file === other.tables.at(-1)?.file;

/** Removes what no state speaks of any more; who still reads it has it open. */
function removeUnusedFiles(directory: string, rowsFile: string, { tables }: PostingsState): void {
  const kept = new Set([rowsFile, postingsFileName(rowsFile), ...tables.map(({ file }) => file)]);
  for (const name of readdirSync(directory))
    if (/^(?:rows|postings|keys)-/.test(name) && !kept.has(name))
      rmSync(`${directory}/${name}`, { force: true });
}

/** In milliseconds: what others do is seen that late at most. */
const recheckAfterMs = 50;
/** So many new rows are read again in less time than keeping them takes. */
const minRowsToSave = 64;
/** While the index is open, only what is lost if the process dies has to be read again. */
const minRowsToSaveWhileOpen = 1024;

interface LiveIndexOptions {
  readonly progress?: Progress | undefined;
  /** Called before the whole log is looked at; what it gives, after that. */
  readonly beginCheck: () => (index: LogIndex) => void;
  /** What was read before may no longer be there. */
  readonly onReplaced: () => void;
}

/** An index that stays open, for a process that asks again and again. What this process adds is seen at once. */
export class LiveIndex {
  readonly #log: string;
  readonly #options: LiveIndexOptions;
  #index: LogIndex | undefined;
  /** The newest segment that the index covers. */
  #newest: { readonly first: number; readonly fd: number } | undefined;
  #lookedAt = 0;
  #news: "none" | "grown" | "changed" = "none";
  /** How many are in the midst of reading each index. */
  readonly #readers = new Map<LogIndex, number>();

  constructor(log: string, options: LiveIndexOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** This process has added to the log; or has done more than that. */
  tell(news: "grown" | "changed"): void {
    if (this.#news !== "changed") this.#news = news;
  }

  /** The index as the log is now. It stays as it is, but for growing, until it is given back. */
  acquire(): LogIndex {
    const index = this.#current();
    this.#readers.set(index, (this.#readers.get(index) ?? 0) + 1);
    return index;
  }

  release(index: LogIndex): void {
    const left = (this.#readers.get(index) ?? 1) - 1;
    if (left > 0) this.#readers.set(index, left);
    else {
      this.#readers.delete(index);
      if (index !== this.#index) index.close();
    }
  }

  close(): void {
    if (this.#index !== undefined) saveIndex(this.#index, minRowsToSave);
    this.#leave();
  }

  #current(): LogIndex {
    if (this.#index === undefined || !this.#isCurrent(this.#index)) {
      this.#leave();
      this.#options.onReplaced();
      const looked = this.#options.beginCheck();
      const { progress } = this.#options;
      this.#index = openIndex(this.#log, { progress, minRowsToSave: minRowsToSave });
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
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  #refreshed(index: LogIndex): boolean {
    const now = stopwatch();
    const isDue = this.#news === "changed" || now - this.#lookedAt > recheckAfterMs;
    if (!isDue && this.#news === "none") return true;
    const isFollowed = isDue ? this.#lookAtAll(index) : this.#lookAtNewest(index);
    if (isDue) this.#lookedAt = now;
    this.#news = "none";
    return isFollowed && saveIndex(index, minRowsToSaveWhileOpen) !== "theirs";
  }

  #lookAtAll(index: LogIndex): boolean {
    const looked = this.#options.beginCheck();
    const found = statSegments(this.#log);
    const { segments, lastHash } = index;
    if (!coversSameLog(this.#log, { segments, last_hash: lastHash }, found)) return false;
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
      if (hashEndingAt(fd, newest.bytes) !== lastHash) return false;
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
