import { existsSync } from "node:fs";
import type { Counters } from "./counters.js";
import { countsInLine } from "./counters.js";
import { damagedLogError } from "./store-errors.js";
import type { Files } from "./files.js";
import { openIfExists, readAt, syncDirectory, writeAll } from "./files.js";
import type { Head, Position, HeadFile, TornTail } from "./head.js";
import { pickCheckpoint, pickPosition } from "./head.js";
import type { LogTail } from "./seal-batch.js";
import type { SegmentFile } from "./segments.js";
import { segmentName } from "./segments.js";
import type { JsonObject } from "../../../model/json.js";
import type { ChainLink } from "../../../record/chain.js";
import { matchesOwnHash, parseChainLink } from "../../../record/chain.js";

/** Makes the body of a note on what happened to the log. */
export type MakeNoteBody = (note: "tail_repaired" | "tail_lost", details: JsonObject) => string;

interface RecoveryParts {
  readonly head: HeadFile;
  readonly segment: SegmentFile;
  readonly counters: Counters;
  readonly files: Files;
  readonly checkpointEvery: number;
  readonly clock: () => string;
  readonly makeNoteBody: MakeNoteBody;
}

/** Finds out where the log ends, and puts in order what a crash has left. */
export function recoverTail(directory: string, parts: RecoveryParts): LogTail {
  const head = parts.head.read();
  const lost = describeLoss(head, parts);
  if (lost !== undefined) {
    if (head.synced === undefined) throw damagedLogError(directory, lost);
    return recoverAfterPowerCut(directory, parts, { lost: head, synced: head.synced });
  }
  const size = parts.segment.sizeOf(head.segment);
  const next = findNextSegment(directory, head);
  if (size > head.bytes || next !== undefined) return recoverAfterCrash(directory, parts, head);
  return { head, notes: repairNotes(head, parts), pins: [] };
}

/** Fails where the log does not end as its head says, and changes nothing. */
export function assertTailPresent(directory: string, parts: Pick<RecoveryParts, "head" | "segment">): void {
  const head = parts.head.read();
  const lost = describeLoss(head, parts);
  if (lost !== undefined && head.synced === undefined) throw damagedLogError(directory, lost);
}

function describeLoss(head: Head, { segment }: Pick<RecoveryParts, "segment">): string | undefined {
  if (segment.sizeOf(head.segment) < head.bytes)
    return "it is shorter than it was: its end was cut off, or something in it was changed";
  if (head.bytes > 0 && segment.hashOfRecordEndingAt(head.bytes) !== head.head)
    return `record ${head.size} does not stand where it was written last`;
  return undefined;
}

/** Only where the disk was not waited for: what it had not got is gone, and the log says so. */
function recoverAfterPowerCut(
  directory: string,
  parts: RecoveryParts,
  { lost, synced }: { readonly lost: Head; readonly synced: Position },
): LogTail {
  const settled = recoverAfterCrash(directory, parts, { ...pickPosition(synced), ...pickCheckpoint(lost) });
  const gone = { from: settled.head.size + 1, to: lost.size, last_hash: lost.head };
  return { ...settled, notes: [...settled.notes, parts.makeNoteBody("tail_lost", gone)] };
}

function recoverAfterCrash(directory: string, parts: RecoveryParts, known: Head): LogTail {
  const { files, checkpointEvery, clock } = parts;
  parts.segment.close();
  const { head: end, lines, segmentEnds: ends, remainder: left } = scanPastHead(files, directory, known);
  for (const { link, text } of lines) parts.counters.recountAfterCrash(countsInLine(text), link.seq);
  const head = left.length === 0 ? end : repairTornTail(directory, parts, { end, left });
  const timestamp = clock();
  const reached = lines.filter(({ link }) => link.seq % checkpointEvery === 0);
  const pinned = [...reached.map(({ link }) => ({ size: link.seq, head: link.hash })), ...ends];
  const pins = pinned.map((each) => ({ size: each.size, head: each.head, timestamp }));
  return { head, notes: repairNotes(head, parts), pins: pins.sort((a, b) => a.size - b.size) };
}

/** That something was cut off is written down before it is, so that the note on it cannot be forgotten. */
function repairTornTail(
  directory: string,
  { files, head: headFile }: RecoveryParts,
  { end, left }: { readonly end: Head; readonly left: Buffer },
): Head {
  const head = { ...end, torn: saveTornBytes(files, directory, end, left) };
  headFile.write(head);
  truncateSegment(files, directory, head);
  return head;
}

function repairNotes({ torn }: Head, { makeNoteBody: note }: RecoveryParts): readonly string[] {
  return torn === undefined ? [] : [note("tail_repaired", { ...torn })];
}

