import { readdirSync, rmSync, closeSync, fstatSync, statSync } from "node:fs";
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
import { LogIndex, chunkSize } from "./log-index.js";
import type { PostingsState } from "./postings.js";
import { postingsFileName } from "./postings.js";
import { DamagedIndexError } from "./page-sum.js";
import { stopwatch } from "../../../../clock.js";
import { makeDirectory } from "../../../files.js";
import { isNotFound } from "../files.js";
import { openLock } from "../lock.js";
import { segmentName } from "../segments.js";
import { runInSlices } from "../slices.js";
import { openRegularFile } from "../../../regular-file.js";

interface OpenIndexOptions {
  /** Saves the index if it has at least this many new rows. */
  readonly minRowsToSave?: number;
  /** Ignores the saved index and builds a new one. */
  readonly rebuild?: boolean;
}

type IndexOptions = OpenIndexOptions & Pick<IndexOpenerOptions, "progress">;

const maxAttempts = 5;

/**
 * Opens the index of a log and brings it up to date, one at a time: a second query finds what the first has saved, and
 * does not read the log again.
 */
export class IndexOpener {
  readonly #log: string;
  readonly #options: IndexOpenerOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(log: string, options: IndexOpenerOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** Reads the log in slices, so that it does not block the event loop. */
  open(options: OpenIndexOptions): Promise<LogIndex> {
    const opened = this.#last.then(async () => {
      const { progress, beginCheck } = this.#options;
      const endCheck = beginCheck();
      const index = await openIndex(this.#log, { progress, ...options });
      endCheck(index);
      return index;
    });
    this.#last = opened.catch(() => undefined);
    return opened;
  }

  /** Begins a check of an index that is already open; see `IndexOpenerOptions`. */
  beginCheck(): (index: LogIndex) => void {
    return this.#options.beginCheck();
  }
}

interface IndexOpenerOptions {
  readonly progress?: Progress | undefined;
  /** Called before all segments are checked; the returned function is called after it. */
  readonly beginCheck: () => (index: LogIndex) => void;
}

async function openIndex(log: string, options: IndexOptions): Promise<LogIndex> {
  let { rebuild = false } = options;
  for (let tries = 1; ; tries++) {
    try {
      return await openOnce(log, { ...options, rebuild });
    } catch (error) {
      const isDamaged = error instanceof DamagedIndexError;
      // Retries, because a segment can be pruned while it is read.
      if ((!isDamaged && !isNotFound(error)) || tries === maxAttempts) throw error;
      rebuild ||= isDamaged;
    }
  }
}

async function openOnce(
  log: string,
  { progress, minRowsToSave: minRows = 1, rebuild = false }: IndexOptions,
): Promise<LogIndex> {
  const { index, segments } = (rebuild ? undefined : openSaved(log)) ?? createIndex(log);
  try {
    await runInSlices(index.catchUpInSlices(log, segments, { progress }));
    saveIndex(index, minRows);
    return index;
  } catch (error) {
    index.close();
    throw error;
  }
}

/** An index, and the segments of the log at the moment when the index matched it. */
interface FoundIndex {
  readonly index: LogIndex;
  readonly segments: readonly SegmentStats[];
}

/** Starts an empty index. */
function createIndex(log: string): FoundIndex {
  return { index: new LogIndex(indexDirectory(log), undefined), segments: statSegments(log) };
}

const indexDirectory = (log: string): string => `${log}/index`;

