import { origin } from "../../../record/chain.js";
import type { Files } from "./files.js";
import { readAt, writeAll } from "./files.js";

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
  readonly torn?: Torn;
}

/** What a crash has left behind and was put aside. */
export interface Torn {
  readonly file: string;
  readonly bytes: number;
}

export type Position = Pick<Head, "size" | "head" | "segment" | "bytes">;

/** The last checkpoint: how many records it covers, and its own hash. */
export interface CheckpointPin {
  readonly size: number;
  readonly hash: string;
}

export const emptyHead: Head = { size: 0, head: origin, segment: 1, bytes: 0 };

/** Of one length and short, so that it is written in place and never in part. */
const headLength = 512;

/** Undefined where it is not a head. */
export function readHead(files: Files, fd: number): Head | undefined {
  const bytes = readAt(files, fd, 0, headLength + 1);
  return parseHead(bytes);
}

export const positionOf = ({ size, head, segment, bytes }: Position): Position => ({
  size,
  head,
  segment,
  bytes,
});

export const checkpointOf = ({ checkpoint }: Head): Pick<Head, "checkpoint"> =>
  checkpoint === undefined ? {} : { checkpoint };

/** Only what we would have written ourselves, byte for byte. */
export function parseHead(bytes: Buffer): Head | undefined {
  const text = bytes.toString("latin1");
  try {
    const head = asWritten(JSON.parse(text) as Head);
    const { size, segment, bytes: length } = head;
    const numbers = [size, segment, length].every((each) => Number.isSafeInteger(each) && each >= 0);
    return numbers && /^[0-9a-f]{64}$/.test(head.head) && textOf(head) === text ? head : undefined;
  } catch {
    return undefined;
  }
}

function asWritten({ checkpoint, synced, torn, ...position }: Head): Head {
  return {
    ...positionOf(position),
    ...(checkpoint && { checkpoint: { size: checkpoint.size, hash: checkpoint.hash } }),
    ...(synced && { synced: positionOf(synced) }),
    ...(torn && { torn: { file: torn.file, bytes: torn.bytes } }),
  };
}

const textOf = (head: Head): string => `${JSON.stringify(asWritten(head)).padEnd(headLength - 1)}\n`;

export function writeHead(files: Files, fd: number, head: Head): void {
  writeAll(files, fd, Buffer.from(textOf(head), "latin1"), 0);
}
