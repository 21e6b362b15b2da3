import { existsSync, readdirSync, renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { wrapReadErrors } from "./store-errors.js";
import type { Files } from "./files.js";
import {
  isNotFound,
  readAt,
  readDerivedIfExists,
  readIfExists,
  syncOrTruncate,
  writeAll,
  writeOrTruncate,
} from "./files.js";
import { checksum } from "../../../digest/sha256.js";
import type { Shelf, ShelfEntry } from "../../../model/store.js";
import { makeDirectory } from "../../files.js";
import { isNotRegular, openRegularFile } from "../../regular-file.js";

/** Runs work under the lock of the store. */
type RunLocked = <T>(work: () => T) => Promise<T>;

/** Implements a shelf with files; every change runs under the lock. */
export function fileShelf(shelf: ShelfFiles, locked: RunLocked, where: string): Shelf {
  return {
    get: (key) => Promise.resolve(wrapReadErrors(where, () => shelf.get(key))),
    put: (entries) => (entries.length === 0 ? Promise.resolve() : locked(() => shelf.put(entries))),
    update: (key, change) =>
      locked(() => {
        const before = shelf.get(key);
        const after = change(before);
        if (after !== undefined) shelf.put([after]);
        return after ?? before;
      }),
    remove: (shouldRemove) =>
      wrapReadErrors(where, () => shelf.leaves()).length === 0
        ? Promise.resolve(0)
        : locked(() => shelf.remove(shouldRemove)),
    entries: () => shelfEntries(shelf, where),
    extent() {
      const size = wrapReadErrors(where, () =>
        shelf.leaves().reduce((sum, leaf) => sum + shelf.sizeOf(leaf), 0),
      );
      return Promise.resolve({ size, where });
    },
  };
}

// eslint-disable-next-line @typescript-eslint/require-await -- other drivers await
async function* shelfEntries(shelf: ShelfFiles, where: string): AsyncGenerator<ShelfEntry> {
  for (const leaf of wrapReadErrors(where, () => shelf.leaves()))
    yield* wrapReadErrors(where, () => shelf.entriesOf(leaf));
}

/** A file with more than this after compaction is split. */
const maxFileBytes = 128 * 1024;
/** One other file is checked for expired values per this many new values. */
const valuesPerCompaction = 64;
const maxCompactions = 8;
const digits = "0123456789abcdef";
const noBytes = Buffer.alloc(0);

interface ShelfOptions {
  readonly files: Files;
  readonly now: () => number;
  /** Syncs every write to the disk. False: the values can be computed again, so a damaged file is replaced. */
  readonly durable: boolean;
  /** Adds a checksum to every line. Not needed where the reader checks the value by its hash. */
  readonly checked?: boolean;
}

/**
 * Keeps the latest value of each key in JSON lines. A new value is appended; compaction removes older and expired
 * ones. A shelf starts as one file. A file that becomes too large is split into sixteen by the next hex digit of the
 * keys' checksums, so a lookup reads a small file, however many keys there are. A "leaf" is the checksum prefix that
 * names a file. Writers hold the lock of the store; readers need no lock.
 */
export class ShelfFiles {
  readonly #directory: string;
  readonly #options: ShelfOptions;
  #exists = false;

  constructor(directory: string, options: ShelfOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  get(key: string): ShelfEntry | undefined {
    return findEntry(this.#read(checksum(key)), key);
  }

  /** Reads the file for a checksum. Retries if the file is split between finding and reading it. */
  #read(sum: string): Buffer {
    // A file is split at most once per digit of the checksum.
    for (let tries = sum.length; tries > 0; tries--) {
      const leaf = this.#leafOf(sum);
      const bytes = leaf === undefined ? noBytes : this.#readLeaf(leaf);
      if (bytes !== undefined) return bytes;
    }
    return noBytes;
  }

  /** Returns undefined if there is no file. */
  #readLeaf(leaf: string): Buffer | undefined {
    const read = this.#options.durable ? readIfExists : readDerivedIfExists;
    return read(this.#path(leaf));
  }

  put(entries: readonly ShelfEntry[]): void {
    this.#make();
    const byLeaf = new Map<string, string>();
    for (const entry of entries) {
      const sum = checksum(entry.key);
      const leaf = this.#leafOf(sum) ?? this.#newLeaf(sum);
      byLeaf.set(leaf, (byLeaf.get(leaf) ?? "") + this.#format(entry));
    }
    for (const [leaf, lines] of byLeaf) this.#append(leaf, lines);
    this.#compactOtherFiles(entries);
  }

  remove(shouldRemove: (entry: ShelfEntry) => boolean): number {
    let removed = 0;
    let remaining = 0;
    const changed = new Map<string, readonly ShelfEntry[]>();
    for (const leaf of this.leaves()) {
      const entries = this.entriesOf(leaf);
      const kept = entries.filter((entry) => !shouldRemove(entry));
      remaining += kept.length;
      removed += entries.length - kept.length;
      if (kept.length < entries.length) changed.set(leaf, kept);
    }
    // An empty file of a split shelf stays: its existence shows how the shelf is split.
    if (remaining === 0) for (const leaf of this.#allLeaves()) unlinkSync(this.#path(leaf));
    else for (const [leaf, kept] of changed) this.#rewrite(leaf, kept);
    return removed;
  }

  /**
   * Returns the leaves in use. A leaf below another one is a part of an interrupted split and does not count. Longest
   * first: a reader that is overtaken by a split then still finds the parts.
   */
  leaves(): readonly string[] {
    const leaves = this.#allLeaves();
    const isInUse = (leaf: string): boolean =>
      !leaves.some((other) => other !== leaf && leaf.startsWith(other));
    return leaves.length === 1 ? leaves : leaves.filter(isInUse).sort((a, b) => b.length - a.length);
  }

  /** Includes the parts of a split that a crash interrupted. */
  #allLeaves(): readonly string[] {
    try {
      const names = readdirSync(this.#directory).filter((name) => /^all[0-9a-f]{0,7}\.jsonl$/.test(name));
      return names.map((name) => name.slice(3, -6));
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  /**
   * Returns the latest entry of each key of a file, including expired ones. Reads the parts if the file was split
   * meanwhile.
   */
  entriesOf(leaf: string): readonly ShelfEntry[] {
    const bytes = this.#readLeaf(leaf);
    if (bytes === undefined) {
      const parts = this.leaves().filter((each) => each !== leaf && each.startsWith(leaf));
      return parts.flatMap((part) => this.entriesOf(part));
    }
    return readEntries(bytes, leaf);
  }

  /** Returns true if a file has a line that cannot be read, or that a lookup would not find. */
  hasDamagedLine(leaf: string): boolean {
    if (statSync(this.#path(leaf), { throwIfNoEntry: false })?.isFile() === false) return true;
    const lines = entryLines(this.#readLeaf(leaf) ?? noBytes);
    return lines.some((line) => parseEntryIn(leaf, line) === undefined);
  }

  #format(entry: ShelfEntry): string {
    return formatEntry(entry, this.#options.checked === true);
  }

  sizeOf(leaf: string): number {
    return (this.#readLeaf(leaf) ?? noBytes).length;
  }

  /**
   * Finds the file for a checksum. The shortest name wins: during a split the whole file is complete, its parts may
   * not be.
   */
  #leafOf(sum: string): string | undefined {
    for (let length = 0; length < sum.length; length++) {
      const leaf = sum.slice(0, length);
      if (existsSync(this.#path(leaf))) return leaf;
    }
    return undefined;
  }

  /** Chooses a leaf for a checksum that has no file: the shortest one that does not contain an existing leaf. */
  #newLeaf(sum: string): string {
    const leaves = this.#allLeaves();
    for (let length = 0; length < sum.length; length++) {
      const leaf = sum.slice(0, length);
      if (!leaves.some((other) => other.startsWith(leaf))) return leaf;
    }
    return sum.slice(0, -1);
  }

  #append(leaf: string, lines: string): void {
    const { files, durable } = this.#options;
    const fd = this.#openToAppend(leaf);
    let mustCompact: boolean;
    try {
      const size = this.#removeIncompleteLine(fd);
      const before = size === 0 ? formatHeader(0) : "";
      writeOrTruncate(files, fd, Buffer.from(before + lines), size);
      if (durable) syncOrTruncate(files, fd, size);
      mustCompact = needsCompaction(readAt(files, fd, 0, 64), size);
    } finally {
      files.closeSync(fd);
    }
    if (mustCompact) this.#compact(leaf);
  }

  #openToAppend(leaf: string): number {
    const { files, durable } = this.#options;
    const path = this.#path(leaf);
    const open = (): number => openRegularFile(path, "a+", { files, mode: 0o600 });
    try {
      return open();
    } catch (error) {
      if (durable || !isNotRegular(error)) throw error;
      rmSync(path, { recursive: true });
      return open();
    }
  }

  /** Removes an incomplete last line, which a crash left and which was never acknowledged. Returns the new size. */
  #removeIncompleteLine(fd: number): number {
    const { files } = this.#options;
    const { size } = files.fstatSync(fd);
    if (size === 0 || readAt(files, fd, size - 1, 1)[0] === 10) return size;
    const complete = readAt(files, fd, 0, size).lastIndexOf("\n") + 1;
    files.ftruncateSync(fd, complete);
    return complete;
  }

  /** Compacts a few pseudo-randomly chosen files that contain expired values, so that none stay for long. */
  #compactOtherFiles(entries: readonly ShelfEntry[]): void {
    const now = this.#options.now();
    const step = Math.max(valuesPerCompaction, entries.length / maxCompactions);
    for (let index = 0; index < entries.length; index += Math.ceil(step)) {
      const { key = "", expires_at } = entries[index] ?? {};
      if (expires_at === undefined) continue;
      const leaf = this.#leafOf(checksum(`${key} tidies`));
      if (leaf === undefined) continue;
      if (containsExpired(this.#readLeaf(leaf) ?? noBytes, now)) this.#compact(leaf);
    }
  }

  #compact(leaf: string): void {
    const now = this.#options.now();
    this.#rewriteAndSplit(
      leaf,
      this.entriesOf(leaf).filter((entry) => !hasExpired(entry, now)),
    );
  }

  /** Rewrites a file and splits it while it is too large. The whole file is deleted last, when all parts exist. */
  #rewriteAndSplit(leaf: string, entries: readonly ShelfEntry[]): void {
    const size = entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
    if (size <= maxFileBytes || leaf.length >= 7) {
      this.#rewrite(leaf, entries);
      return;
    }
    for (const digit of digits) {
      const part = leaf + digit;
      this.#rewriteAndSplit(
        part,
        entries.filter(({ key }) => checksum(key).startsWith(part)),
      );
    }
    if (existsSync(this.#path(leaf))) unlinkSync(this.#path(leaf));
  }

  #rewrite(leaf: string, entries: readonly ShelfEntry[]): void {
    const { files, durable } = this.#options;
    const path = this.#path(leaf);
    const lines = entries.map((entry) => this.#format(entry)).join("");
    const temporary = `${path}.${process.pid}.tmp`;
    const fd = openRegularFile(temporary, "w", { files, mode: 0o600 });
    try {
      writeAll(files, fd, Buffer.from(formatHeader(lines.length) + lines));
      if (durable) files.fdatasyncSync(fd);
    } finally {
      files.closeSync(fd);
    }
    renameSync(temporary, path);
  }

  #make(): void {
    if (!this.#exists) makeDirectory(this.#directory, 0o700);
    this.#exists = true;
  }

  #path(leaf: string): string {
    return `${this.#directory}/all${leaf}.jsonl`;
  }
}

/** A file is compacted when it has doubled since the last compaction, and never below this size. */
const minCompactionBytes = 16 * 1024;

/** The first line of a shelf file: the size above which it is compacted. */
const formatHeader = (live: number): string => `{"tidied_at":${Math.max(minCompactionBytes, 2 * live)}}\n`;

function needsCompaction(header: Buffer, size: number): boolean {
  const threshold = /^\{"tidied_at":(\d+)\}/.exec(header.toString("latin1"))?.[1];
  return size > Number(threshold ?? minCompactionBytes);
}

function formatEntry({ key, group, expires_at, value }: ShelfEntry, isChecked: boolean): string {
  const json = JSON.stringify({ key, group, expires_at, value });
  return isChecked ? `${json.slice(0, -1)},"sum":"${checksum(json)}"}\n` : `${json}\n`;
}

/** Returns the latest entry of a key. */
function findEntry(bytes: Buffer, key: string): ShelfEntry | undefined {
  const start = `\n{"key":${JSON.stringify(key)},`;
  // The last match can be an incomplete line that a crash left, or damaged; then the one before it counts.
  for (let at = bytes.lastIndexOf(start); at > 0; at = bytes.lastIndexOf(start, at - 1)) {
    const end = bytes.indexOf("\n", at + 1);
    const entry = end === -1 ? undefined : parseEntry(bytes.toString("utf8", at + 1, end));
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** Returns the latest entry of each key: those that `findEntry` finds in the file of a leaf, and no others. */
function readEntries(bytes: Buffer, leaf: string): readonly ShelfEntry[] {
  const latest = new Map<string, ShelfEntry>();
  for (const line of entryLines(bytes)) {
    const entry = parseEntryIn(leaf, line);
    if (entry !== undefined) latest.set(entry.key, entry);
  }
  return [...latest.values()];
}

/** Returns the complete lines after the header. An incomplete line can follow the last newline. */
const entryLines = (bytes: Buffer): readonly string[] => bytes.toString("utf8").split("\n").slice(1, -1);

/** Returns undefined for an entry that belongs into the file of another leaf. */
function parseEntryIn(leaf: string, line: string): ShelfEntry | undefined {
  const entry = parseEntry(line);
  return entry !== undefined && checksum(entry.key).startsWith(leaf) ? entry : undefined;
}

/** Checks for expired entries without parsing them. */
function containsExpired(bytes: Buffer, now: number): boolean {
  const times = bytes.toString("latin1").matchAll(/^\{"key":"[^"]*","group":"[^"]*","expires_at":(\d+)/gm);
  return [...times].some(([, time]) => Number(time) <= now);
}

const hasExpired = ({ expires_at }: ShelfEntry, now: number): boolean =>
  expires_at !== undefined && now >= expires_at;

const sumPattern = /,"sum":"([0-9a-f]{8})"\}$/;

/** Returns undefined for a line that was damaged, or whose key is spelled in another way than a lookup expects. */
function parseEntry(line: string): ShelfEntry | undefined {
  try {
    const entry = parseChecked(line);
    return entry !== undefined && line.startsWith(`{"key":${JSON.stringify(entry.key)},`) ? entry : undefined;
  } catch {
    return undefined;
  }
}

function parseChecked(line: string): ShelfEntry | undefined {
  const sum = sumPattern.exec(line)?.[1];
  if (sum === undefined) return onlyKnownFields(JSON.parse(line) as ShelfEntry);
  const json = `${line.slice(0, -sumLength)}}`;
  return checksum(json) === sum ? (JSON.parse(json) as ShelfEntry) : undefined;
}

const knownFields: ReadonlySet<string> = new Set(["key", "group", "expires_at", "value"]);

/** Returns undefined if there is another field: it may be a damaged checksum. */
const onlyKnownFields = (entry: ShelfEntry): ShelfEntry | undefined =>
  Object.keys(entry).every((name) => knownFields.has(name)) ? entry : undefined;

/** The length of `,"sum":"…"}`. */
const sumLength = 18;
