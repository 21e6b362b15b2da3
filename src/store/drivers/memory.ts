import { storeNotEmptyError } from "./store-not-empty.js";
import type { JsonObject } from "../../model/json.js";
import type { Entity } from "../../model/lineage.js";
import type { DecisionRecord, LogRecord } from "../../model/record.js";
import type {
  Appended,
  Count,
  Counter,
  Found,
  Ledger,
  LogLine,
  Neighbour,
  NeighbourSubject,
  Query,
  Reference,
  Shelf,
  ShelfEntry,
  ShelfName,
  Store,
  StoreSnapshot,
  Tally,
  HourTally,
  TimeRange,
} from "../../model/store.js";
import { genesisHash, sealLine } from "../../record/chain.js";
import {
  countEntry,
  counterName,
  groupBodies,
  incrementCounter,
  isLimitReached,
  zeroCounter,
} from "../../record/counters.js";
import { countersInNote } from "../../record/notes.js";
import { microsecondsOf } from "../../record/timestamp.js";
import {
  entitiesOf,
  matchesKey,
  isSameEntity,
  isInRelatedRange,
  toolOf,
  traitsOf,
} from "../../record/record-keys.js";
import { matchesQuery } from "../../record/record-query.js";
import { TallyBuilder } from "../../record/tally.js";

/** A store that lives in the memory of the process. */
export function openMemoryStore(): Store {
  const shelves = new Map<string, Shelf>();
  const { log, load } = memoryLedger();
  const shelf = (name: ShelfName): Shelf => {
    const shelf = shelves.get(name) ?? memoryShelf();
    shelves.set(name, shelf);
    return shelf;
  };
  return {
    log,
    shelf,
    async restore(snapshot) {
      load(snapshot);
      for (const { shelf: name, entry } of snapshot.shelves) await shelf(name).put([entry]);
    },
    close: () => Promise.resolve(),
  };
}

function memoryLedger(): { readonly log: Ledger; readonly load: (snapshot: StoreSnapshot) => void } {
  const lines: LogLine[] = [];
  const counters = new Map<string, Counter>();
  const counterOf = (name: string): Counter => counters.get(name) ?? zeroCounter;
  let head = genesisHash;
  let size = 0;
  const add = (body: string): { readonly seq: number; readonly hash: string } => {
    const { line, hash } = sealLine(++size, body, head);
    head = hash;
    const text = line.trimEnd();
    lines.push({ text, record: JSON.parse(text) as LogRecord, intact: true });
    return { seq: size, hash };
  };
  const decisions = function* (id: string | undefined, range: TimeRange = {}): Generator<DecisionRecord> {
    const query: Query = { ...range, kind: "decision", ...(id !== undefined && { decision_id: id }) };
    for (const { record } of lines)
      if (record.kind === "decision" && matchesQuery(record, query)) yield record;
  };
  const load = ({ state, lines: texts }: StoreSnapshot): void => {
    if (size > 0) throw storeNotEmptyError("memory");
    for (const text of texts) {
      const record = JSON.parse(text) as LogRecord & { readonly counted?: readonly Count[] };
      lines.push({ text, record, intact: true });
      countEntry(counters, record.counted ?? [], record.seq);
      // It has the counters of pruned records, too.
      const noted = record.kind === "note" ? countersInNote(record) : undefined;
      for (const [name, counter] of Object.entries(noted ?? {})) counters.set(name, counter);
    }
    ({ size, head } = state);
  };
  const log: Ledger = {
    append(...entries): Promise<Appended> {
      const limits = entries.flatMap((entry) => entry.limits ?? []);
      const refused = limits.find((limit) => isLimitReached(limit, counterOf(limit.counter)));
      if (refused !== undefined) return Promise.resolve({ refused, count: counterOf(refused.counter).count });
      const bodies = groupBodies(entries);
      const appended = entries.map(({ counts = [] }, index) => {
        for (const count of counts) {
          const name = counterName(count);
          counters.set(name, incrementCounter(counterOf(name), count, size + 1));
        }
        return add(bodies[index] ?? "");
      });
      const places = appended.map(({ seq }) => ({ seq }));
      return Promise.resolve({ ...(appended.at(-1) ?? { seq: size, hash: head }), places });
    },
    counter: (name) => Promise.resolve(counterOf(name)),
    at: ({ seq }) => Promise.resolve(lines.find(({ record }) => record.seq === seq)),
    ready: () => Promise.resolve(),
    state: () => Promise.resolve({ size, head }),
    // eslint-disable-next-line @typescript-eslint/require-await -- other drivers await
    async *select(query) {
      const { limit = Infinity, reverse = false } = query;
      const matching = lines.filter(({ record }) => matchesQuery(record, query));
      const newest = matching.slice(Math.max(0, matching.length - limit));
      yield* reverse ? newest.reverse() : newest;
    },
    find: (reference) => Promise.resolve(find(lines, reference)),
    // eslint-disable-next-line @typescript-eslint/require-await -- other drivers await
    async *related(key, range = {}) {
      const matching = lines.filter(
        ({ record }) => matchesKey(record, key) && isInRelatedRange(record, range),
      );
      yield* matching.reverse().slice(0, range.limit ?? Infinity);
    },
    neighbours(subject, entities, most, bounds = {}) {
      const { before = Infinity, cannotMatch = () => false, stopAfter = () => false } = bounds;
      const all = neighboursIn(lines, subject, entities).filter(({ seq }) => seq < before);
      const found = all.slice(0, most).filter((each) => !cannotMatch(each.shared, each.entities));
      const last = found.findIndex((each) => stopAfter(each));
      return Promise.resolve(last === -1 ? found : found.slice(0, last + 1));
    },
    tally: (id, range) => Promise.resolve(tallyOf(decisions(id, range))),
    tallyByHour: (id, range) => Promise.resolve(hourTalliesOf(decisions(id, range))),
    pruned: () => Promise.resolve((lines[0]?.record.seq ?? 1) - 1),
    prunable(bound) {
      const isRemovable = ({ record }: LogLine): boolean =>
        "keep" in bound ? record.seq <= size - bound.keep : microsecondsOf(record.timestamp) < bound.before;
      const firstKept = lines.findIndex((line) => !isRemovable(line));
      const removable = firstKept === -1 ? lines : lines.slice(0, firstKept);
      const bytes = removable.reduce((sum, { text }) => sum + text.length + 1, 0);
      const through = removable.at(-1)?.record.seq ?? 0;
      return Promise.resolve({ records: removable.length, through, bytes });
    },
    prune({ records, through }, makeNoteBody) {
      const last = lines.find(({ record }) => record.seq === through);
      if (last === undefined) return Promise.resolve();
      const counted = Object.fromEntries(counters) as unknown as JsonObject;
      add(makeNoteBody({ through, hash: last.record.hash, records, counters: counted }));
      lines.splice(0, lines.indexOf(last) + 1);
      return Promise.resolve();
    },
    cacheUse() {
      const lookups = [...decisions(undefined)].filter(({ cache_key }) => cache_key !== undefined);
      const hits = lookups.filter(({ cached }) => cached).length;
      return Promise.resolve({ hits, misses: lookups.length - hits });
    },
  };
  return { log, load };
}

