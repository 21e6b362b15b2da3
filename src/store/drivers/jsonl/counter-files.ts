import type { Stats } from "node:fs";
import { readdirSync, renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import type { Files } from "./files.js";
import { isNotFound, openIfExists, readAt, readDerivedIfExists, systemFiles, writeAll } from "./files.js";
import { openSeal, sealJson } from "./index/sealed-json.js";
import type { PageSum } from "./index/page-sum.js";
import { areSumsEqual } from "./index/page-sum.js";
import { checksum } from "../../../digest/sha256.js";
import type { Counter } from "../../../model/store.js";
import { makeDirectory } from "../../files.js";
import { isNotRegular, openRegularFile } from "../../regular-file.js";

/** A million counters make files of about 25 KB. */
const bucketCount = 4096;
const tableLength = bucketCount * 8;
const emptySum: PageSum = { low: 0, high: 0 };
const newTable = (): Uint32Array<ArrayBuffer> => new Uint32Array(tableLength / 4);

/** The files of the counters do not match the head: they were damaged, removed or replaced by an older copy. */
export class DamagedCountersError extends Error {}

interface Bucket {
  readonly sum: PageSum;
  readonly counters: Readonly<Record<string, Counter>>;
}

/**
 * Counters on disk, in small files by the checksum of their names. Each file ends with its own checksum, `table` has
 * the checksum of each file, and the head of the log has a pin: the sum of all of them. So a counter is trusted only
 * if its file is the one that the last append wrote, and checking that reads two small files, however many counters
 * there are.
 */
export class CounterFiles {
  readonly #directory: string;
  readonly #files: Files;
  /** The table in memory and its pin. */
  #table: Uint32Array<ArrayBuffer> | undefined;
  #pin = "";
  readonly #buckets = new Map<number, Bucket>();

  constructor(directory: string, files: Files) {
    this.#directory = directory;
    this.#files = files;
  }

  /** Returns whether the table on disk is the one that a head names. */
  matches(pin: string | undefined): boolean {
    if (pin === undefined) return false;
    if (this.#table !== undefined && this.#pin === pin && !this.#isTableReplaced()) return true;
    const table = this.#readTable();
    if (table === undefined || pinOf(table) !== pin) return false;
    this.#table = table;
    this.#pin = pin;
    return true;
  }

  #isTableReplaced(): boolean {
    const table = statTable(this.#directory);
    return table !== undefined && (!table.isFile() || table.size === 0);
  }

  /** Returns a counter; undefined if it was never incremented. Requires that `matches` returned true. */
  get(name: string): Counter | undefined {
    const { counters } = this.#bucket(bucketOf(name));
    return Object.hasOwn(counters, name) ? counters[name] : undefined;
  }

  /** Returns all counters. Requires that `matches` returned true. */
  *entries(): Generator<readonly [string, Counter]> {
    for (let number = 0; number < bucketCount; number++) yield* Object.entries(this.#bucket(number).counters);
  }

  /** Writes counters and returns the new pin, which must be written to the head. Requires `matches`. */
  save(changed: ReadonlyMap<string, Counter>): string {
    const table = Uint32Array.from(this.#table ?? newTable());
    const buckets = [...byBucket(changed)].map(([number, entries]) => ({
      number,
      counters: { ...this.#bucket(number).counters, ...Object.fromEntries(entries) },
    }));
    // Until all is written, the files match no head.
    this.#table = undefined;
    makeDirectory(this.#directory, 0o700);
    for (const { number, counters } of buckets) {
      const { low, high } = this.#writeBucket(number, counters);
      table.set([low, high], number * 2);
    }
    this.#writeTable(
      table,
      buckets.map(({ number }) => number),
    );
    this.#table = table;
    this.#pin = pinOf(table);
    return this.#pin;
  }

  /** Replaces all counters and returns the new pin. */
  replace(all: ReadonlyMap<string, Counter>): string {
    makeDirectory(this.#directory, 0o700);
    for (const name of readdirSync(this.#directory))
      if (/^(?:[0-9a-f]{3}\.json(?:\.tmp)?|table)$/.test(name))
        rmSync(`${this.#directory}/${name}`, { recursive: true });
    this.#buckets.clear();
    this.#table = newTable();
    return this.save(all);
  }

  /** The names of all files whose content differs from these counters. */
  differences(all: ReadonlyMap<string, Counter>): readonly string[] {
    const expected = byBucket(all);
    const names: string[] = [];
    const table = newTable();
    for (let number = 0; number < bucketCount; number++) {
      const counters = expected.get(number);
      const sealed = counters && sealJson(bucketName(number), sortedRecord(Object.fromEntries(counters)));
      if (sealed !== undefined) table.set([sealed.sum.low, sealed.sum.high], number * 2);
      const found = readDerivedIfExists(`${this.#directory}/${bucketName(number)}`);
      if (!(sealed?.bytes.equals(found ?? noBytes) ?? found === undefined)) names.push(bucketName(number));
    }
    const found = this.#readTable();
    if (found?.some((each, at) => each !== table[at]) ?? true) names.push("table");
    return names;
  }

  #bucket(number: number): Bucket {
    const table = this.#table;
    if (table === undefined) throw new DamagedCountersError();
    const sum = { low: table[number * 2] ?? 0, high: table[number * 2 + 1] ?? 0 };
    if (areSumsEqual(sum, emptySum)) return { sum, counters: {} };
    const cached = this.#buckets.get(number);
    if (cached !== undefined && areSumsEqual(cached.sum, sum)) return cached;
    const name = bucketName(number);
    const opened = openSeal(name, readDerivedIfExists(`${this.#directory}/${name}`) ?? noBytes);
    if (opened === undefined || !areSumsEqual(opened.sum, sum)) throw new DamagedCountersError();
    return this.#remember(number, { sum, counters: opened.content as Bucket["counters"] });
  }

  #remember(number: number, bucket: Bucket): Bucket {
    if (this.#buckets.size >= maxCachedBuckets) this.#buckets.clear();
    this.#buckets.set(number, bucket);
    return bucket;
  }

  /** The rename makes the replacement atomic for readers. Not synced: what a power cut removes is counted again. */
  #writeBucket(number: number, counters: Readonly<Record<string, Counter>>): PageSum {
    const name = bucketName(number);
    const sorted = sortedRecord(counters);
    const { bytes, sum } = sealJson(name, sorted);
    const temporary = `${this.#directory}/${name}.tmp`;
    const fd = openRegularFile(temporary, "w", { files: this.#files, mode: 0o600 });
    try {
      writeAll(this.#files, fd, bytes);
    } finally {
      this.#files.closeSync(fd);
    }
    renameSync(temporary, `${this.#directory}/${name}`);
    this.#remember(number, { sum, counters: sorted });
    return sum;
  }

  #readTable(): Uint32Array<ArrayBuffer> | undefined {
    try {
      const fd = openIfExists(systemFiles, `${this.#directory}/table`, "r");
      if (fd === undefined) return newTable();
      try {
        const bytes = readAt(systemFiles, fd, 0, tableLength + 1);
        return bytes.length === tableLength ? new Uint32Array(new Uint8Array(bytes).buffer) : undefined;
      } finally {
        systemFiles.closeSync(fd);
      }
    } catch (error) {
      if (isNotRegular(error)) return undefined;
      throw error;
    }
  }

  /** Writes the entries of the changed files, or all of a new table. */
  #writeTable(table: Uint32Array<ArrayBuffer>, changed: readonly number[]): void {
    const path = `${this.#directory}/table`;
    const existing = openIfExists(this.#files, path, "r+");
    const fd = existing ?? openRegularFile(path, "w", { files: this.#files, mode: 0o600 });
    try {
      if (existing === undefined) writeAll(this.#files, fd, new Uint8Array(table.buffer), 0);
      else
        for (const number of changed)
          writeAll(this.#files, fd, new Uint8Array(table.buffer, number * 8, 8), number * 8);
    } finally {
      this.#files.closeSync(fd);
    }
  }
}

/** Whether `verify` found wrong counters: it leaves an empty table, which matches no head. */
export const areDiscarded = (directory: string): boolean => {
  const table = statTable(directory);
  return table?.isFile() === true && table.size === 0;
};

const statTable = (directory: string): Stats | undefined =>
  statSync(`${directory}/table`, { throwIfNoEntry: false });

const maxCachedBuckets = 256;
const noBytes = Buffer.alloc(0);

const bucketOf = (name: string): number => Number.parseInt(checksum(name).slice(0, 3), 16);

const bucketName = (number: number): string => `${number.toString(16).padStart(3, "0")}.json`;

function byBucket(counters: ReadonlyMap<string, Counter>): ReadonlyMap<number, readonly [string, Counter][]> {
  const buckets = new Map<number, [string, Counter][]>();
  for (const entry of counters) {
    const number = bucketOf(entry[0]);
    const bucket = buckets.get(number);
    if (bucket === undefined) buckets.set(number, [entry]);
    else bucket.push(entry);
  }
  return buckets;
}

/** Sorts by name, so that equal counters make equal files. */
const sortedRecord = (counters: Readonly<Record<string, Counter>>): Readonly<Record<string, Counter>> =>
  Object.fromEntries(Object.entries(counters).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Returns the pin that these counters have. */
export function pinOfCounters(all: ReadonlyMap<string, Counter>): string {
  const table = newTable();
  for (const [number, entries] of byBucket(all)) {
    const { low, high } = sealJson(bucketName(number), sortedRecord(Object.fromEntries(entries))).sum;
    table.set([low, high], number * 2);
  }
  return pinOf(table);
}

/** Adds up the checksums of all files. */
function pinOf(table: Uint32Array): string {
  let low = 0;
  let high = 0;
  for (let at = 0; at < table.length; at += 2) {
    low = (low + (table[at] ?? 0)) | 0;
    high = (high + (table[at + 1] ?? 0)) | 0;
  }
  const hex = (number: number): string => (number >>> 0).toString(16).padStart(8, "0");
  return hex(low) + hex(high);
}

/** Removes the files of earlier versions, which had no checksums. */
export function removeEarlierCounters(directory: string, leaves: readonly string[]): void {
  for (const leaf of leaves) {
    try {
      unlinkSync(`${directory}/all${leaf}.jsonl`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
