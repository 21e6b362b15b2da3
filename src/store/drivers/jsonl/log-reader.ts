import { closeSync } from "node:fs";
import { openIfExists, systemFiles } from "./files.js";
import { readHead } from "./head.js";
import type { LogIndex, Progress } from "./index/log-index.js";
import { matchingLocations } from "./index/matching-rows.js";
import { LiveIndex, openIndex } from "./index/open-index.js";
import { tallyDecision } from "./index/tally.js";
import { LineReader } from "./line-reader.js";
import { findPrunable } from "./prune.js";
import { RelatedRecords } from "./related-records.js";
import { wrapReadErrors } from "./store-errors.js";
import type { Found, Ledger, LogLine, Query } from "../../../model/store.js";
import { idTimeRange } from "../../../record/record-id.js";
import { matchesQuery } from "../../../record/record-query.js";

export interface ReaderOptions {
  readonly progress?: Progress;
  /** Hears, once, that the log is not what was written. */
  readonly onDamage?: (message: string) => void;
}

export type Reader = Pick<
  Ledger,
  "state" | "select" | "related" | "neighbours" | "find" | "tally" | "cacheUse" | "prunable"
>;

/** A reader that is told what is written, and closed when it is no longer needed. */
export interface OpenReader {
  readonly reader: Reader;
  readonly liveIndex: Pick<LiveIndex, "tell">;
  readonly close: () => void;
}

/** Answers questions about a log with the help of its index. */
export function openReader(log: string, options: ReaderOptions): OpenReader {
  const { reportDamage: tell, beginCheck: look } = watchForDamage(log, options);
  const open = logOpener(log, { ...options, reportDamage: tell, beginCheck: look });
  const indexed = async <T>(ask: (index: LogIndex, lines: LineReader) => T): Promise<T> => {
    const { index, lines } = open();
    try {
      return await ask(index, lines);
    } finally {
      index.close();
      lines.close();
    }
  };
  const lines = new LineReader(log, tell);
  const living = new LiveIndex(log, { ...options, beginCheck: look, onReplaced: () => lines.close() });
  const around = new RelatedRecords(log, living, lines);
  const reader: Reader = {
    state() {
      const known = readHeadSize(log) ?? 0;
      return indexed(({ first, count, lastHash: head }) => {
        const size = first + count - 1;
        return { size, head, ...(known > size && { lost: known - size }) };
      });
    },
    select: (query, unreadable) => select(open, query, unreadable),
    related: (key, range = {}) => around.related(key, range),
    neighbours: (decisionId, entities, most, bounds = {}) =>
      around.neighbours({ decisionId, entities, most, bounds }),
    find: (reference) => indexed((index, lines) => findRecord(index, lines, reference)),
    tally: (decisionId, range) => indexed((index) => tallyDecision(index, decisionId, range)),
    prunable: (bound) => indexed((index) => findPrunable(log, index, bound)),
    cacheUse: () =>
      indexed(({ shapes }) => {
        const sum = (use: "hit" | "miss"): number =>
          shapes.list.reduce(
            (total, { cache }, at) => total + (cache === use ? (shapes.counts[at] ?? 0) : 0),
            0,
          );
        return { hits: sum("hit"), misses: sum("miss") };
      }),
  };
  const close = (): void => {
    living.close();
    lines.close();
  };
  return { reader, liveIndex: living, close };
}

/** What reading needs, opened when something is asked. */
interface OpenedLog {
  readonly index: LogIndex;
  readonly lines: LineReader;
}

function logOpener(
  log: string,
  { progress, reportDamage: tell, beginCheck: look }: ReaderOptions & DamageWatch,
): () => OpenedLog {
  return () => {
    const looked = look();
    const index = wrapReadErrors(log, () => openIndex(log, { progress }));
    looked(index);
    return { index, lines: new LineReader(log, tell) };
  };
}