/** Returns the newest records first. */
function neighboursIn(
  lines: readonly LogLine[],
  { decision_id, tool }: NeighbourSubject,
  queried: readonly Entity[],
): readonly Neighbour[] {
  return lines
    .flatMap((line) => {
      const { record } = line;
      if (record.kind !== "decision" || record.decision_id !== decision_id || toolOf(record) !== tool)
        return [];
      const entities = entitiesOf(record);
      const shared = queried.filter((each) => entities.some((other) => isSameEntity(each, other))).length;
      if (shared === 0) return [];
      const { seq, selected_labels: labels } = record;
      const read = (): Promise<LogRecord> => Promise.resolve(record);
      return [{ seq, shared, entities: entities.length, traits: traitsOf(record), labels, read }];
    })
    .reverse();
}

function find(lines: readonly LogLine[], reference: Reference): Found {
  const matching = lines.filter(({ record }) => {
    if ("seq" in reference) return record.seq === reference.seq;
    return "latest" in reference
      ? record.kind === "decision"
      : record.record_id.startsWith(reference.beginning);
  });
  const last = matching.at(-1);
  if (last !== undefined && (matching.length === 1 || "latest" in reference)) return last;
  const newest = matching.slice(-5).reverse();
  return { candidates: newest.map(({ record }) => record.record_id) };
}

function tallyOf(records: Iterable<DecisionRecord>): Tally {
  const builder = new TallyBuilder();
  const seen = new Set<string>();
  for (const { definition_hash, selected_labels, deterministic_hash } of records) {
    builder.add(definition_hash, selected_labels, {
      count: 1,
      distinct: seen.has(deterministic_hash) ? 0 : 1,
    });
    seen.add(deterministic_hash);
  }
  return builder.tally();
}

function hourTalliesOf(records: Iterable<DecisionRecord>): readonly HourTally[] {
  const tallies = new Map<string, HourTally>();
  for (const { timestamp, definition_hash, selected_labels: labels } of records) {
    const hour = Math.floor(microsecondsOf(timestamp) / 3_600_000_000);
    const key = JSON.stringify([hour, definition_hash, labels]);
    const count = (tallies.get(key)?.count ?? 0) + 1;
    tallies.set(key, { hour, definition_hash, labels, count });
  }
  return [...tallies.values()].sort((a, b) => a.hour - b.hour);
}

function memoryShelf(): Shelf {
  const entries = new Map<string, ShelfEntry>();
  return {
    get: (key) => Promise.resolve(entries.get(key)),
    put(added) {
      for (const entry of added) entries.set(entry.key, entry);
      return Promise.resolve();
    },
    update(key, change) {
      const entry = change(entries.get(key)) ?? entries.get(key);
      if (entry !== undefined) entries.set(key, entry);
      return Promise.resolve(entry);
    },
    remove(shouldRemove) {
      const removed = [...entries.values()].filter(shouldRemove);
      for (const { key } of removed) entries.delete(key);
      return Promise.resolve(removed.length);
    },
    // eslint-disable-next-line @typescript-eslint/require-await -- other drivers await
    async *entries() {
      yield* [...entries.values()];
    },
    extent: () => Promise.resolve({ size: JSON.stringify([...entries.values()]).length, where: "memory" }),
  };
}
