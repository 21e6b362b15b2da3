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
}

/** The last checkpoint: how many records it covers, and its own hash. */
export interface CheckpointPin {
  readonly size: number;
  readonly hash: string;
}

export const emptyHead: Head = { size: 0, head: origin, segment: 1, bytes: 0 };

/** Of one length and within one sector, so that it is written in place and never in part. */
const headLength = 512;

/** Undefined where it is not a head. */
export function readHead(files: Files, fd: number): Head | undefined {
  const bytes = readAt(files, fd, 0, headLength + 1);
  return parseHead(bytes);
}

export function parseHead(bytes: Buffer): Head | undefined {
  if (bytes.length !== headLength) return undefined;
  try {
    const head = JSON.parse(bytes.toString("latin1")) as Head;
    const { size, segment, bytes: length } = head;
    const numbers = [size, segment, length].every((each) => Number.isSafeInteger(each) && each >= 0);
    return numbers && /^[0-9a-f]{64}$/.test(head.head) ? head : undefined;
  } catch {
    return undefined;
  }
}

export function writeHead(files: Files, fd: number, head: Head): void {
  writeAll(files, fd, Buffer.from(`${JSON.stringify(head).padEnd(headLength - 1)}\n`, "latin1"), 0);
}
