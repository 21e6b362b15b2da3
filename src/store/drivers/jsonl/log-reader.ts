import type { DamageDetector } from "./damage-detection.js";
import type { Head } from "./head.js";
import { readHeadFile } from "./head.js";
import type { LogIndex, Progress } from "./index/log-index.js";
import { matchingLocations } from "./index/matching-rows.js";
import { IndexOpener, LiveIndex } from "./index/open-index.js";
import { DamagedIndexError } from "./index/page-sum.js";
import { LineReader } from "./line-reader.js";
import { RelatedRecords } from "./related-records.js";
import { throwReadError, wrapReadErrors } from "./store-errors.js";
import { listSegments } from "./segments.js";
import { stopwatch } from "../../../clock.js";
import { nodeCrypto } from "../../../digest/sha256.js";
import type { Found, Ledger, LogLine, Query } from "../../../model/store.js";
import { idTimeRange } from "../../../record/record-id.js";
import { matchesQuery } from "../../../record/record-query.js";

export interface ReaderOptions {
  readonly detector: DamageDetector;
  readonly progress?: Progress;
  /** Called once if the log is found damaged. */
  readonly onDamage?: (message: string) => void;
}

export type Reader = Pick<
  Ledger,
  | "state"
  | "select"
  | "related"
  | "neighbours"
  | "find"
  | "tally"
  | "tallyByHour"
  | "cacheUse"
  | "pruned"
  | "prunable"
>;

/** A reader of a log. The writer of the same process notifies its live index of changes. */
export interface OpenReader {
  readonly reader: Reader;
  readonly liveIndex: Pick<LiveIndex, "notifyChange">;
  readonly close: () => void;
}

/** Answers queries on a log, using its index. A damaged index is rebuilt, and the query answered again. */
export function openReader(log: string, options: ReaderOptions): OpenReader {
  const watch = watchForDamage(log, options);
  const { reportDamage, beginCheck } = watch;
  const opener = new IndexOpener(log, { progress: options.progress, beginCheck });
  const open = logOpener(log, opener, reportDamage);
  type IndexQuery<T> = (index: LogIndex, lines: LineReader) => T;
  const queryIndex = async <T>(source: IndexSource, query: IndexQuery<T>): Promise<T> => {
    const { index, lines } = await open(source);
    try {
      return await query(index, lines);
    } finally {
      index.close();
      lines.close();
    }
  };
  const withIndex = async <T>(query: IndexQuery<T>): Promise<T> => {
    await watch.inspect();
    try {
      return await queryIndex("saved index", query);
    } catch (error) {
      if (!(error instanceof DamagedIndexError)) return throwReadError(log)(error);
      return await queryIndex("new index", query);
    }
  };
  const lines = new LineReader(log, reportDamage);
  const liveIndex = new LiveIndex(log, opener, () => lines.close());
  const relatedRecords = new RelatedRecords(log, { liveIndex, lines, inspect: watch.inspect });
  const reader: Reader = {
    state() {
      const { size: sizeInHead = 0 } = wrapReadErrors(log, () => readHeadFile(log)) ?? {};
      return withIndex(({ first, count, lastHash: head }) => {
        const size = first + count - 1;
        return { size, head, ...(sizeInHead > size && { lost: sizeInHead - size }) };
      });
    },
    select: (query, onUnreadable) => select({ ...watch, log, open }, query, onUnreadable),
    related: (key, range = {}) => relatedRecords.related(key, range),
    neighbours: (subject, entities, most, bounds = {}) =>
      relatedRecords.neighbours({ subject, entities, most, bounds }),
    find: (reference) => withIndex((index, lines) => findRecord(index, lines, reference)),
    async tally(decisionId, range) {
      const { tallyDecision } = await import("./index/tally.js");
      return withIndex((index) => tallyDecision(index, decisionId, range));
    },
    async tallyByHour(decisionId, range) {
      const { tallyByHour } = await import("./index/tally.js");
      return withIndex((index) => tallyByHour(index, decisionId, range));
    },
    pruned: () => Promise.resolve(wrapReadErrors(log, () => readPruned(log))),
    async prunable(bound) {
      const { findPrunable } = await import("./prune.js");
      await ("keep" in bound ? watch.inspect() : watch.verify());
      return wrapReadErrors(log, () => findPrunable(log, bound));
    },
    cacheUse: () =>
      withIndex(({ shapes }) => {
        const sum = (use: "hit" | "miss"): number =>
          shapes.list.reduce(
            (total, { cache }, at) => total + (cache === use ? (shapes.counts[at] ?? 0) : 0),
            0,
          );
        return { hits: sum("hit"), misses: sum("miss") };
      }),
  };
  const close = (): void => {
    liveIndex.close();
    lines.close();
  };
  return { reader, liveIndex, close };
}

