import { renameSync, statSync } from "node:fs";
import { damagedLogError, removedLogError } from "./store-errors.js";
import type { Files } from "./files.js";
import { readAt, writeAll, openIfExists, syncDirectory } from "./files.js";
import { segmentName, listSegments } from "./segments.js";
import { genesisHash } from "../../../record/chain.js";
import { makeDirectory } from "../../files.js";

/** Where the log ends; follows every append. */
export interface Head {
  /** How many records there ever were. */
  readonly size: number;
  /** The hash of the last. */
  readonly head: string;
  /** The segment that is written to, by its first sequence number. */
  readonly segment: number;
  /** How much of it is written. */
  readonly bytes: number;
  readonly checkpoint?: CheckpointPin;
  /** Where the disk was last waited for, when that is not here: a power cut may take all behind it. */
  readonly synced?: Position;
  /** Put aside, but not noted in the log yet. */
  readonly torn?: TornTail;
}

/** What a crash has left behind and was put aside. */
export interface TornTail {
  readonly file: string;
  readonly bytes: number;
}

export type Position = Pick<Head, "size" | "head" | "segment" | "bytes">;

/** The last checkpoint: how many records it covers, and its own hash. */
interface CheckpointPin {
  readonly size: number;
  readonly hash: string;
}

const emptyHead: Head = { size: 0, head: genesisHash, segment: 1, bytes: 0 };

/** Of one length and short, so that it is written in place and never in part. */
const headLength = 512;

/** Undefined where it is not a head. */
export function readHead(files: Files, fd: number): Head | undefined {
  const bytes = readAt(files, fd, 0, headLength + 1);
  return parseHead(bytes);
}

export const pickPosition = ({ size, head, segment, bytes }: Position): Position => ({
  size,
  head,
  segment,
  bytes,
});

export const pickCheckpoint = ({ checkpoint }: Head): Pick<Head, "checkpoint"> =>
  checkpoint === undefined ? {} : { checkpoint };

/** Only what we would have written ourselves, byte for byte. */
export function parseHead(bytes: Buffer): Head | undefined {
  const text = bytes.toString("latin1");
  try {
    const head = normalizeHead(JSON.parse(text) as Head);
    const { size, segment, bytes: length } = head;
    const numbers = [size, segment, length].every((each) => Number.isSafeInteger(each) && each >= 0);
    return numbers && /^[0-9a-f]{64}$/.test(head.head) && formatHead(head) === text ? head : undefined;
  } catch {
    return undefined;
  }
}

function normalizeHead({ checkpoint, synced, torn, ...position }: Head): Head {
  return {
    ...pickPosition(position),
    ...(checkpoint && { checkpoint: { size: checkpoint.size, hash: checkpoint.hash } }),
    ...(synced && { synced: pickPosition(synced) }),
    ...(torn && { torn: { file: torn.file, bytes: torn.bytes } }),
  };
}

const formatHead = (head: Head): string => `${JSON.stringify(normalizeHead(head)).padEnd(headLength - 1)}\n`;

export function writeHead(files: Files, fd: number, head: Head): void {
  writeAll(files, fd, Buffer.from(formatHead(head), "latin1"), 0);
}

/** The head of a log on disk, kept open from one append to the next. */
export class HeadFile {
  readonly #log: string;
  readonly #files: Files;
  readonly #path: string;
  #open: number | undefined;
  #place = "";
  #reached: Position = emptyHead;

  constructor(log: string, files: Files) {
    this.#log = log;
    this.#path = `${log}/head`;
    this.#files = files;
  }

  read(): Head {
    const head = readHead(this.#files, this.#descriptor());
    if (head !== undefined) return this.#noOlder(head);
    if (this.#hasRecords()) throw damagedLogError(this.#log, "its head file cannot be read");
    this.write(emptyHead);
    return emptyHead;
  }

  /** To be called by who has just read it, or has seen that it is in its place. */
  write(head: Head): void {
    writeHead(this.#files, this.#open ?? this.#descriptor(), head);
    this.#reached = head;
  }

  /** Whether the file that is open is the one of the log: it may have been removed, or moved away with all of it. */
  isCurrentFile(): boolean {
    if (this.#open === undefined) return false;
    return fileIdentity(statSync(this.#path, { throwIfNoEntry: false })) === this.#place;
  }

  /** Waits for the disk: once segments are gone, an older head would lead nowhere. */
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
    this.#open = openIfExists(this.#files, this.#path, "r+") ?? this.#begin();
    this.#place = fileIdentity(this.#files.fstatSync(this.#open));
    return this.#open;
  }

  /** The head comes first, and whole, so a log without one has lost it. */
  #begin(): number {
    if (this.#hasRecords()) throw damagedLogError(this.#log, "its head file is missing");
    if (this.#reached.size > 0) throw removedLogError(this.#log);
    makeDirectory(this.#log, 0o700);
    const temporary = `${this.#path}.${process.pid}.tmp`;
    const fd = this.#files.openSync(temporary, "w+", 0o600);
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

  /** What this process has seen in the log is acknowledged, and must not be written a second time. */
  #noOlder(head: Head): Head {
    const { size, head: hash } = this.#reached;
    if (head.size < size || (head.size === size && head.head !== hash)) {
      throw damagedLogError(
        this.#log,
        `it had ${size} records before, and is another one now, or an older copy`,
      );
    }
    this.#reached = head;
    return head;
  }

  #hasRecords(): boolean {
    return listSegments(this.#log).some((first) => statSync(`${this.#log}/${segmentName(first)}`).size > 0);
  }
}

/** Numbers of files are given anew on each disk, and another one may have been mounted. */
const fileIdentity = (found: { readonly dev: number; readonly ino: number } | undefined): string =>
  found === undefined ? "" : `${found.dev}:${found.ino}`;
