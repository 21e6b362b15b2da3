import { existsSync, renameSync, statSync } from "node:fs";
import { damagedLogError, removedLogError } from "./store-errors.js";
import type { Files } from "./files.js";
import { openIfExists, readAt, readIfExists, syncDirectory, writeAll } from "./files.js";
import { segmentName, listSegments } from "./segments.js";
import { checksum } from "../../../digest/sha256.js";
import { genesisHash } from "../../../record/chain.js";
import { makeDirectory } from "../../files.js";
import { openRegularFile } from "../../regular-file.js";

/** The end of the log, written after every append. */
export interface Head {
  /** The number of records ever written, including pruned ones. */
  readonly size: number;
  /** The hash of the last record. */
  readonly head: string;
  /** The current segment, by its first sequence number. */
  readonly segment: number;
  /** The length of the current segment. */
  readonly bytes: number;
  readonly checkpoint?: CheckpointPin;
  /** The number of records that were pruned; absent in heads of earlier versions. */
  readonly pruned?: number;
  /** The pin of the counters; absent in heads of earlier versions. See `CounterFiles`. */
  readonly counters?: string;
  /** The sum of all serial numbers of approval locks that were seen, so that a removed one is noticed. */
  readonly approvals?: number;
  /** The last synced position, if it is not this one (`durability: fast`): a power cut can remove all after it. */
  readonly synced?: Position;
  /** A torn tail that was moved to its own file and is not noted in the log yet. */
  readonly torn?: TornTail;
  /** An earlier version wrote the head, without a checksum. Not written: it is true of the file that was read. */
  readonly unsealed?: true;
}

/** The file that holds the bytes of an incomplete append. */
export interface TornTail {
  readonly file: string;
  readonly bytes: number;
}

export type Position = Pick<Head, "size" | "head" | "segment" | "bytes">;

/** The last checkpoint: the number of records it covers, and its own hash. */
export interface CheckpointPin {
  readonly size: number;
  readonly hash: string;
  /** The offset in the current segment where the last of these records ends; absent if it is in an earlier segment. */
  readonly end?: number;
}

const emptyHead: Head = {
  size: 0,
  head: genesisHash,
  segment: 1,
  bytes: 0,
  pruned: 0,
  counters: "0".repeat(16),
};

/** Fixed and no longer than a disk sector, so that the head can be overwritten in place in one atomic write. */
const headLength = 512;

/** Returns undefined if the file does not contain a valid head. */
export function readHead(files: Files, fd: number): Head | undefined {
  const bytes = readAt(files, fd, 0, headLength + 1);
  return parseHead(bytes);
}

/** Reads the head of a log; undefined if it is missing or invalid. */
export function readHeadFile(log: string): Head | undefined {
  const bytes = readIfExists(`${log}/head`);
  return bytes && parseHead(bytes);
}

export const pickPosition = ({ size, head, segment, bytes }: Position): Position => ({
  size,
  head,
  segment,
  bytes,
});

/** Picks the fields that an append keeps. */
export const pickPins = ({ checkpoint, pruned, counters, approvals }: Head): Pins => ({
  ...(checkpoint !== undefined && { checkpoint }),
  ...(pruned !== undefined && { pruned }),
  ...(counters !== undefined && { counters }),
  ...(approvals !== undefined && { approvals }),
});

type Pins = Pick<Head, "checkpoint" | "pruned" | "counters" | "approvals">;

/**
 * Accepts only bytes that `formatHead` would have written. Earlier versions wrote no checksum, and none of the fields
 * that came later: an editor who adds those fields must not get rid of the checksum.
 */
export function parseHead(bytes: Buffer): Head | undefined {
  const text = bytes.toString("latin1");
  try {
    const head = normalizeHead(JSON.parse(text) as Head);
    const { size, segment, bytes: length } = head;
    const areNumbersValid = [size, segment, length].every((each) => Number.isSafeInteger(each) && each >= 0);
    const isValid = areNumbersValid && /^[0-9a-f]{64}$/.test(head.head);
    if (!isValid) return undefined;
    if (formatHead(head) === text) return head;
    return !hasLaterFields(head) && padHead(headJson(head)) === text
      ? { ...head, unsealed: true }
      : undefined;
  } catch {
    return undefined;
  }
}

const hasLaterFields = ({ checkpoint, pruned, counters, approvals }: Head): boolean =>
  [checkpoint?.end, pruned, counters, approvals].some((field) => field !== undefined);

function normalizeHead({ checkpoint, synced, torn, ...head }: Head): Head {
  return {
    ...pickPosition(head),
    ...pickPins({ ...head, ...(checkpoint && { checkpoint: normalizePin(checkpoint) }) }),
    ...(synced && { synced: pickPosition(synced) }),
    ...(torn && { torn: { file: torn.file, bytes: torn.bytes } }),
  };
}

const normalizePin = ({ size, hash, end }: CheckpointPin): CheckpointPin => ({
  size,
  hash,
  ...(end !== undefined && { end }),
});

const headJson = (head: Head): string => JSON.stringify(normalizeHead(head));

const padHead = (json: string): string => `${json.padEnd(headLength - 1)}\n`;

