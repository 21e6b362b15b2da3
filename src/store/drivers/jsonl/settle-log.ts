import type { JsonObject } from "../../../model/json.js";
import type { Counters } from "./counters.js";
import { countedIn } from "./counters.js";
import { damaged } from "./damage.js";
import type { Files } from "./files.js";
import type { Head, Position } from "./head.js";
import type { HeadFile } from "./head-file.js";
import { checkpointOf, positionOf } from "./head.js";
import { cutBack, nextSegment, recover, setAside } from "./recover.js";
import type { Settled } from "./seal-batch.js";
import type { SegmentFile } from "./segment-file.js";

/** Makes the body of a note on what happened to the log. */
export type MakeNote = (note: "tail_repaired" | "tail_lost", details: JsonObject) => string;

export interface LogParts {
  readonly head: HeadFile;
  readonly segment: SegmentFile;
  readonly counters: Counters;
  readonly files: Files;
  readonly checkpointEvery: number;
  readonly clock: () => string;
  readonly note: MakeNote;
}

/** Finds out where the log ends, and puts in order what a crash has left. */
export function settleLog(directory: string, parts: LogParts): Settled {
  const head = parts.head.read();
  const lost = whatIsLost(head, parts);
  if (lost !== undefined) {
    if (head.synced === undefined) throw damaged(directory, lost);
    return settleAfterPowerCut(directory, parts, { lost: head, synced: head.synced });
  }
  const size = parts.segment.sizeOf(head.segment);
  const next = nextSegment(directory, head);
  if (size > head.bytes || next !== undefined) return settleAfterCrash(directory, parts, head);
  return { head, notes: notesOn(head, parts), pins: [] };
}

/** Fails where the log does not end as its head says, and changes nothing. */
export function refuseLost(directory: string, parts: Pick<LogParts, "head" | "segment">): void {
  const head = parts.head.read();
  const lost = whatIsLost(head, parts);
  if (lost !== undefined && head.synced === undefined) throw damaged(directory, lost);
}

function whatIsLost(head: Head, { segment }: Pick<LogParts, "segment">): string | undefined {
  if (segment.sizeOf(head.segment) < head.bytes)
    return "it is shorter than it was: its end was cut off, or something in it was changed";
  if (head.bytes > 0 && segment.hashBefore(head.bytes) !== head.head)
    return `record ${head.size} does not stand where it was written last`;
  return undefined;
}

/** Only where the disk was not waited for: what it had not got is gone, and the log says so. */
function settleAfterPowerCut(
  directory: string,
  parts: LogParts,
  { lost, synced }: { readonly lost: Head; readonly synced: Position },
): Settled {
  const settled = settleAfterCrash(directory, parts, { ...positionOf(synced), ...checkpointOf(lost) });
  const gone = { from: settled.head.size + 1, to: lost.size, last_hash: lost.head };
  return { ...settled, notes: [...settled.notes, parts.note("tail_lost", gone)] };
}

function settleAfterCrash(directory: string, parts: LogParts, known: Head): Settled {
  const { files, checkpointEvery, clock } = parts;
  parts.segment.close();
  const { head: end, lines, ends, left } = recover(files, directory, known);
  for (const { link, text } of lines) parts.counters.recount(countedIn(text), link.seq);
  const head = left.length === 0 ? end : repair(directory, parts, { end, left });
  const timestamp = clock();
  const reached = lines.filter(({ link }) => link.seq % checkpointEvery === 0);
  const pinned = [...reached.map(({ link }) => ({ size: link.seq, head: link.hash })), ...ends];
  const pins = pinned.map((each) => ({ size: each.size, head: each.head, timestamp }));
  return { head, notes: notesOn(head, parts), pins: pins.sort((a, b) => a.size - b.size) };
}

/** That something was cut off is written down before it is, so that the note on it cannot be forgotten. */
function repair(
  directory: string,
  { files, head: headFile }: LogParts,
  { end, left }: { readonly end: Head; readonly left: Buffer },
): Head {
  const head = { ...end, torn: setAside(files, directory, end, left) };
  headFile.write(head);
  cutBack(files, directory, head);
  return head;
}

function notesOn({ torn }: Head, { note }: LogParts): readonly string[] {
  return torn === undefined ? [] : [note("tail_repaired", { ...torn })];
}
