import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { linkOf } from "../../../record/chain.js";
import type { LogVerifier } from "../../../record/verify-log.js";
import { readAt, systemFiles } from "./files.js";
import type { Head } from "./head.js";
import { isTorn } from "./recover.js";
import { segmentName, segmentsIn } from "./segments.js";

interface Reading {
  readonly progress?: ((done: number, total: number) => void) | undefined;
  readonly head: Head | undefined;
  readonly notes: string[];
}

/** Where each record that something points at ends. */
export type Ends = ReadonlyMap<number, { readonly segment: number; readonly bytes: number }>;

const chunkSize = 4 * 1024 * 1024;
const newline = 10;

export function readSegments(log: string, verifier: LogVerifier, reading: Reading): Ends {
  const ends = new Map<number, { segment: number; bytes: number }>();
  const segments = segmentsIn(log);
  const total = segments.reduce((sum, first) => sum + sizeOf(`${log}/${segmentName(first)}`), 0);
  let before = 0;
  for (const first of segments) {
    const file = segmentName(first);
    verifier.beginFile(file, first);
    const fd = openSync(`${log}/${file}`, "r");
    try {
      let line = 0;
      const isLast = first === segments.at(-1);
      const done = eachLine(fd, (bytes, end) => {
        const start = end - bytes.length - 1;
        if (isLast && !isKnown(reading.head, first, start) && isTornFrom(fd, start, bytes)) return "stop";
        verifier.feed(bytes, file, ++line);
        if (isPinned(reading.head, verifier.size)) ends.set(verifier.size, { segment: first, bytes: end });
        if (line % 5000 === 0) reading.progress?.(before + end, total);
        return "on";
      });
      before += done.covered;
      if (done.left > 0) checkTail(verifier, { first, ...done, isLast }, reading);
    } finally {
      closeSync(fd);
    }
  }
  return ends;
}

const isPinned = (head: Head | undefined, size: number): boolean =>
  size === head?.size || size === head?.synced?.size;

/** Whether the head speaks of what stands there. */
const isKnown = (head: Head | undefined, segment: number, offset: number): boolean =>
  head !== undefined && (head.segment > segment || (head.segment === segment && head.bytes > offset));

/** Whether this line and all behind it is what a crash leaves. */
function isTornFrom(fd: number, start: number, line: Buffer): boolean {
  if (linkOf(line) !== undefined) return false;
  return isTorn(readAt(systemFiles, fd, start, fstatSync(fd).size - start));
}

function sizeOf(path: string): number {
  const fd = openSync(path, "r");
  try {
    return fstatSync(fd).size;
  } finally {
    closeSync(fd);
  }
}

/** Each whole line with where it ends; tells how far they went and how much was left over. */
function eachLine(
  fd: number,
  onLine: (line: Buffer, end: number) => "on" | "stop",
): { readonly covered: number; readonly left: number } {
  let buffer = Buffer.allocUnsafe(Math.min(chunkSize, fstatSync(fd).size + 1));
  let filled = 0;
  let covered = 0;
  for (;;) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, covered + filled);
    if (count === 0) return { covered, left: filled };
    filled += count;
    let start = 0;
    const chunk = buffer.subarray(0, filled);
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const isEnd = onLine(buffer.subarray(start, end), covered + end + 1) === "stop";
      if (isEnd) return { covered: covered + start, left: fstatSync(fd).size - covered - start };
      start = end + 1;
    }
    buffer.copyWithin(0, start, filled);
    filled -= start;
    covered += start;
    if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}

/** Half a line at the very end, which the head knows nothing of, is a crash or a record on its way. */
function checkTail(
  verifier: LogVerifier,
  { first, covered, left, isLast }: { first: number; covered: number; left: number; isLast: boolean },
  { head, notes }: Reading,
): void {
  const file = segmentName(first);
  if (isLast && !isKnown(head, first, covered)) {
    notes.push(`\`${file}\` ends in ${left} bytes that are no whole record; the next write puts them aside`);
    return;
  }
  const seq = verifier.size + 1;
  verifier.problem({ kind: "cut", seq, file, message: `record ${seq} is not whole` });
}
