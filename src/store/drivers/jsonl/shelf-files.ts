import { readFileSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import { checksum } from "../../../digest/checksum.js";
import type { ShelfEntry } from "../../../model/store.js";
import { makeDirectory } from "../../make-directory.js";
import type { Files } from "./files.js";
import { isMissing, readAt, writeAll } from "./files.js";

/** A bucket is tidied when it has grown to twice what was live the last time, but not before this. */
const smallestTidied = 16 * 1024;

/**
 * The latest value of each key, in JSON lines. Keys are spread over 4,096 files, so that a look-up reads
 * little, however many there are. Who writes holds the lock of the store; reading needs none.
 */
export class ShelfFiles {
  readonly #directory: string;
  readonly #files: Files;
  readonly #now: () => number;
  #exists = false;

  constructor(directory: string, files: Files, now: () => number) {
    this.#directory = directory;
    this.#files = files;
    this.#now = now;
  }

  get(key: string): ShelfEntry | undefined {
    const bytes = readBytes(this.#path(bucketOf(key)));
    const at = bytes.lastIndexOf(`\n{"key":${JSON.stringify(key)},`);
    const end = at === -1 ? -1 : bytes.indexOf("\n", at + 1);
    return end === -1 ? undefined : parseEntry(bytes.toString("utf8", at + 1, end));
  }

  put(entries: readonly ShelfEntry[], { durable = false } = {}): void {
    this.#make();
    const buckets = new Map<string, string>();
    for (const { key, group, expires_at, value } of entries) {
      const line = `${JSON.stringify({ key, group, expires_at, value })}\n`;
      const bucket = bucketOf(key);
      buckets.set(bucket, (buckets.get(bucket) ?? "") + line);
    }
    for (const [bucket, lines] of buckets) this.#append(bucket, lines, durable);
    this.#tidySomewhere(entries);
  }

  remove(isDoomed: (entry: ShelfEntry) => boolean): number {
    let removed = 0;
    for (const bucket of this.buckets()) {
      const entries = this.entriesOf(bucket);
      const kept = entries.filter((entry) => !isDoomed(entry));
      if (kept.length === entries.length) continue;
      removed += entries.length - kept.length;
      this.#rewrite(bucket, kept);
    }
    return removed;
  }

  buckets(): readonly string[] {
    try {
      return readdirSync(this.#directory)
        .filter((name) => /^[0-9a-f]{3}\.jsonl$/.test(name))
        .map((name) => name.slice(0, 3));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** The latest entry of each key of a bucket, expired or not. */
  entriesOf(bucket: string): readonly ShelfEntry[] {
    const latest = new Map<string, ShelfEntry>();
    for (const line of readBytes(this.#path(bucket)).toString("utf8").split("\n")) {
      const entry = line.startsWith('{"key":') ? parseEntry(line) : undefined;
      if (entry !== undefined) latest.set(entry.key, entry);
    }
    return [...latest.values()];
  }

  sizeOf(bucket: string): number {
    return readBytes(this.#path(bucket)).length;
  }

  #append(bucket: string, lines: string, durable: boolean): void {
    const fd = this.#files.openSync(this.#path(bucket), "a+", 0o600);
    let grown: boolean;
    try {
      const { size } = this.#files.fstatSync(fd);
      const beginning = readAt(this.#files, fd, 0, 64).toString("latin1");
      // A crash may have left half a line.
      const whole = size > 0 && readAt(this.#files, fd, size - 1, 1)[0] === 10;
      const before = size === 0 ? tidiedAt(smallestTidied) : whole ? "" : "\n";
      writeAll(this.#files, fd, Buffer.from(before + lines));
      if (durable) this.#files.fdatasyncSync(fd);
      grown = size > Number(/^\{"tidied_at":(\d+)\}/.exec(beginning)?.[1] ?? Infinity);
    } finally {
      this.#files.closeSync(fd);
    }
    if (grown) this.#tidy(bucket);
  }

  /** With each new value one other bucket gives up what has expired, so nothing expired stays for long. */
  #tidySomewhere([first]: readonly ShelfEntry[]): void {
    if (first?.expires_at === undefined) return;
    const bucket = checksum(`${first.key} tidies`).slice(-3);
    const now = this.#now();
    if (this.entriesOf(bucket).some((entry) => hasExpired(entry, now))) this.#tidy(bucket);
  }

  #tidy(bucket: string): void {
    const now = this.#now();
    this.#rewrite(
      bucket,
      this.entriesOf(bucket).filter((entry) => !hasExpired(entry, now)),
    );
  }

  #rewrite(bucket: string, entries: readonly ShelfEntry[]): void {
    const path = this.#path(bucket);
    if (entries.length === 0) {
      unlinkSync(path);
      return;
    }
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    const temporary = `${path}.${process.pid}.tmp`;
    const fd = this.#files.openSync(temporary, "w", 0o600);
    try {
      writeAll(this.#files, fd, Buffer.from(tidiedAt(Math.max(smallestTidied, 2 * lines.length)) + lines));
      this.#files.fdatasyncSync(fd);
    } finally {
      this.#files.closeSync(fd);
    }
    renameSync(temporary, path);
  }

  #make(): void {
    if (!this.#exists) makeDirectory(this.#directory, 0o700);
    this.#exists = true;
  }

  #path(bucket: string): string {
    return `${this.#directory}/${bucket}.jsonl`;
  }
}

const tidiedAt = (bytes: number): string => `{"tidied_at":${bytes}}\n`;

const bucketOf = (key: string): string => checksum(key).slice(-3);

export const hasExpired = ({ expires_at }: ShelfEntry, now: number): boolean =>
  expires_at !== undefined && now >= expires_at;

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return Buffer.alloc(0);
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