/** The head of an earlier version does not say it; then the records before the oldest file were pruned. */
const readPruned = (log: string): number =>
  Math.max(0, readHeadFile(log)?.pruned ?? (listSegments(log)[0] ?? 1) - 1);

/** Opened for one query and closed after it. */
interface OpenedLog {
  readonly index: LogIndex;
  readonly lines: LineReader;
}

/** `the log`: an index that is built in memory and not saved. */
type IndexSource = "saved index" | "new index" | "the log";

type OpenLog = (source: IndexSource) => Promise<OpenedLog>;

function logOpener(log: string, opener: IndexOpener, reportDamage: () => void): OpenLog {
  return async (source) => {
    const rebuild = source !== "saved index";
    const minRowsToSave = source === "the log" ? Infinity : 1;
    const index = await opener.open({ rebuild, minRowsToSave }).catch(throwReadError(log));
    return { index, lines: new LineReader(log, reportDamage) };
  };
}

async function* select(
  { log, open, inspect, verify }: DamageWatch & { readonly log: string; readonly open: OpenLog },
  { unindexed = false, ...query }: Query,
  onUnreadable?: Parameters<Ledger["select"]>[1],
): AsyncGenerator<LogLine> {
  nodeCrypto(); // The hash of every line is checked: with the portable SHA-256 a `log` of 20 records takes 8 ms longer.
  await (unindexed ? verify() : inspect());
  let last: number | undefined;
  const isNew = (seq: number): boolean => last === undefined || (query.reverse ? seq < last : seq > last);
  const reportNew: typeof onUnreadable =
    onUnreadable &&
    ((line) => {
      if (isNew(line.seq)) onUnreadable(line);
    });
  for (const source of unindexed ? (["the log"] as const) : (["saved index", "new index"] as const)) {
    const { index, lines } = await open(source);
    try {
      for (const line of selectLines(index, lines, query, reportNew)) {
        // Only after a damaged index: the lines that were returned before the damage was found.
        if (source === "new index" && !isNew(line.record.seq)) continue;
        last = line.record.seq;
        yield line;
      }
      return;
    } catch (error) {
      if (source !== "saved index" || !(error instanceof DamagedIndexError)) throwReadError(log)(error);
    } finally {
      index.close();
      lines.close();
    }
  }
}

