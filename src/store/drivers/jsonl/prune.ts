import { closeSync, openSync, readFileSync, statSync, unlinkSync } from "node:fs";
import type { JsonObject } from "../../../model/json.js";
import type { LogRecord } from "../../../model/record.js";
import type { Prunable, PruneBound } from "../../../model/store.js";
import { parseTailHash, tailLength } from "../../../record/chain.js";
import { DecisionError } from "../../../errors.js";
import { damagedLogError } from "./store-errors.js";
import { readAt, systemFiles } from "./files.js";
import type { LogIndex } from "./index/log-index.js";
import type { LogWriter } from "./log-writer.js";
import { segmentName, listSegments } from "./segments.js";
import { verifyStore } from "./verify-store.js";

const rowsPerRead = 64 * 1024;

/** Finds the oldest segments of which every record may be removed. Only whole segments are pruned. */
export function findPrunable(log: string, index: LogIndex, bound: PruneBound): Prunable {
  const segments = listSegments(log);
  const size = index.first + index.count - 1;
  const nothing: Prunable = { records: 0, through: 0, bytes: 0 };
  let found = nothing;
  for (const [position, first] of segments.entries()) {
    const last = (segments[position + 1] ?? size + 1) - 1;
    if (last < first || !isRemovable(index, { first, last }, bound, size)) break;
    const bytes = found.bytes + statSync(`${log}/${segmentName(first)}`).size;
    found = { records: last - index.first + 1, through: last, bytes };
  }
  return found;
}

function isRemovable(
  index: LogIndex,
  { first, last }: { first: number; last: number },
  bound: PruneBound,
  size: number,
): boolean {
  if ("keep" in bound) return last <= size - bound.keep;
  for (let start = first; start <= last; start += rowsPerRead) {
    const rows = index.read(start - index.first, Math.min(start + rowsPerRead, last + 1) - index.first);
    for (let row = 0; row < rows.count; row++) if (rows.time(row) >= bound.before) return false;
  }
  return true;
}

/** Refuses to prune a damaged log: removing segments would destroy the evidence. */
export function assertVerified(directory: string): void {
  const [problem] = verifyStore(directory).problems;
  if (problem !== undefined) throw damagedLogError(`${directory}/log`, problem.message);
}

/**
 * Removes segments after writing and syncing a note about it. A crash in between leaves a note and segments that the
 * next prune removes; segments that are missing without a note would count as damage.
 */
export async function prune(
  directory: string,
  writer: LogWriter,
  { through, records }: Prunable,
  makeNoteBody: (details: JsonObject) => string,
): Promise<void> {
  const log = `${directory}/log`;
  const removable = listSegments(log).filter((first) => first <= through);
  const newest = removable.at(-1) ?? 0;
  if (writer.head().size === through) writer.rotate();
  else if (!listSegments(log).includes(through + 1)) throw logChangedError();
  const earlier = removable.flatMap((first) => readEarlierPrunes(`${log}/${segmentName(first)}`));
  const details = { through, hash: readLastHash(`${log}/${segmentName(newest)}`), records };
  const body = makeNoteBody(earlier.length === 0 ? details : { ...details, earlier });
  await writer.append([[{ body }]], { pinned: true });
  writer.syncHead();
  for (const first of removable) unlinkSync(`${log}/${segmentName(first)}`);
}

/** Returns the details of earlier prune notes in a segment that is about to be removed, so that they are not lost. */
function readEarlierPrunes(path: string): readonly JsonObject[] {
  const notes = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.includes('"note":"pruned"'));
  return notes.flatMap((line) => {
    const record = JSON.parse(line) as LogRecord;
    if (record.kind !== "note" || record.note !== "pruned") return [];
    const { earlier = [], ...details } = record.details;
    return [...(earlier as readonly JsonObject[]), { timestamp: record.timestamp, ...details }];
  });
}

function readLastHash(path: string): string {
  const fd = openSync(path, "r");
  try {
    const { size } = statSync(path);
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
