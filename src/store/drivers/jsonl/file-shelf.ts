import { existsSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import { wrapReadErrors } from "./store-errors.js";
import type { Files } from "./files.js";
import { isNotFound, readAt, readIfExists, syncOrTruncate, writeAll, writeOrTruncate } from "./files.js";
import { checksum } from "../../../digest/sha256.js";
import type { Shelf, ShelfEntry } from "../../../model/store.js";
import { makeDirectory } from "../../files.js";

/** Does something while nobody else writes. */
type RunLocked = <T>(work: () => T) => Promise<T>;

/** Files that keep the latest value of each key, changed by one at a time. */
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
    remove: (isDoomed) =>
      shelf.leaves().length === 0 ? Promise.resolve(0) : locked(() => shelf.remove(isDoomed)),
    entries: () => shelfEntries(shelf, where),
    extent() {
      const size = wrapReadErrors(where, () => shelf.leaves()).reduce(
        (sum, leaf) => sum + shelf.sizeOf(leaf),
        0,
      );
      return Promise.resolve({ size, where });
    },
  };
}

// eslint-disable-next-line @typescript-eslint/require-await -- other drivers do wait
async function* shelfEntries(shelf: ShelfFiles, where: string): AsyncGenerator<ShelfEntry> {
  for (const leaf of wrapReadErrors(where, () => shelf.leaves()))
    yield* wrapReadErrors(where, () => shelf.entriesOf(leaf));
}

/** A file that is larger than this when tidied is divided. */
const maxFileBytes = 128 * 1024;
/** One other file is tidied with each so many new values. */
const valuesPerCompaction = 64;
const maxCompactions = 8;
const digits = "0123456789abcdef";
const noBytes = Buffer.alloc(0);

interface ShelfOptions {
  readonly files: Files;
  readonly now: () => number;
  /** Waits for the disk. */
  readonly durable: boolean;
}

