import type { Found, Ledger, LogLine, Query } from "../../../model/store.js";
import { matches } from "../../../record/query.js";
import { timesOf } from "../../../record/record-id.js";
import { reading } from "./damage.js";
import { LivingIndex } from "./index/living-index.js";
import type { LogIndex, Progress } from "./index/log-index.js";
import { openIndex } from "./index/open-index.js";
import { rowsOf } from "./index/row-order.js";
import { tallyOf } from "./index/tally.js";
import { LineFiles } from "./line-files.js";
import { prunable } from "./prune.js";
import { Surroundings } from "./surroundings.js";
import type { Watching } from "./watching.js";
import { sizeByHead, watching } from "./watching.js";

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
  readonly living: Pick<LivingIndex, "tell">;
  readonly close: () => void;
}

/** Answers questions about a log with the help of its index. */
export function openReader(log: string, options: ReaderOptions): OpenReader {
  const { tell, look } = watching(log, options);
  const open = opener(log, { ...options, tell, look });
  const indexed = async <T>(ask: (index: LogIndex, lines: LineFiles) => T): Promise<T> => {
    const { index, lines } = open();
    try {
      return await ask(index, lines);
    } finally {
      index.close();
      lines.close();
    }
  };
  const lines = new LineFiles(log, tell);
  const living = new LivingIndex(log, { ...options, onLook: look, onReplaced: () => lines.close() });
  const around = new Surroundings(log, living, lines);
  const reader: Reader = {
    state() {
      const known = sizeByHead(log) ?? 0;
      return indexed(({ first, count, lastHash: head }) => {
        const size = first + count - 1;
        return { size, head, ...(known > size && { lost: known - size }) };
      });
    },
    select: (query, unreadable) => select(open, query, unreadable),
    related: (key, range = {}) => around.related(key, range),
    neighbours: (decisionId, entities, most, bounds = {}) =>
      around.neighbours({ decisionId, entities, most, bounds }),
    find: (reference) => indexed((index, lines) => find(index, lines, reference)),
    tally: (decisionId, range) => indexed((index) => tallyOf(index, decisionId, range)),
    prunable: (bound) => indexed((index) => prunable(log, index, bound)),
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
  return { reader, living, close };
}

/** What reading needs, opened when something is asked. */
interface Opened {
  readonly index: LogIndex;
  readonly lines: LineFiles;
}

function opener(log: string, { progress, tell, look }: ReaderOptions & Watching): () => Opened {
  return () => {
    const looked = look();
    const index = reading(log, () => openIndex(log, { progress }));
    looked(index);
    return { index, lines: new LineFiles(log, tell) };
  };
}

// eslint-disable-next-line @typescript-eslint/require-await -- other drivers do wait
async function* select(
  open: () => Opened,
  query: Query,
  unreadable?: Parameters<Ledger["select"]>[1],
): AsyncGenerator<LogLine> {
  const { index, lines } = open();
  try {
    const { limit = Infinity, reverse = false } = query;
    if (limit === Infinity && !reverse) {
      for (const place of rowsOf(index, query, "forwards")) {
        const line = lines.read(place, unreadable && ((text) => unreadable({ seq: place.seq, text })));
        if (line !== undefined && matches(line.record, query)) yield line;
      }
      return;
    }
    const newest: LogLine[] = [];
    let taken = 0;
    for (const line of matching(index, lines, query, "backwards")) {
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

function* matching(
  index: LogIndex,
  lines: LineFiles,
  query: Query,
  direction: "forwards" | "backwards",
): Generator<LogLine> {
  for (const place of rowsOf(index, query, direction)) {
    const line = lines.read(place);
    if (line !== undefined && matches(line.record, query)) yield line;
  }
}

/** More than these would not help anybody to choose. */
const mostCandidates = 5;

function find(index: LogIndex, lines: LineFiles, reference: Parameters<Ledger["find"]>[0]): Found {
  if ("latest" in reference) {
    const [latest] = take(matching(index, lines, { kind: "decision" }, "backwards"), 1);
    return latest ?? { candidates: [] };
  }
  if ("seq" in reference) {
    const after = reference.seq - 1;
    const isIt = ({ record }: LogLine): boolean => record.seq === reference.seq;
    const among = index.gaps
      ? filtered(matching(index, lines, {}, "forwards"), isIt)
      : matching(index, lines, { after }, "forwards");
    const [found] = take(among, 1);
    return found !== undefined && isIt(found) ? found : { candidates: [] };
  }
  const [first, last] = timesOf(reference.beginning);
  const range = { since: first * 1000, until: last * 1000 + 999 };
  const begins = ({ record }: LogLine): boolean => record.record_id.startsWith(reference.beginning);
  const found = take(filtered(matching(index, lines, range, "backwards"), begins), mostCandidates);
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  return { candidates: found.map(({ record }) => record.record_id) };
}

function* filtered<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Generator<T> {
  for (const item of items) if (isWanted(item)) yield item;
}

function take<T>(items: Iterable<T>, most: number): readonly T[] {
  const taken: T[] = [];
  for (const item of items) if (taken.push(item) >= most) break;
  return taken;
}