interface TailScan {
  readonly head: Head;
  /** The lines that the head did not know of, in order. */
  readonly lines: readonly { readonly link: ChainLink; readonly text: string }[];
  /** Where segments ended on the way. */
  readonly segmentEnds: readonly Position[];
  /** What is left behind the last line, if anything. */
  readonly remainder: Buffer;
}

const newline = 10;

/** Goes on from the head to where the log really ends: a crash may have come between a record and the head. */
function scanPastHead(files: Files, directory: string, head: Head): TailScan {
  let at = head;
  const lines: { link: ChainLink; text: string }[] = [];
  const ends: Position[] = [];
  for (;;) {
    const rest = readFrom(files, `${directory}/${segmentName(at.segment)}`, at.bytes);
    const taken = takeCompleteGroups(rest, at, lines);
    at = taken.head;
    const next = findNextSegment(directory, at);
    if (
      taken.remainder.length > 0 &&
      (next !== undefined || !isTornTail(taken.remainder.subarray(taken.incompleteGroupBytes)))
    ) {
      throw damagedLogError(
        directory,
        `record ${at.size + 1} in \`${segmentName(at.segment)}\` is not what was written`,
      );
    }
    if (next === undefined) return { head: at, lines, segmentEnds: ends, remainder: taken.remainder };
    ends.push(at);
    at = { ...at, segment: next, bytes: 0 };
  }
}

/** A new segment begins with the record after the last. */
function findNextSegment(directory: string, { size, segment }: Position): number | undefined {
  const next = size + 1;
  if (next === segment) return undefined;
  return existsSync(`${directory}/${segmentName(next)}`) ? next : undefined;
}

function readFrom(files: Files, path: string, from: number): Buffer {
  const fd = openIfExists(files, path, "r");
  if (fd === undefined) return Buffer.alloc(0);
  try {
    return readAt(files, fd, from, Math.max(0, files.fstatSync(fd).size - from));
  } finally {
    files.closeSync(fd);
  }
}

interface CompleteLines {
  readonly head: Head;
  readonly remainder: Buffer;
  /** So much of what is left are sound lines whose companions never came: they were taken together, or not at all. */
  readonly incompleteGroupBytes: number;
}

function takeCompleteGroups(
  bytes: Buffer,
  head: Head,
  lines: { link: ChainLink; text: string }[],
): CompleteLines {
  let at = head;
  let whole = head;
  let from = 0;
  let missing = 0;
  let open: { link: ChainLink; text: string }[] = [];
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
    const line = bytes.subarray(from, end);
    const link = parseChainLink(line);
    if (link?.seq !== at.size + 1 || link.previous !== at.head || !matchesOwnHash(line, link)) break;
    const text = line.toString("utf8");
    missing = missing === 0 ? followingLines(text) : missing - 1;
    open.push({ link, text });
    from = end + 1;
    at = { ...at, size: link.seq, head: link.hash, bytes: head.bytes + from };
    if (missing > 0) continue;
    lines.push(...open);
    open = [];
    whole = at;
  }
  const start = whole.bytes - head.bytes;
  return { head: whole, remainder: bytes.subarray(start), incompleteGroupBytes: from - start };
}

/** How many more lines were written together with this one. */
function followingLines(line: string): number {
  const [, together = "1"] =
    /,"together":(\d{1,6}),"prev_hash":"[0-9a-f]{64}","hash":"[0-9a-f]{64}"\}$/.exec(line) ?? [];
  return Number(together) - 1;
}

/**
 * What a crash leaves at the end: half a line, or the zeros of blocks that never reached the disk. A whole
 * line that does not fit is damage, and so is anything that a sound record stands behind.
 */
export function isTornTail(left: Buffer): boolean {
  if (left.length === 0) return true;
  if (left.at(-1) === newline && !left.includes(0)) return false;
  let from = 0;
  for (let end = left.indexOf(newline); end !== -1; end = left.indexOf(newline, from)) {
    const line = left.subarray(from, end);
    const link = parseChainLink(line);
    if (link !== undefined && matchesOwnHash(line, link)) return false;
    from = end + 1;
  }
  return true;
}

/** Keeps what a crash has left in a file of its own. */
function saveTornBytes(
  files: Files,
  directory: string,
  { segment, bytes }: Position,
  left: Buffer,
): TornTail {
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
function truncateSegment(files: Files, directory: string, { segment, bytes }: Position): void {
  const fd = files.openSync(`${directory}/${segmentName(segment)}`, "r+");
  try {
    files.ftruncateSync(fd, bytes);
    files.fdatasyncSync(fd);
  } finally {
    files.closeSync(fd);
  }
}