function* selectLines(
  index: LogIndex,
  lines: LineReader,
  query: Query,
  onUnreadable?: Parameters<Ledger["select"]>[1],
): Generator<LogLine> {
  const { limit = Infinity, reverse = false } = query;
  if (limit === Infinity && !reverse) {
    for (const location of matchingLocations(index, query, "forwards")) {
      const { seq } = location;
      const line = lines.read(location, onUnreadable && ((text) => onUnreadable({ seq, text })));
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
}

function* matchingLines(
  index: LogIndex,
  lines: LineReader,
  query: Query,
  direction: "forwards" | "backwards",
): Generator<LogLine> {
  for (const location of matchingLocations(index, query, direction)) {
    const line = lines.read(location);
    if (line !== undefined && matchesQuery(line.record, query)) yield line;
  }
}

/** The most candidates shown for an ambiguous id prefix. */
const maxCandidates = 5;

function findRecord(index: LogIndex, lines: LineReader, reference: Parameters<Ledger["find"]>[0]): Found {
  if ("latest" in reference) {
    const [latest] = takeFirst(matchingLines(index, lines, { kind: "decision" }, "backwards"), 1);
    return latest ?? { candidates: [] };
  }
  if ("seq" in reference) {
    const after = reference.seq - 1;
    const hasSeq = ({ record }: LogLine): boolean => record.seq === reference.seq;
    // Gaps make row numbers useless for finding a sequence number, so all lines are searched.
    const candidates = index.hasGaps
      ? filterItems(matchingLines(index, lines, {}, "forwards"), hasSeq)
      : matchingLines(index, lines, { after }, "forwards");
    const [found] = takeFirst(candidates, 1);
    return found !== undefined && hasSeq(found) ? found : { candidates: [] };
  }
  const [first, last] = idTimeRange(reference.beginning);
  const range = { since: first * 1000, until: last * 1000 + 999 };
  const hasPrefix = ({ record }: LogLine): boolean => record.record_id.startsWith(reference.beginning);
  const inRange = matchingLines(index, lines, range, "backwards");
  const found = takeFirst(filterItems(inRange, hasPrefix), maxCandidates);
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  return { candidates: found.map(({ record }) => record.record_id) };
}

function* filterItems<T>(items: Iterable<T>, predicate: (item: T) => boolean): Generator<T> {
  for (const item of items) if (predicate(item)) yield item;
}

function takeFirst<T>(items: Iterable<T>, count: number): readonly T[] {
  const taken: T[] = [];
  for (const item of items) if (taken.push(item) >= count) break;
  return taken;
}

interface DamageWatch {
  /** Reports damage once. */
  readonly reportDamage: () => void;
  /** Reports damage that the files of the log show before they are read. */
  readonly inspect: () => Promise<void>;
  /** Reads the whole log and reports damage. Needed where lines are selected by what they contain. */
  readonly verify: () => Promise<void>;
  /** Call before opening the index; call the returned function with the index after it. */
  readonly beginCheck: () => (index: LogIndex) => void;
}

/** The longest time until damage by other programs is seen. */
const reinspectAfterMs = 50;

/** Detects damage that shows when a log is opened. */
function watchForDamage(log: string, { detector, onDamage }: ReaderOptions): DamageWatch {
  let isReported = false;
  let inspectedAt = -Infinity;
  const reportDamage = (): void => {
    if (!isReported) onDamage?.(`the log in \`${log}\` is damaged; run \`agent-33 decision verify\``);
    isReported = true;
  };
  const inspect = async (): Promise<void> => {
    if (isReported || stopwatch() - inspectedAt < reinspectAfterMs) return;
    inspectedAt = stopwatch();
    if ((await detector.findProblem().catch(throwReadError(log))) !== undefined) reportDamage();
  };
  const verify = async (): Promise<void> => {
    if (!isReported && (await detector.verify().catch(throwReadError(log))) !== undefined) reportDamage();
  };
  const beginCheck = (): ((index: LogIndex) => void) => {
    // Before the log is read: a head that is read later could already cover records appended meanwhile.
    const head = wrapReadErrors(log, () => readHeadFile(log));
    return (index) => {
      if (index.isDamaged || contradicts(head, index)) reportDamage();
    };
  };
  return { reportDamage, inspect, verify, beginCheck };
}

/** Returns true if the head covers more records than the log has, or others, or if a log with records has no head. */
function contradicts(head: Head | undefined, { first, count, lastHash }: LogIndex): boolean {
  if (head === undefined) return count > 0;
  const size = first + count - 1;
  return head.size > size || (count > 0 && head.size === size && head.head !== lastHash);
}