/** Opens the saved index; undefined if none matches the log. Retries if another process replaces it meanwhile. */
function openSaved(log: string): FoundIndex | undefined {
  let state = readIndexState(indexDirectory(log));
  for (let tries = 0; tries < maxAttempts && state !== undefined; tries++) {
    // After reading the state: the log can be ahead of its index, never behind.
    const segments = statSegments(log);
    const index = matchesLog(log, state, segments) ? tryOpen(log, state) : undefined;
    if (index !== undefined) return { index, segments };
    const before = state;
    state = readIndexState(indexDirectory(log));
    if (state?.rows_file === before.rows_file && state.rows.count === before.rows.count) return undefined;
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
 * Saves the index if it has enough new rows. Skips it if the directory is not writable or another process is saving.
 * Returns `outdated` if another process has saved a different index, which the caller must open instead. Throws if a
 * file of the index is damaged.
 */
function saveIndex(index: LogIndex, minRows = 1): "saved" | "skipped" | "outdated" {
  if (index.rows.unsaved.count < minRows) return "skipped";
  try {
    makeDirectory(index.directory, 0o700);
    const release = openLock(`${index.directory}/lock`).tryAcquire();
    if (release === undefined) return "skipped";
    try {
      return writeIndex(index);
    } finally {
      release();
    }
  } catch (error) {
    if (error instanceof DamagedIndexError) throw error;
    return "skipped";
  }
}

/** Appends rows and postings, then replaces the state. Readers use only what the state covers, so it comes last. */
function writeIndex(index: LogIndex): "saved" | "outdated" {
  const { directory, rowsFile, rows, postings } = index;
  const current = readIndexState(directory);
  const isOurs =
    current?.rows_file === rowsFile ? current.rows.count === rows.savedCount : rows.savedCount === 0;
  if (!isOurs) return "outdated";
  const written = { rows: rows.write(), postings: postings.write() };
  writeIndexState(directory, toIndexState(index, written));
  const hasSameFiles = current?.rows_file === rowsFile && hasSameTables(current.postings, written.postings);
  rows.markSaved(written.rows);
  postings.markSaved(written.postings);
  if (!hasSameFiles) removeUnusedFiles(directory, rowsFile, written.postings);
  return "saved";
}

function toIndexState(index: LogIndex, written: Pick<IndexState, "rows" | "postings">): IndexState {
  const { rowsFile, first, segments, lastHash, hasGaps: gaps, hasChanges: changed, shapes } = index;
  return {
    rows_file: rowsFile,
    ...written,
    first,
    segments,
    last_hash: lastHash,
    gaps,
    changed,
    ...shapes.state,
  };
}

const hasSameTables = ({ tables }: PostingsState, other: PostingsState): boolean =>
  tables.at(-1)?.file === other.tables.at(-1)?.file;

/** Removes files that the state does not refer to. Processes that still read them have them open. */
function removeUnusedFiles(directory: string, rowsFile: string, { tables }: PostingsState): void {
  const kept = new Set([rowsFile, postingsFileName(rowsFile), ...tables.map(({ file }) => file)]);
  for (const name of readdirSync(directory))
    if (/^(?:rows|postings|keys)-/.test(name) && !kept.has(name))
      rmSync(`${directory}/${name}`, { force: true });
}

/** The longest time until changes by other processes are seen. */
const recheckAfterMs = 50;
/** Reading fewer rows again, and checking their hashes, takes less time than saving them. */
const minRowsToSave = 8;
/** While the index is open, unsaved rows are lost only if the process dies, so it is saved less often. */
const minRowsToSaveWhileOpen = 1024;

/** An index that stays open between queries. Sees appends of this process at once, those of others within 50 ms. */
export class LiveIndex {
  readonly #log: string;
  readonly #opener: IndexOpener;
  /** Called when the index is opened again: open segment files may be outdated. */
  readonly #onReplaced: () => void;
  #index: LogIndex | undefined;
  #opening: Promise<void> | undefined;
  #isClosed = false;
  /** The newest segment that the index covers. */
  #newest: { readonly first: number; readonly fd: number } | undefined;
  #checkedAt = 0;
  #change: "none" | "grown" | "changed" = "none";
  /** The number of queries that are using each index. */
  readonly #readers = new Map<LogIndex, number>();

  constructor(log: string, opener: IndexOpener, onReplaced: () => void) {
    this.#log = log;
    this.#opener = opener;
    this.#onReplaced = onReplaced;
  }

  /** Call after this process has appended to the log (`grown`) or pruned it (`changed`). */
  notifyChange(change: "grown" | "changed"): void {
    if (this.#change !== "changed") this.#change = change;
  }

  /** Returns the current index. It stays open, and only grows, until `release`. */
  async acquire(): Promise<LogIndex> {
    for (;;) {
      const index = this.#opening === undefined ? this.#current() : undefined;
      if (index !== undefined) {
        this.#readers.set(index, (this.#readers.get(index) ?? 0) + 1);
        return index;
      }
      await this.#reopen({});
    }
  }

  release(index: LogIndex): void {
    const left = (this.#readers.get(index) ?? 1) - 1;
    if (left > 0) this.#readers.set(index, left);
    else {
      this.#readers.delete(index);
      if (index !== this.#index) index.close();
      else if (this.#isClosed) this.#drop();
    }
  }

  /** Replaces a damaged index by one that is built from the log. */
  async rebuild(damaged: LogIndex): Promise<void> {
    if (this.#index === damaged) await this.#reopen({ rebuild: true });
  }

  close(): void {
    this.#isClosed = true;
    try {
      if (this.#index !== undefined) saveIndex(this.#index, minRowsToSave);
    } catch {
      // A damaged index is rebuilt by the next process that reads it.
    }
    this.#drop();
  }

  /** Returns undefined if the index must be opened again. */
  #current(): LogIndex | undefined {
    return this.#index !== undefined && this.#isCurrent(this.#index) ? this.#index : undefined;
  }

  /** Opens the index again; queries that arrive meanwhile wait for it. */
  #reopen(options: Pick<OpenIndexOptions, "rebuild">): Promise<void> {
    return (this.#opening ??= this.#replace(options).finally(() => {
      this.#opening = undefined;
    }));
  }

  async #replace(options: Pick<OpenIndexOptions, "rebuild">): Promise<void> {
    this.#drop();
    // Before the log is read: what is appended meanwhile may not be covered.
    this.#change = "none";
    const index = await this.#opener.open({ minRowsToSave, ...options });
    this.#onReplaced();
    this.#index = index;
    this.#checkedAt = stopwatch();
  }

  /**
   * Brings the index up to date. Returns false if it no longer matches the log, if another process saved another one,
   * or if so much was appended that it must be read in slices.
   */
  #isCurrent(index: LogIndex): boolean {
    try {
      return this.#refresh(index);
    } catch (error) {
      // A segment was pruned meanwhile, or the index is damaged and must be opened again.
      if (isNotFound(error) || error instanceof DamagedIndexError) return false;
      throw error;
    }
  }

  #refresh(index: LogIndex): boolean {
    const now = stopwatch();
    const isDue = this.#change === "changed" || now - this.#checkedAt > recheckAfterMs;
    if (!isDue && this.#change === "none") return true;
    const isSameLog = isDue ? this.#checkAllSegments(index) : this.#checkNewestSegment(index);
    if (isDue) this.#checkedAt = now;
    this.#change = "none";
    return isSameLog && saveIndex(index, minRowsToSaveWhileOpen) !== "outdated";
  }

  #checkAllSegments(index: LogIndex): boolean {
    const endCheck = this.#opener.beginCheck();
    const current = statSegments(this.#log);
    const { segments, lastHash } = index;
    if (!coversSameLog(this.#log, { segments, last_hash: lastHash }, current)) return false;
    if (index.bytesBehind(current) > chunkSize) return false;
    index.catchUp(this.#log, current);
    endCheck(index);
    return true;
  }

  /** Cheaper than checking all: after an append of this process, normally only the newest segment has grown. */
  #checkNewestSegment(index: LogIndex): boolean {
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
    return statSync(next, { throwIfNoEntry: false }) === undefined || this.#checkAllSegments(index);
  }

  #open(first: number): number {
    if (this.#newest?.first !== first) {
      this.#closeNewest();
      this.#newest = { first, fd: openRegularFile(`${this.#log}/${segmentName(first)}`, "r") };
    }
    return this.#newest.fd;
  }

  #closeNewest(): void {
    if (this.#newest !== undefined) closeSync(this.#newest.fd);
    this.#newest = undefined;
  }

  /** Forgets the index, and closes it unless a query still uses it. */
  #drop(): void {
    this.#closeNewest();
    const index = this.#index;
    this.#index = undefined;
    if (index !== undefined && !this.#readers.has(index)) index.close();
  }
}
