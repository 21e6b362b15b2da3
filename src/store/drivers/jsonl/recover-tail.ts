import { existsSync, statSync } from "node:fs";
import { peekLastCheckpoint } from "./checkpoints.js";
import { damagedLogError } from "./store-errors.js";
import type { Files } from "./files.js";
import { openIfExists, readAt, syncDirectory, writeAll } from "./files.js";
import type { Head, Position, HeadFile, TornTail } from "./head.js";
import { pickPins, pickPosition, withoutCounters } from "./head.js";
import type { SegmentFile } from "./segments.js";
import { listSegments, segmentName } from "./segments.js";
import type { JsonObject } from "../../../model/json.js";
import type { NoteRecord } from "../../../model/record.js";
import type { Count } from "../../../model/store.js";
import type { ChainLink, CheckpointContent } from "../../../record/chain.js";
import { hasCheckpointMark, matchesOwnHash, parseChainLink } from "../../../record/chain.js";
import { approvalsInNote, parseNote } from "../../../record/notes.js";
import { openRegularFile } from "../../regular-file.js";

/** The end of the log, and what recovery requires the next append to write. */
export interface LogTail {
  readonly head: Head;
  /** Bodies of notes that describe a repair. */
  readonly notes: readonly string[];
  /** Checkpoints that a crash prevented. */
  readonly pins: readonly PlacedPin[];
  /** The records that the head on disk does not cover. */
  readonly recovered: readonly RecoveredCounts[];
}

/** A checkpoint to write, and the offset in its segment where the last record that it covers ends. */
export interface PlacedPin extends CheckpointContent {
  readonly end: number;
}

/** A record after the head, which a crash left, and what it counts. */
export interface RecoveredCounts {
  readonly seq: number;
  readonly counted: readonly Count[];
}

/** Builds the body of a note about the log itself. */
export type MakeNoteBody = (note: Exclude<NoteRecord["note"], "pruned">, details: JsonObject) => string;

interface RecoveryParts {
  readonly head: HeadFile;
  readonly segment: SegmentFile;
  readonly files: Files;
  readonly checkpointEvery: number;
  readonly clock: () => string;
  readonly makeNoteBody: MakeNoteBody;
}

/**
 * Finds the end of the log and repairs what a crash left. Normally the log ends where its head says. Otherwise:
 * - longer than the head: a crash came between writing the records and writing the head. Complete records are
 *   kept; an incomplete one at the very end is moved to a `.torn` file.
 * - shorter than the head: records were removed. This is damage, unless the head says that they were not synced
 *   yet (`durability: fast`); then a power cut took them and the log gets a note about it.
 */
export function recoverTail(directory: string, parts: RecoveryParts): LogTail {
  const head = withPruned(directory, parts.head.read());
  const lost = describeLoss(head, parts);
  if (lost !== undefined) {
    if (head.synced === undefined) throw damagedLogError(directory, lost);
    return recoverAfterPowerCut(directory, parts, { lost: head, synced: head.synced });
  }
  const size = parts.segment.sizeOf(head.segment);
  const next = findNextSegment(directory, head);
  if (size > head.bytes || next !== undefined) return recoverAfterCrash(directory, parts, head);
  return { head, notes: repairNotes(head, parts), pins: [], recovered: [] };
}

/** Adds the number of pruned records to the head of an earlier version. The log was verified before. */
function withPruned(directory: string, head: Head): Head {
  return head.pruned === undefined
    ? { ...head, pruned: (listSegments(directory)[0] ?? head.segment) - 1 }
    : head;
}

/** Throws if a checkpoint covers more records than the log has, or others. */
function assertMatchesCheckpoint(directory: string, size: number, lines: readonly ScannedLine[]): void {
  const last = peekLastCheckpoint(`${directory}/checkpoints.jsonl`);
  if (last === undefined || last.size <= size - lines.length) return;
  if (last.size > size)
    throw damagedLogError(directory, `a checkpoint covers ${last.size} records, but there are ${size}`);
  if (lines.some(({ link }) => link.seq === last.size && link.hash !== last.head))
    throw damagedLogError(directory, `record ${last.size} is not the one that a checkpoint covers`);
}

/** Throws if records that the head covers are missing. Writes nothing. */
export function assertTailPresent(directory: string, parts: Pick<RecoveryParts, "head" | "segment">): void {
  const head = parts.head.read();
  const lost = describeLoss(head, parts);
  if (lost !== undefined && head.synced === undefined) throw damagedLogError(directory, lost);
}

