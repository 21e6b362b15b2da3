import { existsSync } from "node:fs";
import type { Link } from "../../../record/chain.js";
import { isIntact, linkOf } from "../../../record/chain.js";
import { damaged } from "./damage.js";
import type { Files } from "./files.js";
import { openExisting, readAt, syncDirectory, writeAll } from "./files.js";
import type { Head, Position, Torn } from "./head.js";
import { segmentName } from "./segments.js";

export interface Recovered {
  readonly head: Head;
  /** The lines that the head did not know of, in order. */
  readonly lines: readonly { readonly link: Link; readonly text: string }[];
  /** Where segments ended on the way. */
  readonly ends: readonly Position[];
  /** What is left behind the last line, if anything. */
  readonly left: Buffer;
}

const newline = 10;

/** Goes on from the head to where the log really ends: a crash may have come between a record and the head. */
export function recover(files: Files, directory: string, head: Head): Recovered {
  let at = head;
  const lines: { link: Link; text: string }[] = [];
  const ends: Position[] = [];
  for (;;) {
    const rest = restOf(files, `${directory}/${segmentName(at.segment)}`, at.bytes);
    const taken = takeLines(rest, at, lines);
    at = taken.head;
    const next = nextSegment(directory, at);
    if (taken.left.length > 0 && (next !== undefined || !isTorn(taken.left.subarray(taken.sound)))) {
      throw damaged(
        directory,
        `record ${at.size + 1} in \`${segmentName(at.segment)}\` is not what was written`,
      );
    }
    if (next === undefined) return { head: at, lines, ends, left: taken.left };
    ends.push(at);
    at = { ...at, segment: next, bytes: 0 };
  }
}

/** A new segment begins with the record after the last. */
export function nextSegment(directory: string, { size, segment }: Position): number | undefined {
  const next = size + 1;
  if (next === segment) return undefined;
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

interface Taken {
  readonly head: Head;
  readonly left: Buffer;
  /** So much of what is left are sound lines whose companions never came: they were taken together, or not at all. */
  readonly sound: number;
}

function takeLines(bytes: Buffer, head: Head, lines: { link: Link; text: string }[]): Taken {
  let at = head;
  let whole = head;
  let from = 0;
  let missing = 0;
  let open: { link: Link; text: string }[] = [];
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
    const line = bytes.subarray(from, end);
    const link = linkOf(line);
    if (link?.seq !== at.size + 1 || link.previous !== at.head || !isIntact(line, link)) break;
    const text = line.toString("utf8");
    missing = missing === 0 ? companionsOf(text) : missing - 1;
    open.push({ link, text });
    from = end + 1;
    at = { ...at, size: link.seq, head: link.hash, bytes: head.bytes + from };
    if (missing > 0) continue;
    lines.push(...open);
    open = [];
    whole = at;
  }
  const start = whole.bytes - head.bytes;
  return { head: whole, left: bytes.subarray(start), sound: from - start };
}

/** How many more lines were written together with this one. */
function companionsOf(line: string): number {
  const [, together = "1"] =
    /,"together":(\d{1,6}),"prev_hash":"[0-9a-f]{64}","hash":"[0-9a-f]{64}"\}$/.exec(line) ?? [];
  return Number(together) - 1;
}

/**
 * What a crash leaves at the end: half a line, or the zeros of blocks that never reached the disk. A whole
 * line that does not fit is damage, and so is anything that a sound record stands behind.
 */
export function isTorn(left: Buffer): boolean {
  if (left.length === 0) return true;
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

/** Keeps what a crash has left in a file of its own. */
export function setAside(files: Files, directory: string, { segment, bytes }: Position, left: Buffer): Torn {
  const file = `${segmentName(segment)}.${bytes}.torn`;
  const fd = files.openSync(`${directory}/${file}`, "w", 0o600);
  try {
    writeAll(files, fd, left);
    files.fdatasyncSync(fd);
  } finally {
    files.closeSync(fd);
  }
  syncDirectory(files, directory);
  return { file, bytes: left.length };
}

/** Cuts a segment back to its last whole record. */
export function cutBack(files: Files, directory: string, { segment, bytes }: Position): void {
  const fd = files.openSync(`${directory}/${segmentName(segment)}`, "r+");
  try {
    files.ftruncateSync(fd, bytes);
    files.fdatasyncSync(fd);
  } finally {
    files.closeSync(fd);
  }
}