/**
 * The latest value of each key, in JSON lines. All are in one file at first; one that has grown too large is
 * divided into sixteen by the next digit of the keys' checksums, so a look-up reads little, however many
 * there are. Who writes holds the lock of the store; reading needs none.
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

  /** The file of a checksum; it may be divided between being found and being read. */
  #read(sum: string): Buffer {
    // It cannot be divided more often than it has digits.
    for (let tries = sum.length; tries > 0; tries--) {
      const leaf = this.#leafOf(sum);
      const bytes = leaf === undefined ? noBytes : readIfExists(this.#path(leaf));
      if (bytes !== undefined) return bytes;
    }
    return noBytes;
  }

  put(entries: readonly ShelfEntry[]): void {
    this.#make();
    const byLeaf = new Map<string, string>();
    for (const entry of entries) {
      const sum = checksum(entry.key);
      const leaf = this.#leafOf(sum) ?? this.#newLeaf(sum);
      byLeaf.set(leaf, (byLeaf.get(leaf) ?? "") + formatEntry(entry));
    }
    for (const [leaf, lines] of byLeaf) this.#append(leaf, lines);
    this.#tidyElsewhere(entries);
  }

  remove(isDoomed: (entry: ShelfEntry) => boolean): number {
    let removed = 0;
    let left = 0;
    const changed = new Map<string, readonly ShelfEntry[]>();
    for (const leaf of this.leaves()) {
      const entries = this.entriesOf(leaf);
      const kept = entries.filter((entry) => !isDoomed(entry));
      left += kept.length;
      removed += entries.length - kept.length;
      if (kept.length < entries.length) changed.set(leaf, kept);
    }
    // A file of a divided shelf stays though it is empty: that it is there tells how far the shelf is divided.
    if (left === 0) for (const leaf of this.#allLeaves()) unlinkSync(this.#path(leaf));
    else for (const [leaf, kept] of changed) this.#rewrite(leaf, kept);
    return removed;
  }

  /** The files that count: how the checksums of their keys begin. The longest first, so that none seems undivided. */
  leaves(): readonly string[] {
    const leaves = this.#allLeaves();
    const isWhole = (leaf: string): boolean =>
      !leaves.some((other) => other !== leaf && leaf.startsWith(other));
    return leaves.length === 1 ? leaves : leaves.filter(isWhole).sort((a, b) => b.length - a.length);
  }

  /** Also the parts of a file that was being divided when a crash came. */
  #allLeaves(): readonly string[] {
    try {
      const names = readdirSync(this.#directory).filter((name) => /^all[0-9a-f]{0,8}\.jsonl$/.test(name));
      return names.map((name) => name.slice(3, -6));
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  /** The latest entry of each key of a file, expired or not; of its parts, where it was divided meanwhile. */
  entriesOf(leaf: string): readonly ShelfEntry[] {
    const bytes = readIfExists(this.#path(leaf));
    if (bytes === undefined) {
      const parts = this.leaves().filter((each) => each !== leaf && each.startsWith(leaf));
      return parts.flatMap((part) => this.entriesOf(part));
    }
    return readEntries(bytes);
  }

  sizeOf(leaf: string): number {
    return (readIfExists(this.#path(leaf)) ?? noBytes).length;
  }

  /** The shortest name counts: while a file is being divided, it is whole and its parts may not be. */
  #leafOf(sum: string): string | undefined {
    for (let length = 0; length < sum.length; length++) {
      const leaf = sum.slice(0, length);
      if (existsSync(this.#path(leaf))) return leaf;
    }
    return undefined;
  }

  /** Where there is no file for a checksum: one that takes the place of no other. */
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
    const fd = files.openSync(this.#path(leaf), "a+", 0o600);
    let mustBeTidied: boolean;
    try {
      const size = this.#cutHalfLine(fd);
      const before = size === 0 ? formatHeader(0) : "";
      writeOrTruncate(files, fd, Buffer.from(before + lines), size);
      if (durable) syncOrTruncate(files, fd, size);
      mustBeTidied = needsCompaction(readAt(files, fd, 0, 64), size);
    } finally {
      files.closeSync(fd);
    }
    if (mustBeTidied) this.#tidy(leaf);
  }

  /** A crash may have left half a line; what nobody was told of goes. Tells how long the file is then. */
  #cutHalfLine(fd: number): number {
    const { files } = this.#options;
    const { size } = files.fstatSync(fd);
    if (size === 0 || readAt(files, fd, size - 1, 1)[0] === 10) return size;
    const whole = readAt(files, fd, 0, size).lastIndexOf("\n") + 1;
    files.ftruncateSync(fd, whole);
    return whole;
  }

  /** With new values other files give up what has expired, so nothing expired stays for long. */
  #tidyElsewhere(entries: readonly ShelfEntry[]): void {
    const now = this.#options.now();
    const step = Math.max(valuesPerCompaction, entries.length / maxCompactions);
    for (let index = 0; index < entries.length; index += Math.ceil(step)) {
      const { key = "", expires_at } = entries[index] ?? {};
      if (expires_at === undefined) continue;
      const leaf = this.#leafOf(checksum(`${key} tidies`));
      if (leaf === undefined) continue;
      if (containsExpired(readIfExists(this.#path(leaf)) ?? noBytes, now)) this.#tidy(leaf);
    }
  }

  #tidy(leaf: string): void {
    const now = this.#options.now();
    this.#settle(
      leaf,
      this.entriesOf(leaf).filter((entry) => !hasExpired(entry, now)),
    );
  }

  /** Writes a file anew, divided as often as it is too large. The whole goes when its parts are there. */
  #settle(leaf: string, entries: readonly ShelfEntry[]): void {
    const size = entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
    if (size <= maxFileBytes || leaf.length >= 7) {
      this.#rewrite(leaf, entries);
      return;
    }
    for (const digit of digits) {
      const part = leaf + digit;
      this.#settle(
        part,
        entries.filter(({ key }) => checksum(key).startsWith(part)),
      );
    }
    if (existsSync(this.#path(leaf))) unlinkSync(this.#path(leaf));
  }

  #rewrite(leaf: string, entries: readonly ShelfEntry[]): void {
    const { files, durable } = this.#options;
    const path = this.#path(leaf);
    const lines = entries.map(formatEntry).join("");
    const temporary = `${path}.${process.pid}.tmp`;
    const fd = files.openSync(temporary, "w", 0o600);
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

/** A file is tidied when it has grown to twice what was live the last time, but not before this. */
const minCompactionBytes = 16 * 1024;

/** What a file of a shelf begins with: how large it may grow before it is tidied. */
const formatHeader = (live: number): string => `{"tidied_at":${Math.max(minCompactionBytes, 2 * live)}}\n`;

function needsCompaction(beginning: Buffer, size: number): boolean {
  return (
    size > Number(/^\{"tidied_at":(\d+)\}/.exec(beginning.toString("latin1"))?.[1] ?? minCompactionBytes)
  );
}

const formatEntry = ({ key, group, expires_at, value }: ShelfEntry): string =>
  `${JSON.stringify({ key, group, expires_at, value })}\n`;

/** The latest entry of a key. */
function findEntry(bytes: Buffer, key: string): ShelfEntry | undefined {
  const beginning = `\n{"key":${JSON.stringify(key)},`;
  // The last one may be half a line that a crash left behind; the one before it then counts.
  for (let at = bytes.lastIndexOf(beginning); at !== -1; at = bytes.lastIndexOf(beginning, at - 1)) {
    const end = bytes.indexOf("\n", at + 1);
    const entry = end === -1 ? undefined : parseEntry(bytes.toString("utf8", at + 1, end));
    if (entry !== undefined) return entry;
    if (at === 0) break;
  }
  return undefined;
}

/** The latest entry of each key. */
function readEntries(bytes: Buffer): readonly ShelfEntry[] {
  const latest = new Map<string, ShelfEntry>();
  // Behind the last newline there may be half a line.
  for (const line of bytes.toString("utf8").split("\n").slice(0, -1)) {
    const entry = line.startsWith('{"key":') ? parseEntry(line) : undefined;
    if (entry !== undefined) latest.set(entry.key, entry);
  }
  return [...latest.values()];
}

/** Whether anything in it has expired; cheaper than looking at each entry. */
function containsExpired(bytes: Buffer, now: number): boolean {
  const times = bytes.toString("latin1").matchAll(/^\{"key":"[^"]*","group":"[^"]*","expires_at":(\d+)/gm);
  return [...times].some(([, time]) => Number(time) <= now);
}

const hasExpired = ({ expires_at }: ShelfEntry, now: number): boolean =>
  expires_at !== undefined && now >= expires_at;

function parseEntry(line: string): ShelfEntry | undefined {
  try {
    return JSON.parse(line) as ShelfEntry;
  } catch {
    return undefined;
  }
}