function formatHead(head: Head): string {
  const text = sealHead(head);
  return text.length === headLength ? text : sealHead(withoutHints(head));
}

function sealHead(head: Head): string {
  const json = headJson(head);
  return padHead(`${json.slice(0, -1)},"sum":"${checksum(json)}"}`);
}

/** Leaves out what can be found again by reading the log, for a head that would be too long. */
function withoutHints(head: Head): Head {
  const { checkpoint } = head;
  const pin = checkpoint && { checkpoint: { size: checkpoint.size, hash: checkpoint.hash } };
  return { ...withoutCounters(head), ...pin };
}

/** Leaves out the pin of the counters, so that they are counted again. */
export function withoutCounters(head: Head): Head {
  const kept: { -readonly [Name in keyof Head]: Head[Name] } = { ...head };
  delete kept.counters;
  return kept;
}

export function writeHead(files: Files, fd: number, head: Head): void {
  writeAll(files, fd, Buffer.from(formatHead(head), "latin1"), 0);
}

/** What is written only after the head exists, so it shows that there was a log. */
const writtenAfterHead = ["counters", "definitions", "environments", "approvals", "log/checkpoints.jsonl"];

/** Says what is left of a store whose log was removed; undefined: nothing, so a log can be started. */
export function describeRemovedLog(directory: string): string | undefined {
  const left = writtenAfterHead.filter((name) => existsSync(`${directory}/${name}`));
  // After that, because another process may just have started the log.
  if (left.length === 0 || existsSync(`${directory}/log/head`)) return undefined;
  return `the log was removed, but the store still has ${left.map((name) => `\`${name}\``).join(", ")}`;
}

/** The head file of a log, kept open between appends. */
export class HeadFile {
  readonly #log: string;
  readonly #files: Files;
  readonly #path: string;
  #open: number | undefined;
  #openIdentity = "";
  /** The newest head that this process has seen. */
  #newest: Position = emptyHead;

  constructor(log: string, files: Files) {
    this.#log = log;
    this.#path = `${log}/head`;
    this.#files = files;
  }

  read(): Head {
    const head = readHead(this.#files, this.#descriptor());
    if (head !== undefined) return this.#assertNotOlder(head);
    if (this.#hasRecords()) throw damagedLogError(this.#log, "its head file cannot be read");
    this.write(emptyHead);
    return emptyHead;
  }

  /** Requires a preceding `read` or `isCurrentFile`, because it does not check again that the file is current. */
  write(head: Head): void {
    writeHead(this.#files, this.#open ?? this.#descriptor(), head);
    this.#newest = head;
  }

  /** Returns false if the open file is not the head of the log any more: it was removed, or the log was replaced. */
  isCurrentFile(): boolean {
    if (this.#open === undefined) return false;
    return fileIdentity(statSync(this.#path, { throwIfNoEntry: false })) === this.#openIdentity;
  }

  /** Syncs the head to the disk. Needed before segments are deleted: an older head would point to a missing one. */
  sync(): void {
    this.#files.fdatasyncSync(this.#descriptor());
  }

  close(): void {
    if (this.#open !== undefined) this.#files.closeSync(this.#open);
    this.#open = undefined;
  }

  #descriptor(): number {
    if (this.#open !== undefined && this.isCurrentFile()) return this.#open;
    this.close();
    this.#open = openIfExists(this.#files, this.#path, "r+") ?? this.#create();
    this.#openIdentity = fileIdentity(this.#files.fstatSync(this.#open));
    return this.#open;
  }

  /**
   * Creates the head before the first segment exists, under a temporary name that is synced and renamed. A log
   * that has records but no head has therefore lost it.
   */
  #create(): number {
    if (this.#hasRecords()) throw damagedLogError(this.#log, "its head file is missing");
    if (this.#newest.size > 0) throw removedLogError(this.#log);
    makeDirectory(this.#log, 0o700);
    const temporary = `${this.#path}.${process.pid}.tmp`;
    const fd = openRegularFile(temporary, "w+", { files: this.#files, mode: 0o600 });
    try {
      writeHead(this.#files, fd, emptyHead);
      this.#files.fsyncSync(fd);
      renameSync(temporary, this.#path);
      syncDirectory(this.#files, this.#log);
      return fd;
    } catch (error) {
      this.#files.closeSync(fd);
      throw error;
    }
  }

  /** Records that this process has seen are acknowledged: an older copy of the log would assign their numbers again. */
  #assertNotOlder(head: Head): Head {
    const { size, head: hash } = this.#newest;
    if (head.size < size || (head.size === size && head.head !== hash)) {
      throw damagedLogError(
        this.#log,
        `it had ${size} records before and was replaced by another log or an older copy`,
      );
    }
    this.#newest = head;
    return head;
  }

  #hasRecords(): boolean {
    return listSegments(this.#log).some((first) => statSync(`${this.#log}/${segmentName(first)}`).size > 0);
  }
}

/** Inode numbers are unique per device only, and another device can be mounted in place of the first. */
const fileIdentity = (stats: { readonly dev: number; readonly ino: number } | undefined): string =>
  stats === undefined ? "" : `${stats.dev}:${stats.ino}`;