// eslint-disable-next-line @typescript-eslint/require-await -- other drivers do wait
async function* select(
  open: () => OpenedLog,
  query: Query,
  unreadable?: Parameters<Ledger["select"]>[1],
): AsyncGenerator<LogLine> {
  const { index, lines } = open();
  try {
    const { limit = Infinity, reverse = false } = query;
    if (limit === Infinity && !reverse) {
      for (const place of matchingLocations(index, query, "forwards")) {
        const line = lines.read(place, unreadable && ((text) => unreadable({ seq: place.seq, text })));
        if (line !== undefined && matchesQuery(line.record, query)) yield line;
      }
      return;
    }
    const newest: LogLine[] = [];
    let taken = 0;
    for (const line of matchingLines(index, lines, query, "backwards")) {
      if (taken++ >= limit) break;
      if (reverse) yield line;
      else newest.push(line);
    }
    yield* newest.reverse();
  } finally {
    index.close();
    lines.close();
  }
}

function* matchingLines(
  index: LogIndex,
  lines: LineReader,
  query: Query,
  direction: "forwards" | "backwards",
): Generator<LogLine> {
  for (const place of matchingLocations(index, query, direction)) {
    const line = lines.read(place);
    if (line !== undefined && matchesQuery(line.record, query)) yield line;
  }
}

/** More than these would not help anybody to choose. */
const maxCandidates = 5;

function findRecord(index: LogIndex, lines: LineReader, reference: Parameters<Ledger["find"]>[0]): Found {
  if ("latest" in reference) {
    const [latest] = takeFirst(matchingLines(index, lines, { kind: "decision" }, "backwards"), 1);
    return latest ?? { candidates: [] };
  }
  if ("seq" in reference) {
    const after = reference.seq - 1;
    const isIt = ({ record }: LogLine): boolean => record.seq === reference.seq;
    const among = index.hasGaps
      ? filterItems(matchingLines(index, lines, {}, "forwards"), isIt)
      : matchingLines(index, lines, { after }, "forwards");
    const [found] = takeFirst(among, 1);
    return found !== undefined && isIt(found) ? found : { candidates: [] };
  }
  const [first, last] = idTimeRange(reference.beginning);
  const range = { since: first * 1000, until: last * 1000 + 999 };
  const begins = ({ record }: LogLine): boolean => record.record_id.startsWith(reference.beginning);
  const found = takeFirst(
    filterItems(matchingLines(index, lines, range, "backwards"), begins),
    maxCandidates,
  );
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  return { candidates: found.map(({ record }) => record.record_id) };
}

function* filterItems<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Generator<T> {
  for (const item of items) if (isWanted(item)) yield item;
}

function takeFirst<T>(items: Iterable<T>, most: number): readonly T[] {
  const taken: T[] = [];
  for (const item of items) if (taken.push(item) >= most) break;
  return taken;
}

export interface DamageWatch {
  /** Says, once, that the log is not what was written. */
  readonly reportDamage: () => void;
  /** To be called before the log is looked at; what it gives, with the index after that. */
  readonly beginCheck: () => (index: LogIndex) => void;
}

/** Notices that a log is damaged when it is looked at. */
export function watchForDamage(
  log: string,
  { onDamage }: { readonly onDamage?: (message: string) => void },
): DamageWatch {
  let isTold = false;
  const tell = (): void => {
    if (!isTold) onDamage?.(`the log in \`${log}\` is damaged; see \`agent-33 decision verify\``);
    isTold = true;
  };
  const look = (): ((index: LogIndex) => void) => {
    // Before: the head follows the log, so that one that is read later may know of more without any damage.
    const size = readHeadSize(log);
    return (index) => {
      if (index.isDamaged || isCut(size, index)) tell();
    };
  };
  return { reportDamage: tell, beginCheck: look };
}

/** How many records the head knows of; undefined where there is none. */
export function readHeadSize(log: string): number | undefined {
  const fd = openIfExists(systemFiles, `${log}/head`, "r");
  if (fd === undefined) return undefined;
  try {
    return readHead(systemFiles, fd)?.size;
  } finally {
    closeSync(fd);
  }
}

/** Whether the head knows of more than there is; or is missing. */
const isCut = (size: number | undefined, { first, count }: LogIndex): boolean =>
  size === undefined ? count > 0 : size > first + count - 1;
