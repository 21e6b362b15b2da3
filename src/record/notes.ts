import type { NoteRecord } from "../model/record.js";
import type { Counter } from "../model/store.js";

/** The kind follows the sequence number, so it is within the first bytes of a line. */
const kindOfNote = Buffer.from(',"kind":"note",');
const startLength = 40;

/** Parses a line of the log (without its newline) that is a note; undefined: it is something else. */
export function parseNote(line: Buffer): NoteRecord | undefined {
  if (!line.subarray(0, startLength).includes(kindOfNote)) return undefined;
  try {
    const record = JSON.parse(line.toString("utf8")) as NoteRecord;
    return (record.kind as string) === "note" && typeof record.details === "object" ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the notes of one kind in the lines of a log. Much faster than parsing every line. */
export function findNotes(lines: Buffer, kind: NoteRecord["note"]): readonly NoteRecord[] {
  const marker = `"note":"${kind}"`;
  const notes: NoteRecord[] = [];
  for (let at = lines.indexOf(marker); at !== -1; at = lines.indexOf(marker, at)) {
    const start = lines.lastIndexOf("\n", at) + 1;
    at = lines.indexOf("\n", at);
    // A crash can leave an incomplete line at the end.
    if (at === -1) break;
    const note = parseNote(lines.subarray(start, at));
    if (note?.note === kind) notes.push(note);
  }
  return notes;
}

/** Returns all counters at the moment of a note that has them; undefined: it has none. */
export function countersInNote({ note, details }: NoteRecord): Readonly<Record<string, Counter>> | undefined {
  if (note !== "pruned" && note !== "counters_migrated") return undefined;
  return details["counters"] as unknown as Readonly<Record<string, Counter>> | undefined;
}

/** Returns the sum of the serial numbers of all approval locks that had been seen; 0: the note does not say. */
export function approvalsInNote({ note, details }: NoteRecord): number {
  const { approvals } = details;
  return (note === "pruned" || note === "approvals_seen") && typeof approvals === "number" ? approvals : 0;
}

/** Returns the serial number of each approval lock that had been seen, by the id of the lock. */
export function serialsInNote({ note, details }: NoteRecord): readonly (readonly [string, number])[] {
  if (note !== "approvals_seen") return [];
  return Object.entries((details["serials"] ?? {}) as Readonly<Record<string, number>>);
}

export const wrongCountersMessage = (seq: number): string =>
  `the counters in the note of record ${seq} contradict the records before it`;
