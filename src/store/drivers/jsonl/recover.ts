import { existsSync } from "node:fs";
import type { Link } from "../../../record/chain.js";
import { isIntact, linkOf } from "../../../record/chain.js";
import { damaged } from "./damage.js";
import type { Files } from "./files.js";
import { openExisting, readAt, syncDirectory, writeAll } from "./files.js";
import type { Head } from "./head.js";
import { segmentName } from "./segments.js";

export interface Recovered {
  readonly head: Head;
  /** The lines that the head did not know of, in order. */
  readonly lines: readonly { readonly link: Link; readonly text: string }[];
  /** What was cut off and where it is kept. */
  readonly torn?: { readonly file: string; readonly bytes: number };
}

const newline = 10;

/** Goes on from the head to where the log really ends: a crash may have come between a record and the head. */
export function recover(files: Files, directory: string, head: Head): Recovered {
  let at = head;
  const lines: { link: Link; text: string }[] = [];
  for (;;) {
    const path = `${directory}/${segmentName(at.segment)}`;
    const rest = restOf(files, path, at.bytes);
    const taken = takeLines(rest, at, lines);
    at = taken.head;
    const next = nextSegment(directory, at);
    if (taken.left.length > 0) {
      if (next !== undefined || !isTorn(taken.left)) {
        throw damaged(
          directory,
          `record ${at.size + 1} in \`${segmentName(at.segment)}\` is not what was written`,
        );
      }
      return { head: at, lines, torn: setAside(files, directory, at, taken.left) };
    }
    if (next === undefined) return { head: at, lines };
    at = { ...at, segment: next, bytes: 0 };
  }
}

/** A new segment begins with the record after the last. */
export function nextSegment(directory: string, { size, segment, bytes }: Head): number | undefined {
  const next = size + 1;
  if (next === segment || (bytes === 0 && next <= segment)) return undefined;
  return existsSync(`${directory}/${segmentName(next)}`) ? next : undefined;
}

function restOf(files: Files, path: string, from: number): Buffer {
  const fd = openExisting(files, path, "r");
  if (fd === undefined) return Buffer.alloc(0);
  try {
    return readAt(files, fd, from, Math.max(0, files.fstatSync(fd).size - from));
  } finally {
    files.closeSync(fd);
  }
}

function takeLines(
  bytes: Buffer,
  head: Head,
  lines: { link: Link; text: string }[],
): { readonly head: Head; readonly left: Buffer } {
  let at = head;
  let from = 0;
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
    const line = bytes.subarray(from, end);
    const link = linkOf(line);
    if (link?.seq !== at.size + 1 || link.previous !== at.head || !isIntact(line, link)) break;
    lines.push({ link, text: line.toString("utf8") });
    from = end + 1;
    at = { ...at, size: link.seq, head: link.hash, bytes: head.bytes + from };
  }
  return { head: at, left: bytes.subarray(from) };
}

/**
 * What a crash leaves at the end: half a line, or the zeros of blocks that never reached the disk. A whole
 * line that does not fit is damage, and so is anything that a sound record stands behind.
 */
function isTorn(left: Buffer): boolean {
  if (left.at(-1) === newline && !left.includes(0)) return false;
  let from = 0;
  for (let end = left.indexOf(newline); end !== -1; end = left.indexOf(newline, from)) {
    const line = left.subarray(from, end);
    const link = linkOf(line);
    if (link !== undefined && isIntact(line, link)) return false;
    from = end + 1;
  }
  return true;
}

function setAside(files: Files, directory: string, at: Head, left: Buffer): NonNullable<Recovered["torn"]> {
  const name = segmentName(at.segment);
  const file = `${name}.${at.bytes}.torn`;
  const aside = files.openSync(`${directory}/${file}`, "w", 0o600);
  try {
    writeAll(files, aside, left);
    files.fdatasyncSync(aside);
  } finally {
    files.closeSync(aside);
  }
  syncDirectory(files, directory);
  const segment = files.openSync(`${directory}/${name}`, "r+");
  try {
    files.ftruncateSync(segment, at.bytes);
    files.fdatasyncSync(segment);
  } finally {
    files.closeSync(segment);
  }
  return { file, bytes: left.length };
}
