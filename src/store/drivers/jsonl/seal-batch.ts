import { maxSealedByteLength, sealLineInto, sealedByteLength } from "../../../record/chain.js";
import type { CheckpointContent } from "../../../record/chain.js";
import type { Head } from "./head.js";

/** Where the log ends, and what a crash has left to be written. */
export interface LogTail {
  readonly head: Head;
  readonly notes: readonly string[];
  readonly pins: readonly CheckpointContent[];
}

/** Lines that are to be added, and where the log ends with them. */
export interface SealedBatch {
  /** To be written before the next batch is made: that has the same memory. */
  readonly bytes: Buffer;
  readonly links: readonly { readonly seq: number; readonly hash: string }[];
  readonly head: Head;
  readonly pins: readonly CheckpointContent[];
}

interface SealOptions {
  readonly segmentSize: number;
  readonly checkpointEvery: number;
  readonly clock: () => string;
  /** A checkpoint pins the last of them in any case. */
  readonly pinned: boolean;
}

export function sealBatch(
  bodies: readonly string[],
  { head, pins: due }: LogTail,
  { segmentSize, checkpointEvery, clock, pinned }: SealOptions,
): SealedBatch {
  const links: { seq: number; hash: string }[] = [];
  const pins = [...due];
  const memory = bufferFor(bodies);
  let length = 0;
  let { size: seq, head: hash } = head;
  for (const body of bodies) {
    ({ end: length, hash } = sealLineInto(memory, length, { seq: ++seq, body, previous: hash }));
    links.push({ seq, hash });
    if (seq % checkpointEvery === 0) pins.push({ size: seq, head: hash, timestamp: clock() });
  }
  if (pinned && seq % checkpointEvery !== 0) pins.push({ size: seq, head: hash, timestamp: clock() });
  const bytes = memory.subarray(0, length);
  const full = head.bytes > 0 && head.bytes + bytes.length > segmentSize;
  // The lines behind the head are pinned after it.
  if (full) pins.splice(due.length, 0, { size: head.size, head: head.head, timestamp: clock() });
  const segment = full ? head.size + 1 : head.segment;
  const end = (full ? 0 : head.bytes) + bytes.length;
  return { bytes, links, pins, head: { ...head, size: seq, head: hash, segment, bytes: end } };
}

/** Larger batches are rare, and get memory of their own. */
const maxReusableBytes = 1024 * 1024;
let reusableBuffer = Buffer.alloc(0);

/** Where a batch is made: to count the bytes of a small one would take longer than to make it. */
function bufferFor(bodies: readonly string[]): Buffer {
  const room = maxSealedByteLength(bodies);
  if (room > maxReusableBytes) return Buffer.allocUnsafe(sealedByteLength(bodies));
  if (reusableBuffer.length < room) reusableBuffer = Buffer.allocUnsafe(Math.min(2 * room, maxReusableBytes));
  return reusableBuffer;
}
