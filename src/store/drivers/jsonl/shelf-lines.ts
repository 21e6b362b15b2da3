import type { ShelfEntry } from "../../../model/store.js";

/** A file is tidied when it has grown to twice what was live the last time, but not before this. */
const smallestTidied = 16 * 1024;

/** What a file of a shelf begins with: how large it may grow before it is tidied. */
export const headerFor = (live: number): string => `{"tidied_at":${Math.max(smallestTidied, 2 * live)}}\n`;

export function isGrown(beginning: Buffer, size: number): boolean {
  return size > Number(/^\{"tidied_at":(\d+)\}/.exec(beginning.toString("latin1"))?.[1] ?? smallestTidied);
}

export const lineOf = ({ key, group, expires_at, value }: ShelfEntry): string =>
  `${JSON.stringify({ key, group, expires_at, value })}\n`;

/** The latest entry of a key. */
export function entryIn(bytes: Buffer, key: string): ShelfEntry | undefined {
  const beginning = `\n{"key":${JSON.stringify(key)},`;
  // The last one may be half a line that a crash left behind; the one before it then counts.
  for (let at = bytes.lastIndexOf(beginning); at !== -1; at = bytes.lastIndexOf(beginning, at - 1)) {
    const end = bytes.indexOf("\n", at + 1);
    const entry = end === -1 ? undefined : parseEntry(bytes.toString("utf8", at + 1, end));
    if (entry !== undefined) return entry;
    if (at === 0) break;
  }
  return undefined;
}

/** The latest entry of each key. */
export function entriesIn(bytes: Buffer): readonly ShelfEntry[] {
  const latest = new Map<string, ShelfEntry>();
  // Behind the last newline there may be half a line.
  for (const line of bytes.toString("utf8").split("\n").slice(0, -1)) {
    const entry = line.startsWith('{"key":') ? parseEntry(line) : undefined;
    if (entry !== undefined) latest.set(entry.key, entry);
  }
  return [...latest.values()];
}

/** Whether anything in it has expired; cheaper than looking at each entry. */
export function holdsExpired(bytes: Buffer, now: number): boolean {
  const times = bytes.toString("latin1").matchAll(/^\{"key":"[^"]*","group":"[^"]*","expires_at":(\d+)/gm);
  return [...times].some(([, time]) => Number(time) <= now);
}

export const hasExpired = ({ expires_at }: ShelfEntry, now: number): boolean =>
  expires_at !== undefined && now >= expires_at;

function parseEntry(line: string): ShelfEntry | undefined {
  try {
    return JSON.parse(line) as ShelfEntry;
  } catch {
    return undefined;
  }
}