function describeLoss(head: Head, { segment }: Pick<RecoveryParts, "segment">): string | undefined {
  if (segment.sizeOf(head.segment) < head.bytes)
    return "it is shorter than before: its end was removed or its content was changed";
  if (head.bytes > 0 && segment.hashOfRecordEndingAt(head.bytes) !== head.head)
    return `record ${head.size} is not where it was written`;
  return undefined;
}

/** Continues from the last synced position and notes which acknowledged records were lost. */
function recoverAfterPowerCut(
  directory: string,
  parts: RecoveryParts,
  { lost, synced }: { readonly lost: Head; readonly synced: Position },
): LogTail {
  const tail = recoverAfterCrash(directory, parts, { ...pickPosition(synced), ...pickPins(lost) });
  const details = { from: tail.head.size + 1, to: lost.size, last_hash: lost.head };
  return { ...tail, notes: [...tail.notes, parts.makeNoteBody("tail_lost", details)] };
}

/** Takes over the complete records after a known head, and schedules the checkpoints they should have. */
function recoverAfterCrash(directory: string, parts: RecoveryParts, known: Head): LogTail {
  const { files, checkpointEvery, clock } = parts;
  parts.segment.close();
  const { head: end, lines, segmentEnds, remainder } = scanPastHead(files, directory, known);
  assertMatchesCheckpoint(directory, end.size, lines);
  const recovered = lines.map(toCounts);
  const notes = lines.flatMap((line) => parseNote(Buffer.from(line.text)) ?? []);
  const prune = notes.findLast(({ note }) => note === "pruned");
  const approvals = Math.max(end.approvals ?? 0, ...notes.map(approvalsInNote));
  const noted = {
    ...end,
    ...(prune !== undefined && { pruned: Number(prune.details["through"]) }),
    ...(approvals > 0 && { approvals }),
  };
  // The repair writes a head that covers the recovered records, which are not counted yet.
  const uncounted = recovered.some(({ counted }) => counted.length > 0) ? withoutCounters(noted) : noted;
  const head =
    remainder.length === 0 ? noted : repairTornTail(directory, parts, { end: uncounted, remainder });
  const timestamp = clock();
  const due = lines.filter(
    ({ link: { seq }, text }) =>
      seq % checkpointEvery === 0 || seq === prune?.seq || hasCheckpointMark(Buffer.from(text)),
  );
  const pinned = [
    ...due.map(({ link, end }) => ({ size: link.seq, head: link.hash, bytes: end })),
    ...segmentEnds,
  ];
  const pins = pinned.map(({ size, head: hash, bytes }) => ({ size, head: hash, timestamp, end: bytes }));
  const ordered = pins.sort((a, b) => a.size - b.size);
  return { head, notes: repairNotes(head, parts), pins: ordered, recovered };
}

const toCounts = ({ link, text }: ScannedLine): RecoveredCounts => ({
  seq: link.seq,
  counted: text.includes('"counted":')
    ? ((JSON.parse(text) as { counted?: readonly Count[] }).counted ?? [])
    : [],
});

/** Returns what the complete records after a head count. */
export const countsPastHead = (files: Files, directory: string, head: Head): readonly RecoveredCounts[] =>
  linesPastHead(files, directory, head).map(toCounts);

/** Returns the notes after a head. */
export const notesPastHead = (files: Files, directory: string, head: Head): readonly NoteRecord[] =>
  linesPastHead(files, directory, head).flatMap(({ text }) => parseNote(Buffer.from(text)) ?? []);

/** Returns the complete records after a head. Normally there are none, and only file sizes are read. */
function linesPastHead(files: Files, directory: string, head: Head): readonly ScannedLine[] {
  return isLongerThanHead(directory, head) ? scanPastHead(files, directory, head).lines : [];
}

/** Returns true if there are bytes or segments that a head does not cover. */
export function isLongerThanHead(directory: string, head: Head): boolean {
  const path = `${directory}/${segmentName(head.segment)}`;
  const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return size > head.bytes || findNextSegment(directory, head) !== undefined;
}

/**
 * Moves an incomplete append out of the segment. Order: save the bytes, record them in the head, truncate. The head
 * keeps `torn` until the note is in the log, so a crash after the truncation cannot lose the note.
 */
function repairTornTail(
  directory: string,
  { files, head: headFile }: RecoveryParts,
  { end, remainder }: { readonly end: Head; readonly remainder: Buffer },
): Head {
  const head = { ...end, torn: saveTornBytes(files, directory, end, remainder) };
  headFile.write(head);
  truncateSegment(files, directory, head);
  return head;
}

function repairNotes({ torn }: Head, { makeNoteBody }: RecoveryParts): readonly string[] {
  return torn === undefined ? [] : [makeNoteBody("tail_repaired", { ...torn })];
}

