import { existsSync, readFileSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import { checksum } from "../../../digest/checksum.js";
import type { ShelfEntry } from "../../../model/store.js";
import { makeDirectory } from "../../make-directory.js";
import type { Files } from "./files.js";
import { isMissing, readAt, syncOrCutBack, writeAll, writeOrCutBack } from "./files.js";

/** A file is tidied when it has grown to twice what was live the last time, but not before this. */
const smallestTidied = 16 * 1024;
/** A file that is larger than this when tidied is divided. */
const largestFile = 128 * 1024;
/** One other file is tidied with each so many new values. */
const valuesPerTidying = 64;
const mostTidied = 8;
const digits = "0123456789abcdef";

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
    const bytes = this.#read(checksum(key));
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

  /** The file of a checksum; it may be divided between being found and being read. */
  #read(sum: string): Buffer {
    // It cannot be divided more often than it has digits.
    for (let tries = sum.length; tries > 0; tries--) {
      const leaf = this.#leafOf(sum);
      const bytes = leaf === undefined ? nothing : readBytes(this.#path(leaf));
      if (bytes !== undefined) return bytes;
    }
    return nothing;
  }

  put(entries: readonly ShelfEntry[]): void {
    this.#make();
    const byLeaf = new Map<string, string>();
    for (const { key, group, expires_at, value } of entries) {
      const line = `${JSON.stringify({ key, group, expires_at, value })}\n`;
      const leaf = this.#leafOf(checksum(key)) ?? this.#newLeaf(checksum(key));
      byLeaf.set(leaf, (byLeaf.get(leaf) ?? "") + line);
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
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** The latest entry of each key of a file, expired or not; of its parts, where it was divided meanwhile. */
  entriesOf(leaf: string): readonly ShelfEntry[] {
    const bytes = readBytes(this.#path(leaf));
    if (bytes === undefined) {
      const parts = this.leaves().filter((each) => each !== leaf && each.startsWith(leaf));
      return parts.flatMap((part) => this.entriesOf(part));
    }
    const latest = new Map<string, ShelfEntry>();
    // Behind the last newline there may be half a line.
    for (const line of bytes.toString("utf8").split("\n").slice(0, -1)) {
      const entry = line.startsWith('{"key":') ? parseEntry(line) : undefined;
      if (entry !== undefined) latest.set(entry.key, entry);
    }
    return [...latest.values()];
  }

  sizeOf(leaf: string): number {
    return (readBytes(this.#path(leaf)) ?? nothing).length;
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
    let isGrown: boolean;
    try {
      const size = this.#cutHalfLine(fd);
      const beginning = readAt(files, fd, 0, 64).toString("latin1");
      const before = size === 0 ? tidiedAt(smallestTidied) : "";
      writeOrCutBack(files, fd, Buffer.from(before + lines), size);
      if (durable) syncOrCutBack(files, fd, size);
      isGrown = size > Number(/^\{"tidied_at":(\d+)\}/.exec(beginning)?.[1] ?? smallestTidied);
    } finally {
      files.closeSync(fd);
    }
    if (isGrown) this.#tidy(leaf);
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
    const step = Math.max(valuesPerTidying, entries.length / mostTidied);
    for (let index = 0; index < entries.length; index += Math.ceil(step)) {
      const { key = "", expires_at } = entries[index] ?? {};
      if (expires_at === undefined) continue;
      const leaf = this.#leafOf(checksum(`${key} tidies`));
      if (leaf === undefined) continue;
      const text = (readBytes(this.#path(leaf)) ?? nothing).toString("latin1");
      const times = text.matchAll(/^\{"key":"[^"]*","group":"[^"]*","expires_at":(\d+)/gm);
      if ([...times].some(([, time]) => Number(time) <= now)) this.#tidy(leaf);
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
    if (size <= largestFile || leaf.length >= 7) {
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
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    const temporary = `${path}.${process.pid}.tmp`;
    const fd = files.openSync(temporary, "w", 0o600);
    try {
      writeAll(files, fd, Buffer.from(tidiedAt(Math.max(smallestTidied, 2 * lines.length)) + lines));
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

const tidiedAt = (bytes: number): string => `{"tidied_at":${bytes}}\n`;

const hasExpired = ({ expires_at }: ShelfEntry, now: number): boolean =>
  expires_at !== undefined && now >= expires_at;

const nothing = Buffer.alloc(0);

/** Undefined where the file is not there. */
function readBytes(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function parseEntry(line: string): ShelfEntry | undefined {
  try {
    return JSON.parse(line) as ShelfEntry;
  } catch {
    return undefined;
  }
}
