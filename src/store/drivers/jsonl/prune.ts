import { closeSync, fstatSync, unlinkSync } from "node:fs";
import type { JsonObject } from "../../../model/json.js";
import type { Counter, Prunable, PruneBound } from "../../../model/store.js";
import { parseTailHash, tailLength } from "../../../record/chain.js";
import { findNotes } from "../../../record/notes.js";
import { isLogDamage } from "../../../record/verify-log.js";
import { DecisionError } from "../../../errors.js";
import { damagedLogError } from "./store-errors.js";
import { readAt, readIfExists, systemFiles } from "./files.js";
import type { Head } from "./head.js";
import { parseHead } from "./head.js";
import type { SegmentStats } from "./index/index-state.js";
import { statSegments } from "./index/index-state.js";
import { LogIndex } from "./index/log-index.js";
import type { LogWriter } from "./log-writer.js";
import { segmentName, listSegments } from "./segments.js";
import { verifyStore } from "./verify-store.js";
import { openRegularFile, readRegularFile } from "../../regular-file.js";

/**
 * Finds the oldest segments of which every record may be removed. Only whole segments are pruned. Reads the records
 * themselves, because an index with wrong times would make it remove others.
 */
export function findPrunable(log: string, bound: PruneBound): Prunable {
  const segments = statSegments(log);
  const newest = segments.at(-1);
  const oldest = segments[0]?.first ?? 1;
  const size = newest === undefined ? 0 : findSize(log, newest);
  let found: Prunable = { records: 0, through: 0, bytes: 0 };
  for (const [position, segment] of segments.entries()) {
    const last = (segments[position + 1]?.first ?? size + 1) - 1;
    if (last < segment.first) break;
    const isRemovable = "keep" in bound ? last <= size - bound.keep : isOlder(log, segment, bound.before);
    if (!isRemovable) break;
    found = { records: last - oldest + 1, through: last, bytes: found.bytes + segment.bytes };
  }
  return found;
}

/** Returns the number of the last record. After a crash the log is longer than its head says. */
function findSize(log: string, newest: SegmentStats): number {
  const bytes = readIfExists(`${log}/head`);
  const head = bytes && parseHead(bytes);
  if (head?.segment === newest.first && head.bytes === newest.bytes) return head.size;
  return newest.first + readSegment(log, newest).count - 1;
}

/** Scans the lines of a segment. */
function readSegment(log: string, segment: SegmentStats): LogIndex {
  const index = new LogIndex(log, undefined);
  index.catchUp(log, [segment], { isVerified: true });
  return index;
}

function isOlder(log: string, segment: SegmentStats, before: number): boolean {
  const { unsaved: rows } = readSegment(log, segment).rows;
  for (let row = 0; row < rows.count; row++) if (rows.time(row) >= before) return false;
  return true;
}

/** Refuses to prune a damaged log: removing segments would destroy the evidence. */
export function assertVerified(directory: string): void {
  const problem = verifyStore(directory).problems.find(isLogDamage);
  if (problem !== undefined) throw damagedLogError(`${directory}/log`, problem.message);
}

export interface PrunedStore {
  readonly directory: string;
  readonly writer: LogWriter;
  /** Returns all counters at the head of the log. */
  readonly countersAt: (head: Head) => Promise<ReadonlyMap<string, Counter>>;
}

/**
 * Removes segments after writing and syncing a note about it. A crash in between leaves a note and segments that the
 * next prune removes; segments that are missing without a note would count as damage.
 */
export async function prune(
  { directory, writer, countersAt }: PrunedStore,
  { through, records }: Prunable,
  makeNoteBody: (details: JsonObject) => string,
): Promise<void> {
  const log = `${directory}/log`;
  const removable = listSegments(log).filter((first) => first <= through);
  const newest = removable.at(-1) ?? 0;
  if (writer.head().size === through) await writer.rotate();
  else if (!listSegments(log).includes(through + 1)) throw logChangedError();
  const earlier = removable
    .flatMap((first) => readEarlierPrunes(`${log}/${segmentName(first)}`))
    .slice(-maxEarlierPrunes);
  const head = writer.head();
  const counted = await countersAt(head);
  const body = makeNoteBody({
    through,
    hash: readLastHash(`${log}/${segmentName(newest)}`),
    records,
    ...(earlier.length > 0 && { earlier }),
    // The counters of this moment: without the removed records they could not be counted again.
    counters: Object.fromEntries(counted) as unknown as JsonObject,
    ...(head.approvals !== undefined && { approvals: head.approvals }),
  });
  await writer.append([[{ body }]], { pruned: through });
  writer.syncHead();
  for (const first of removable) unlinkSync(`${log}/${segmentName(first)}`);
}

/** Retention adds one for each segment; the newest is enough to verify the log. */
const maxEarlierPrunes = 1000;

/** Returns the details of earlier prune notes in a segment that is about to be removed, so that they are not lost. */
function readEarlierPrunes(path: string): readonly JsonObject[] {
  return findNotes(readRegularFile(path), "pruned").flatMap(({ timestamp, details }) => {
    const { earlier = [], ...others } = details;
    // The new note has newer counters.
    const kept = Object.fromEntries(Object.entries(others).filter(([name]) => name !== "counters"));
    return [...(earlier as readonly JsonObject[]), { timestamp, ...kept }];
  });
}

function readLastHash(path: string): string {
  const fd = openRegularFile(path, "r");
  try {
    const { size } = fstatSync(fd);
    const hash = parseTailHash(readAt(systemFiles, fd, size - tailLength, tailLength));
    if (hash === undefined) throw logChangedError();
    return hash;
  } finally {
    closeSync(fd);
  }
}

function logChangedError(): DecisionError {
  return new DecisionError("store_failed", "the log changed while it was being pruned; nothing was removed", {
    hint: "run the command again",
  });
}