/** A complete line, and the offset in its segment where it ends. */
interface ScannedLine {
  readonly link: ChainLink;
  readonly text: string;
  readonly end: number;
}

interface TailScan {
  readonly head: Head;
  /** The complete lines after the head, in order. */
  readonly lines: readonly ScannedLine[];
  /** The ends of the segments that were completed after the head. */
  readonly segmentEnds: readonly Position[];
  /** The bytes after the last complete line. */
  readonly remainder: Buffer;
}

const newline = 10;

/** Reads from the head to the real end of the log, through all later segments. */
function scanPastHead(files: Files, directory: string, head: Head): TailScan {
  let at = head;
  const lines: ScannedLine[] = [];
  const segmentEnds: Position[] = [];
  for (;;) {
    const rest = readFrom(files, `${directory}/${segmentName(at.segment)}`, at.bytes);
    const { head: complete, remainder, incompleteGroupBytes } = takeCompleteGroups(rest, at, lines);
    at = complete;
    const next = findNextSegment(directory, at);
    const isTorn = next === undefined && isTornTail(remainder.subarray(incompleteGroupBytes));
    if (remainder.length > 0 && !isTorn) {
      throw damagedLogError(directory, `record ${at.size + 1} in \`${segmentName(at.segment)}\` was changed`);
    }
    if (next === undefined) return { head: at, lines, segmentEnds, remainder };
    segmentEnds.push(at);
    at = { ...at, segment: next, bytes: 0 };
  }
}

/** Returns the segment that starts with the next record, if it exists. */
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
  /** The length of the valid lines at the start of the remainder that belong to a group without its last line. */
  readonly incompleteGroupBytes: number;
}

/** Takes valid lines. Entries appended as one group are taken together or not at all. */
function takeCompleteGroups(bytes: Buffer, head: Head, lines: ScannedLine[]): CompleteLines {
  let at = head;
  let complete = head;
  let from = 0;
  let missing = 0;
  let group: ScannedLine[] = [];
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
    const line = bytes.subarray(from, end);
    const link = parseChainLink(line);
    if (link?.seq !== at.size + 1 || link.previous !== at.head || !matchesOwnHash(line, link)) break;
    const text = line.toString("utf8");
    missing = missing === 0 ? followingLines(text) : missing - 1;
    from = end + 1;
    group.push({ link, text, end: head.bytes + from });
    at = { ...at, size: link.seq, head: link.hash, bytes: head.bytes + from };
    if (missing > 0) continue;
    lines.push(...group);
    group = [];
    complete = at;
  }
  const start = complete.bytes - head.bytes;
  return { head: complete, remainder: bytes.subarray(start), incompleteGroupBytes: from - start };
}

/** Returns the number of lines that follow in the group that this line starts. */
function followingLines(line: string): number {
  const [, together = "1"] =
    /,"together":(\d{1,6})(?:,"checkpoint":true)?,"prev_hash":"[0-9a-f]{64}","hash":"[0-9a-f]{64}"\}$/.exec(
      line,
    ) ?? [];
  return Number(together) - 1;
}

/**
 * Returns true for bytes that a crash can leave at the end: part of a line, or zeros in place of blocks that never
 * reached the disk. A complete line that is invalid is damage, and so are invalid bytes before a valid record.
 */
export function isTornTail(remainder: Buffer): boolean {
  if (remainder.length === 0) return true;
  if (remainder.at(-1) === newline && !remainder.includes(0)) return false;
  let from = 0;
  for (let end = remainder.indexOf(newline); end !== -1; end = remainder.indexOf(newline, from)) {
    const line = remainder.subarray(from, end);
    const link = parseChainLink(line);
    if (link !== undefined && matchesOwnHash(line, link)) return false;
    from = end + 1;
  }
  return true;
}

/** Saves an incomplete append to its own file and syncs it, before it is removed from the segment. */
function saveTornBytes(
  files: Files,
  directory: string,
  { segment, bytes }: Position,
  remainder: Buffer,
): TornTail {
  const file = `${segmentName(segment)}.${bytes}.torn`;
  const fd = openRegularFile(`${directory}/${file}`, "w", { files, mode: 0o600 });
  try {
    writeAll(files, fd, remainder);
    files.fdatasyncSync(fd);
  } finally {
    files.closeSync(fd);
  }
  syncDirectory(files, directory);
  return { file, bytes: remainder.length };
}

/** Truncates a segment after its last complete record. */
function truncateSegment(files: Files, directory: string, { segment, bytes }: Position): void {
  const fd = openRegularFile(`${directory}/${segmentName(segment)}`, "r+", { files });
  try {
    files.ftruncateSync(fd, bytes);
    files.fdatasyncSync(fd);
  } finally {
    files.closeSync(fd);
  }
}
