import { describe, expect, it } from "vitest";
import type { DecisionRecord } from "../../src/model/record.js";
import type {
  Appended,
  Entry,
  HourTally,
  LogPlace,
  Query,
  Shelf,
  ShelfEntry,
  Store,
  StoreSnapshot,
} from "../../src/model/store.js";
import { formatCheckpoint } from "../../src/record/chain.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import type { Decided } from "./entries.js";
import {
  chainProblems,
  collect,
  decided,
  definitionHash,
  definitionOf,
  newId,
  noon,
  noted,
  seqs,
  sha256,
} from "./entries.js";
import { neighbouring, relating } from "./related-contract.js";

/** A new, empty store; `check` verifies it at the end in a way that depends on the driver. */
export interface Opened {
  readonly store: Store;
  readonly check?: () => void;
}

/** The contract of every driver. Options such as the segment size are up to the driver. */
export function storeContract(open: () => Opened, { many = 1000 } = {}): void {
  const withStore = storesFrom(open);
  describe("appending", () => appending(withStore, many));
  describe("limits", () => limits(withStore));
  describe("counters", () => counters(withStore));
  describe("sums", () => sums(withStore));
  describe("selecting", () => selecting(withStore));
  describe("finding", () => finding(withStore));
  describe("tallying", () => tallying(withStore));
  describe("relating", () => relating(withStore));
  describe("neighbours", () => neighbouring(withStore));
  describe("pruning", () => pruning(withStore));
  describe("restoring", () => restoring(withStore));
  describe("a shelf", () => shelves(withStore));
}

/** The contract for entries that are appended as a group. */
export function groupContract(open: () => Opened): void {
  groups(storesFrom(open));
}

export type WithStore = (behaviour: (store: Store) => Promise<void>) => () => Promise<void>;

const storesFrom =
  (open: () => Opened): WithStore =>
  (behaviour) =>
  async () => {
    const { store, check } = open();
    try {
      await behaviour(store);
      check?.();
    } finally {
      await store.close();
    }
  };

const start = microsecondsOf(noon);
const after = (microseconds: number): string => formatTimestamp(start + microseconds);

async function add(store: Store, ...all: readonly Decided[]): Promise<void> {
  for (const each of all) await store.log.append({ body: decided(each) });
}

function appending(withStore: WithStore, many: number): void {
  it(
    "numbers entries from 1 and chains them by the hashes of their texts",
    withStore(async ({ log }) => {
      const appended: Appended[] = [];
      for (let input = 0; input < 20; input++) appended.push(await log.append({ body: decided({ input }) }));
      const lines = await collect(log.select({}));
      expect(appended).toMatchObject(lines.map(({ record: { seq, hash } }) => ({ seq, hash })));
      expect(lines.map(({ record }) => record.seq)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
      expect(chainProblems(lines.map(({ text }) => text))).toEqual([]);
      for (const { text, record } of lines) expect(JSON.parse(text)).toEqual(record);
    }),
  );

  it(
    "returns the place of each entry, where it can be read",
    withStore(async ({ log }) => {
      const entries = Array.from({ length: 9 }, (_, input) => ({ body: decided({ input }) }));
      const places: LogPlace[] = [];
      for (const [first, ...others] of [entries.slice(0, 2), entries.slice(2, 3), entries.slice(3)]) {
        const appended = await log.append(first ?? { body: "" }, ...others);
        places.push(...("places" in appended ? appended.places : []));
      }
      const lines = await collect(log.select({}));
      expect(await Promise.all(places.map((place) => log.at(place)))).toEqual(lines);
      const between = Object.fromEntries(
        Object.entries(places[0] ?? {}).map(([name, at]) => [name, at + 0.5]),
      );
      expect(await log.at(between)).toBeUndefined();
      expect(await log.at({})).toBeUndefined();
    }),
  );

  it(
    "returns the number of records and the hash of the last one",
    withStore(async ({ log }) => {
      await log.ready();
      expect(await log.state()).toEqual({ size: 0, head: "0".repeat(64) });
      for (let size = 1; size <= 5; size++) {
        const { hash } = (await log.append({ body: decided() })) as { hash: string };
        expect(await log.state()).toEqual({ size, head: hash });
      }
    }),
  );

  it(
    "takes many entries at once, in order",
    withStore(async ({ log }) => {
      const inputs = Array.from({ length: many }, (_, input) => input);
      const appended = await Promise.all(inputs.map((input) => log.append({ body: decided({ input }) })));
      expect(appended.map((each) => "seq" in each && each.seq)).toEqual(inputs.map((input) => input + 1));
      const lines = await collect(log.select({}));
      expect(lines.map(({ record }) => (record as DecisionRecord).input_value)).toEqual(inputs);
      expect(chainProblems(lines.map(({ text }) => text))).toEqual([]);
      expect(await log.state()).toEqual({ size: many, head: lines.at(-1)?.record.hash });
    }),
  );

  it(
    "stores every text unchanged",
    withStore(async ({ log }) => {
      const odd = [
        "",
        "ü ß 漢字 🎉",
        'say "no"',
        "back\\slash",
        "line\nbreak\u2028\u2029",
        "\u0000\u001f",
        "\ud800",
        "x".repeat(300_000),
      ];
      const contexts = odd.map((text) => ({ text, [text]: text }));
      for (const context of contexts) await log.append({ body: decided({ context }) });
      const records = (await collect(log.select({}))).map(({ record }) => record as DecisionRecord);
      expect(records.map(({ context }) => context)).toEqual(contexts);
    }),
  );
}

function limits(withStore: WithStore): void {
  const limited = (most: number, counter = "uses"): Entry => ({
    body: decided(),
    counts: [counter],
    limits: [{ counter, most }],
  });

  it(
    "admits exactly as many entries as the limit allows under concurrency",
    withStore(async ({ log }) => {
      const appended = await Promise.all(Array.from({ length: 300 }, () => log.append(limited(100))));
      const refused = appended.filter((each) => "refused" in each);
      expect(refused).toHaveLength(200);
      expect(new Set(refused.map((each) => JSON.stringify(each)))).toEqual(
        new Set([JSON.stringify({ refused: { counter: "uses", most: 100 }, count: 100 })]),
      );
      expect((await log.counter("uses")).count).toBe(100);
      expect(await log.state()).toMatchObject({ size: 100 });
    }),
  );

  it(
    "leaves no trace of a refused entry",
    withStore(async ({ log }) => {
      await log.append(limited(1));
      const before = await log.state();
      const both = { body: decided(), counts: ["other", "uses"], limits: [{ counter: "uses", most: 1 }] };
      expect(await log.append(both)).toEqual({ refused: { counter: "uses", most: 1 }, count: 1 });
      expect(await log.state()).toEqual(before);
      expect((await log.counter("other")).count).toBe(0);
      expect(await seqs(log.select({}))).toEqual([1]);
      expect(await log.append({ body: decided() })).toMatchObject({ seq: 2 });
    }),
  );

  it(
    "reports the first limit that is reached, and appends all or nothing",
    withStore(async ({ log }) => {
      await log.append({ body: decided(), counts: ["a", "b"] });
      const entry = {
        body: decided(),
        counts: ["a", "b"],
        limits: [
          { counter: "a", most: 2 },
          { counter: "b", most: 1 },
          { counter: "a", most: 1 },
        ],
      };
      expect(await log.append(entry)).toEqual({ refused: { counter: "b", most: 1 }, count: 1 });
      expect([
        (await log.counter("a")).count,
        (await log.counter("b")).count,
        (await log.counter("c")).count,
      ]).toEqual([1, 1, 0]);
    }),
  );

  it(
    "keeps counters separate, whatever their names are",
    withStore(async ({ log }) => {
      const names = [
        "a",
        "a b",
        'a"',
        "a\\",
        "ä",
        "__proto__",
        "",
        "\n",
        "x".repeat(2000),
        "a".repeat(2),
        "𝒜",
      ];
      for (const [at, name] of names.entries()) {
        for (let times = 0; times <= at; times++) await log.append({ body: decided(), counts: [name] });
      }
      const counts = await Promise.all(names.map(async (name) => (await log.counter(name)).count));
      expect(counts).toEqual(names.map((_, at) => at + 1));
    }),
  );

  it(
    "refuses everything at a limit of zero",
    withStore(async ({ log }) => {
      expect(await log.append(limited(0))).toEqual({ refused: { counter: "uses", most: 0 }, count: 0 });
      expect(await seqs(log.select({}))).toEqual([]);
    }),
  );

  it(
    "writes the counters into the record",
    withStore(async ({ log }) => {
      await log.append({ body: decided(), counts: ["b", 'a"'] });
      const [line] = await collect(log.select({}));
      expect(line?.record).toMatchObject({ counted: ["b", 'a"'] });
      expect(chainProblems([line?.text ?? ""])).toEqual([]);
    }),
  );
}

function counters(withStore: WithStore): void {
  const timed = (time: number, keep = 3): Entry => ({
    body: decided(),
    counts: [{ counter: "calls", keep, at: start + time }],
  });
  const within = (most: number, since: number): Entry => ({
    body: decided(),
    limits: [{ counter: "calls", most, after: start + since }],
  });

  it(
    "contain the last entry that they counted",
    withStore(async ({ log }) => {
      expect(await log.counter("a")).toEqual({ count: 0, seq: 0 });
      await log.append({ body: decided() });
      await log.append({ body: decided(), counts: ["a"] });
      await log.append({ body: decided(), counts: ["b", "a"] });
      await log.append({ body: decided(), counts: ["b"] });
      await log.append({ body: decided(), counts: ["a"], limits: [{ counter: "a", most: 2 }] });
      expect([await log.counter("a"), await log.counter("b")]).toEqual([
        { count: 2, seq: 3 },
        { count: 2, seq: 4 },
      ]);
    }),
  );

  it(
    "keep the newest times, up to the given number",
    withStore(async ({ log }) => {
      for (const time of [0, 10, 20, 30, 40]) await log.append(timed(time));
      expect(await log.counter("calls")).toEqual({
        count: 5,
        seq: 5,
        times: [start + 20, start + 30, start + 40],
      });
      await log.append(timed(50, 2));
      expect((await log.counter("calls")).times).toEqual([start + 40, start + 50]);
    }),
  );

  it(
    "refuse by the count since a time, to the microsecond",
    withStore(async ({ log }) => {
      for (const time of [0, 10, 20]) await log.append(timed(time));
      const after = start + 9;
      expect(await log.append(within(2, 9))).toEqual({
        refused: { counter: "calls", most: 2, after },
        count: 3,
      });
      expect(await log.append(within(3, 9))).toMatchObject({ seq: 4 });
      expect(await log.append(within(2, 10))).toMatchObject({ seq: 5 });
      expect(await log.append(within(1, 20))).toMatchObject({ seq: 6 });
    }),
  );

  it(
    "admit exactly as many entries within a time window under concurrency",
    withStore(async ({ log }) => {
      const wanted = Array.from({ length: 60 }, (_, time) => ({ ...timed(time, 5), ...within(5, -1) }));
      const appended = await Promise.all(wanted.map((entry) => log.append({ ...entry, body: decided() })));
      expect(appended.filter((each) => "seq" in each)).toHaveLength(5);
      const { times = [] } = await log.counter("calls");
      expect(times).toHaveLength(5);
    }),
  );

  it(
    "can be counted with and without times",
    withStore(async ({ log }) => {
      await log.append({ body: decided(), counts: ["calls"] });
      expect(await log.append(within(1, -1))).toMatchObject({ seq: 2 });
      await log.append(timed(5));
      await log.append({ body: decided(), counts: ["calls"] });
      expect(await log.counter("calls")).toEqual({ count: 3, seq: 4, times: [start + 5] });
    }),
  );

  it(
    "write the time of counting into the record",
    withStore(async ({ log }) => {
      await log.append(timed(7));
      const [line] = await collect(log.select({}));
      expect(line?.record).toMatchObject({ counted: [{ counter: "calls", keep: 3, at: start + 7 }] });
    }),
  );
}

function sums(withStore: WithStore): void {
  const added = (add: number, time: number): Entry => ({
    body: decided(),
    counts: [{ counter: "spent", add, at: start + time, window: 100 }],
  });
  const limited = (add: number, most: number): Entry => ({
    body: decided(),
    counts: [{ counter: "spent", add }],
    limits: [{ counter: "spent", most, add }],
  });

  it(
    "admit amounts up to the limit exactly, under concurrency",
    withStore(async ({ log }) => {
      const appended = await Promise.all(Array.from({ length: 60 }, () => log.append(limited(3, 100))));
      expect(appended.filter((each) => "seq" in each)).toHaveLength(33);
      expect(await log.counter("spent")).toMatchObject({ count: 33, sum: 99 });
      expect(await log.append(limited(1, 100))).toMatchObject({ seq: 34 });
      const refused = { counter: "spent", most: 100, add: 1 };
      expect(await log.append(limited(1, 100))).toEqual({ refused, count: 34 });
    }),
  );

  it(
    "refuse by the sum since a time, to the microsecond",
    withStore(async ({ log }) => {
      for (const time of [0, 10, 20]) await log.append(added(5, time));
      expect(await log.counter("spent")).toEqual({
        count: 3,
        seq: 3,
        sum: 15,
        amounts: [0, 10, 20].map((time) => [start + time, 5]),
      });
      const within = (add: number, since: number): Entry => ({
        body: decided(),
        limits: [{ counter: "spent", most: 12, after: start + since, add }],
      });
      expect(await log.append(within(2, 9))).toMatchObject({ seq: 4 });
      expect(await log.append(within(3, 9))).toMatchObject({ refused: { add: 3 }, count: 3 });
      expect(await log.append(within(3, 10))).toMatchObject({ seq: 5 });
    }),
  );

  it(
    "write the amount into the record",
    withStore(async ({ log }) => {
      await log.append(added(7, 1));
      const [line] = await collect(log.select({}));
      const counted = [{ counter: "spent", add: 7, at: start + 1, window: 100 }];
      expect(line?.record).toMatchObject({ counted });
    }),
  );
}

function groups(withStore: WithStore): void {
  const counting = (input: number, ...counts: readonly string[]): Entry => ({
    body: decided({ input }),
    counts,
  });

  it(
    "are consecutive and chained",
    withStore(async ({ log }) => {
      await log.append(counting(0));
      const appended = await log.append(counting(1), counting(2), counting(3));
      const lines = await collect(log.select({}));
      expect(lines.map(({ record }) => (record as DecisionRecord).input_value)).toEqual([0, 1, 2, 3]);
      expect(appended).toMatchObject({ seq: 4, hash: lines[3]?.record.hash });
      expect(chainProblems(lines.map(({ text }) => text))).toEqual([]);
      expect(await log.state()).toEqual({ size: 4, head: lines[3]?.record.hash });
    }),
  );

  it(
    "are all refused by the limit of any of them",
    withStore(async ({ log }) => {
      await log.append(counting(0, "uses"));
      const before = await log.state();
      const last = { ...counting(3, "uses", "c"), limits: [{ counter: "uses", most: 1 }] };
      expect(await log.append(counting(1, "a"), counting(2, "b"), last)).toEqual({
        refused: { counter: "uses", most: 1 },
        count: 1,
      });
      expect(await log.state()).toEqual(before);
      for (const name of ["a", "b", "c"]) expect((await log.counter(name)).count).toBe(0);
      expect(await seqs(log.select({}))).toEqual([1]);
    }),
  );

  it(
    "are counted one by one, with their own sequence numbers",
    withStore(async ({ log }) => {
      await log.append(counting(0));
      await log.append(counting(1, "first", "both"), counting(2, "both"), counting(3, "last"));
      expect(await log.counter("first")).toEqual({ count: 1, seq: 2 });
      expect(await log.counter("both")).toEqual({ count: 2, seq: 3 });
      expect(await log.counter("last")).toEqual({ count: 1, seq: 4 });
    }),
  );

  it(
    "are not refused by their own counts",
    withStore(async ({ log }) => {
      const limited = { ...counting(1, "uses"), limits: [{ counter: "uses", most: 1 }] };
      expect(await log.append(limited, limited)).toMatchObject({ seq: 2 });
      expect(await log.counter("uses")).toEqual({ count: 2, seq: 2 });
    }),
  );

  it(
    "are never interleaved with other groups",
    withStore(async ({ log }) => {
      const appended = await Promise.all(
        Array.from({ length: 50 }, (_, group) => {
          const entry = { ...counting(group, "uses"), limits: [{ counter: "uses", most: 20 }] };
          return log.append(entry, counting(group + 1000), counting(group + 2000));
        }),
      );
      expect(appended.filter((each) => "seq" in each)).toHaveLength(20);
      const inputs = (await collect(log.select({}))).map(({ record }) =>
        Number((record as DecisionRecord).input_value),
      );
      expect(inputs).toHaveLength(60);
      for (let at = 0; at < inputs.length; at += 3) {
        const first = inputs[at] ?? 0;
        expect(inputs.slice(at, at + 3)).toEqual([first, first + 1000, first + 2000]);
      }
    }),
  );
}

const workflows = { workflow_id: "w1", stage_id: "s1", session_id: "t1" };

/** Ten records of several kinds, a millisecond apart. */
async function fill(store: Store): Promise<void> {
  const all: readonly Decided[] = [
    { decision_id: "gate", selected_labels: ["Pass"] },
    { decision_id: "gate", selected_labels: ["Fail"], ...workflows },
    { decision_id: "split", selected_labels: ["A"], type: "weighted" },
    { decision_id: "table", selected_labels: ["A", "B"], type: "rule_table" },
    { decision_id: "table", selected_labels: [], selected_targets: [], type: "rule_table" },
    { decision_id: "gate", selected_labels: ["Pass"], ...workflows, session_id: "t2" },
    { decision_id: "gate", selected_labels: ["Pass"], stage_id: "s1" },
    { decision_id: "split", selected_labels: ["B"], selected_targets: ["to-A"], type: "weighted" },
  ];
  let at = 0;
  for (const each of all) await add(store, { ...each, timestamp: after(1000 * at++), input: at });
  await store.log.append({ body: noted({}, after(1000 * at++)) });
  await add(store, { decision_id: "gate", selected_labels: ["default"], timestamp: after(1000 * at) });
}

const queries: readonly {
  readonly name: string;
  readonly query: Query;
  readonly found: readonly number[];
}[] = [
  { name: "all", query: {}, found: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
  { name: "decisions", query: { kind: "decision" }, found: [1, 2, 3, 4, 5, 6, 7, 8, 10] },
  { name: "notes", query: { kind: "note" }, found: [9] },
  { name: "a decision", query: { decision_id: "gate" }, found: [1, 2, 6, 7, 10] },
  { name: "an unknown decision", query: { decision_id: "gat" }, found: [] },
  { name: "a workflow", query: { workflow_id: "w1" }, found: [2, 6] },
  { name: "a stage", query: { stage_id: "s1" }, found: [2, 6, 7] },
  { name: "a session", query: { session_id: "t1" }, found: [2] },
  { name: "a label", query: { label: "A" }, found: [3, 4] },
  { name: "a second label", query: { label: "B" }, found: [4, 8] },
  { name: "the label of the default", query: { label: "default" }, found: [10] },
  { name: "a target", query: { target: "to-A" }, found: [3, 4, 8] },
  { name: "a type", query: { type: "rule_table" }, found: [4, 5] },
  { name: "a type and a label", query: { type: "weighted", label: "B" }, found: [8] },
  { name: "a decision and a stage", query: { decision_id: "gate", stage_id: "s1" }, found: [2, 6, 7] },
  {
    name: "notes of a decision, which there are none of",
    query: { kind: "note", decision_id: "gate" },
    found: [],
  },
  { name: "the newest", query: { limit: 3 }, found: [8, 9, 10] },
  { name: "more than there are", query: { limit: 100 }, found: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
  { name: "none", query: { limit: 0 }, found: [] },
  { name: "all, newest first", query: { reverse: true }, found: [10, 9, 8, 7, 6, 5, 4, 3, 2, 1] },
  { name: "the newest, newest first", query: { reverse: true, limit: 2 }, found: [10, 9] },
  { name: "the newest of a decision", query: { decision_id: "gate", limit: 2 }, found: [7, 10] },
  {
    name: "the newest of a decision, newest first",
    query: { decision_id: "gate", limit: 3, reverse: true },
    found: [10, 7, 6],
  },
  { name: "the newest of a label", query: { label: "A", limit: 1 }, found: [4] },
  { name: "what came after", query: { after: 7 }, found: [8, 9, 10] },
  { name: "what came after the last", query: { after: 10 }, found: [] },
  { name: "what came after one that will come", query: { after: 11 }, found: [] },
  { name: "what came after, newest first", query: { after: 8, reverse: true }, found: [10, 9] },
  { name: "of a decision what came after", query: { decision_id: "gate", after: 6 }, found: [7, 10] },
  {
    name: "the newest of a decision that came after",
    query: { decision_id: "gate", after: 1, limit: 2 },
    found: [7, 10],
  },
  { name: "since a moment", query: { since: start + 7000 }, found: [8, 9, 10] },
  { name: "since a microsecond later", query: { since: start + 7001 }, found: [9, 10] },
  { name: "until a moment", query: { until: start + 2000 }, found: [1, 2, 3] },
  { name: "until a microsecond earlier", query: { until: start + 1999 }, found: [1, 2] },
  { name: "one moment", query: { since: start + 4000, until: start + 4000 }, found: [5] },
  { name: "between two records", query: { since: start + 4001, until: start + 4999 }, found: [] },
  { name: "a range that is upside down", query: { since: start + 4000, until: start + 3000 }, found: [] },
  {
    name: "of a decision in a range, newest first",
    query: { decision_id: "gate", since: start + 1000, until: start + 6000, reverse: true },
    found: [7, 6, 2],
  },
  {
    name: "everything at once",
    query: {
      kind: "decision",
      decision_id: "gate",
      workflow_id: "w1",
      stage_id: "s1",
      session_id: "t2",
      label: "Pass",
      target: "to-Pass",
      type: "binary",
      since: start,
      until: start + 9000,
      after: 2,
      limit: 5,
      reverse: true,
    },
    found: [6],
  },
];

function selecting(withStore: WithStore): void {
  it(
    "returns the matching records",
    withStore(async (store) => {
      await fill(store);
      for (const { name, query, found } of queries)
        expect({ name, found: await seqs(store.log.select(query)) }).toEqual({ name, found });
    }),
  );

  it(
    "returns the same with and without earlier queries while records are added",
    withStore(async (store) => {
      const expected = { gate: [] as number[], split: [] as number[] };
      for (let seq = 1; seq <= 30; seq++) {
        const id = seq % 3 === 0 ? "split" : "gate";
        await add(store, { decision_id: id, input: seq });
        expected[id].push(seq);
        for (const name of ["gate", "split"] as const) {
          const newest = expected[name].slice(-4);
          expect(await seqs(store.log.select({ decision_id: name, limit: 4 }))).toEqual(newest);
          expect(await seqs(store.log.select({ decision_id: name }))).toEqual(expected[name]);
        }
      }
    }),
  );

  it(
    "keeps the order of the log among records of one instant",
    withStore(async (store) => {
      await add(store, ...Array.from({ length: 50 }, (_, input) => ({ input, timestamp: noon })));
      const at = { since: start, until: start };
      expect(await seqs(store.log.select(at))).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
      expect(await seqs(store.log.select({ ...at, limit: 3, reverse: true }))).toEqual([50, 49, 48]);
    }),
  );

  it(
    "keeps the order of the log after the clock was set back, and still filters by time",
    withStore(async (store) => {
      const times = [3_600_000_000, 0, -86_400_000_000, 1, 3_600_000_000, -1];
      await add(store, ...times.map((time, input) => ({ timestamp: after(time), input })));
      expect(await seqs(store.log.select({}))).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await seqs(store.log.select({ since: start }))).toEqual([1, 2, 4, 5]);
      expect(await seqs(store.log.select({ until: start }))).toEqual([2, 3, 6]);
      expect(await seqs(store.log.select({ limit: 2, reverse: true }))).toEqual([6, 5]);
      expect(await store.log.find({ latest: true })).toMatchObject({ record: { seq: 6 } });
    }),
  );

  it(
    "distinguishes times across a century, a leap day and the end of a year",
    withStore(async (store) => {
      const times = [
        "1926-03-02T12:00:00.000000Z",
        noon,
        "2024-02-29T23:59:59.999999Z",
        "2126-03-02T12:00:00.000000Z",
        "1970-01-01T00:00:00.000000Z",
        "2025-12-31T23:59:59.999999Z",
        "2026-01-01T00:00:00.000000Z",
      ];
      await add(store, ...times.map((timestamp, input) => ({ timestamp, input })));
      for (const [at, timestamp] of times.entries()) {
        const time = microsecondsOf(timestamp);
        expect(await seqs(store.log.select({ since: time, until: time }))).toEqual([at + 1]);
      }
    }),
  );
}

function finding(withStore: WithStore): void {
  it(
    "finds by number, by id and by the prefix of an id",
    withStore(async (store) => {
      const ids = Array.from({ length: 30 }, (_, index) => newId(after(index * 7_777_777)));
      const all = ids.map((record_id, index) => ({ record_id, timestamp: after(index * 7_777_777) }));
      await add(store, ...all);
      for (const [index, id] of ids.entries()) {
        const record = { seq: index + 1, record_id: id };
        expect(await store.log.find({ seq: index + 1 })).toMatchObject({ record });
        expect(await store.log.find({ beginning: id })).toMatchObject({ record });
        expect(await store.log.find({ beginning: id.slice(0, 13) })).toMatchObject({ record });
        expect(await store.log.find({ beginning: id.slice(0, 35) })).toMatchObject({ record });
      }
    }),
  );

  it(
    "returns candidates for an ambiguous prefix, newest first",
    withStore(async (store) => {
      const ids = Array.from({ length: 8 }, () => newId(noon));
      await add(store, ...ids.map((record_id) => ({ record_id, timestamp: noon })));
      const beginning = ids[0]?.slice(0, 13) ?? "";
      const newest = ids.toReversed().slice(0, 5);
      expect(await store.log.find({ beginning })).toEqual({ candidates: newest });
      expect(await store.log.find({ beginning: "" })).toEqual({ candidates: newest });
    }),
  );

  it(
    "finds nothing in an empty log",
    withStore(async (store) => {
      const none = { candidates: [] };
      expect(await store.log.find({ latest: true })).toEqual(none);
      expect(await store.log.find({ seq: 1 })).toEqual(none);
      await add(store, {});
      for (const seq of [0, -1, 2, 1e15]) expect(await store.log.find({ seq })).toEqual(none);
      for (const beginning of ["ffff", "zzz", "1", "not an id", `${newId(noon)}0`])
        expect(await store.log.find({ beginning })).toEqual(none);
    }),
  );

  it(
    "finds the latest decision even if notes follow it",
    withStore(async (store) => {
      await store.log.append({ body: noted() });
      expect(await store.log.find({ latest: true })).toEqual({ candidates: [] });
      await add(store, {}, { decision_id: "split" });
      await store.log.append({ body: noted() });
      await store.log.append({ body: noted() });
      expect(await store.log.find({ latest: true })).toMatchObject({
        record: { seq: 3, decision_id: "split" },
      });
      expect(await store.log.find({ seq: 5 })).toMatchObject({ record: { kind: "note" } });
    }),
  );
}

function tallying(withStore: WithStore): void {
  it(
    "counts each label of a multiple selection, and distinct inputs once",
    withStore(async (store) => {
      const definition_hash = definitionHash("v1");
      const table = { decision_id: "table", definition_hash };
      await add(
        store,
        { ...table, selected_labels: ["A", "B"], input: 1 },
        { ...table, selected_labels: ["A", "B"], input: 1 },
        { ...table, selected_labels: ["A"], input: 2 },
        { ...table, selected_labels: [], input: 3 },
        { decision_id: "gate", selected_labels: ["A"], input: 1 },
      );
      await store.log.append({ body: noted() });
      const tally = { total: 4, counts: { A: 3, B: 2 } };
      expect(await store.log.tally("table", {})).toEqual({
        ...tally,
        definitions: { [definition_hash]: { ...tally, distinct_inputs: 3, distinct_counts: { A: 2, B: 1 } } },
      });
      expect(await store.log.tally("unknown", {})).toEqual({ total: 0, counts: {}, definitions: {} });
    }),
  );

  it(
    "keeps the definitions of one decision separate",
    withStore(async (store) => {
      const [v1, v2] = [definitionHash("v1"), definitionHash("v2")];
      await add(
        store,
        { definition_hash: v1, input: 1 },
        { definition_hash: v2, input: 1, selected_labels: ["Fail"] },
        { definition_hash: v1, input: 1 },
      );
      const { total, counts, definitions } = await store.log.tally("gate", {});
      expect({ total, counts }).toEqual({ total: 3, counts: { Pass: 2, Fail: 1 } });
      expect(definitions[v1]).toEqual({
        total: 2,
        counts: { Pass: 2 },
        distinct_inputs: 1,
        distinct_counts: { Pass: 1 },
      });
      expect(definitions[v2]).toEqual({
        total: 1,
        counts: { Fail: 1 },
        distinct_inputs: 1,
        distinct_counts: { Fail: 1 },
      });
    }),
  );

  it(
    "grows with the log, also after an earlier query",
    withStore(async (store) => {
      for (let times = 1; times <= 40; times++) {
        const id = times % 2 === 0 ? "gate" : "split";
        await add(store, { decision_id: id, input: times % 5, selected_labels: [`L${times % 3}`] });
        const gate = await store.log.tally("gate", {});
        expect([times, gate.total]).toEqual([times, Math.floor(times / 2)]);
        const distinct = Object.values(gate.definitions)[0]?.distinct_inputs ?? 0;
        expect([times, distinct]).toEqual([times, Math.min(15, Math.floor(times / 2))]);
      }
    }),
  );

  it(
    "counts within a time range, both ends included",
    withStore(async (store) => {
      await add(store, ...[0, 1000, 2000, 3000].map((time) => ({ timestamp: after(time), input: time })));
      const total = async (since?: number, until?: number): Promise<number> => {
        const range = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
        return (await store.log.tally("gate", range)).total;
      };
      expect(await total()).toBe(4);
      expect(await total(start + 1000)).toBe(3);
      expect(await total(start + 1001)).toBe(2);
      expect(await total(undefined, start + 2000)).toBe(3);
      expect(await total(undefined, start + 1999)).toBe(2);
      expect(await total(start + 1000, start + 2000)).toBe(2);
      expect(await total(start + 5000)).toBe(0);
    }),
  );

  it(
    "counts by hour, also after an earlier query",
    withStore(async (store) => {
      const hour = 3_600_000_000;
      const first = Math.floor(start / hour);
      const at = (hours: number, label: string): Decided => ({
        timestamp: after(hours * hour),
        selected_labels: [label],
        definition_hash: definitionHash("v1"),
      });
      const of = (hours: number, label: string, count: number): HourTally => ({
        hour: first + hours,
        definition_hash: definitionHash("v1"),
        labels: [label],
        count,
      });
      await add(store, at(0, "A"), at(0, "A"), at(2, "B"), { decision_id: "other" });
      expect(await store.log.tallyByHour("gate", {})).toEqual([of(0, "A", 2), of(2, "B", 1)]);
      await add(store, at(2, "B"), at(1, "A"));
      expect(await store.log.tallyByHour("gate", {})).toEqual([of(0, "A", 2), of(1, "A", 1), of(2, "B", 2)]);
      const range = { since: start + hour, until: start + hour };
      expect(await store.log.tallyByHour("gate", range)).toEqual([of(1, "A", 1)]);
      expect(await store.log.tallyByHour("unknown", {})).toEqual([]);
    }),
  );

  it(
    "treats labels as data, whatever they are called",
    withStore(async (store) => {
      const labels = ["__proto__", "constructor", "1", "", 'a"]', "\\", "[]", "ü", "🎉", "a,b"];
      await add(store, ...labels.map((label, input) => ({ selected_labels: [label, "all"], input })));
      const { counts } = await store.log.tally("gate", {});
      expect(new Map(Object.entries(counts))).toEqual(
        new Map([...labels.map((label) => [label, 1] as const), ["all", 10]]),
      );
    }),
  );

  it(
    "counts cache hits and misses",
    withStore(async (store) => {
      expect(await store.log.cacheUse()).toEqual({ hits: 0, misses: 0 });
      const key = sha256("key");
      await add(store, {}, { cache_key: key }, { cache_key: key, cached: true, cached_from: newId(noon) });
      expect(await store.log.cacheUse()).toEqual({ hits: 1, misses: 1 });
      await add(store, { cache_key: key, cached: true }, { decision_id: "split", cache_key: key });
      expect(await store.log.cacheUse()).toEqual({ hits: 2, misses: 2 });
    }),
  );
}

function pruning(withStore: WithStore): void {
  const many = async (store: Store, count = 60): Promise<void> =>
    add(store, ...Array.from({ length: count }, (_, input) => ({ input, timestamp: after(input * 1000) })));

  const afterwards = async (store: Store, through: number, size: number): Promise<void> => {
    const kept = await collect(store.log.select({}));
    expect(kept.map(({ record }) => record.seq)).toEqual(
      Array.from({ length: size - through + 1 }, (_, index) => through + 1 + index),
    );
    const note = kept.at(-1)?.record;
    expect(note).toMatchObject({ kind: "note", note: "pruned", details: { through } });
    expect(
      chainProblems(
        kept.map(({ text }) => text),
        through + 1,
        kept[0]?.record.prev_hash,
      ),
    ).toEqual([]);
    expect((note as unknown as { details: { hash: string } }).details.hash).toBe(kept[0]?.record.prev_hash);
    expect(await store.log.state()).toEqual({ size: size + 1, head: note?.hash });
    expect(await store.log.pruned()).toBe(through);
    expect((await store.log.tally("gate", {})).total).toBe(size - through);
    expect(await store.log.find({ seq: through })).toEqual({ candidates: [] });
    expect(await store.log.append({ body: decided() })).toMatchObject({ seq: size + 2 });
  };

  it(
    "keeps at least the given number of records, and reports what was removed",
    withStore(async (store) => {
      await many(store);
      await store.log.tally("gate", {});
      const found = await store.log.prunable({ keep: 20 });
      expect(found.through).toBeGreaterThan(0);
      expect(found.through).toBeLessThanOrEqual(40);
      expect(found.records).toBe(found.through);
      expect(found.bytes).toBeGreaterThan(0);
      await store.log.prune(found, noted);
      await afterwards(store, found.through, 60);
    }),
  );

  it(
    "keeps everything since a time",
    withStore(async (store) => {
      await many(store);
      const found = await store.log.prunable({ before: start + 30_000 });
      expect(found.through).toBeGreaterThan(0);
      expect(found.through).toBeLessThanOrEqual(30);
      await store.log.prune(found, noted);
      await afterwards(store, found.through, 60);
    }),
  );

  it(
    "removes everything if the bound allows it",
    withStore(async (store) => {
      await many(store, 10);
      const found = await store.log.prunable({ keep: 0 });
      expect(found).toMatchObject({ records: 10, through: 10 });
      await store.log.prune(found, noted);
      await afterwards(store, 10, 10);
    }),
  );

  it(
    "notes the counters, also those of removed records",
    withStore(async (store) => {
      for (let at = 0; at < 10; at++)
        await store.log.append({ body: decided({ timestamp: after(at) }), counts: ["calls"] });
      await store.log.prune(await store.log.prunable({ keep: 0 }), noted);
      const [line] = await collect(store.log.select({ kind: "note" }));
      expect(line?.record).toMatchObject({ details: { counters: { calls: { count: 10, seq: 10 } } } });
      expect(await store.log.counter("calls")).toEqual({ count: 10, seq: 10 });
    }),
  );

  it(
    "finds nothing to remove if the bound allows nothing",
    withStore(async (store) => {
      const nothing = { records: 0, through: 0, bytes: 0 };
      expect(await store.log.prunable({ keep: 0 })).toEqual(nothing);
      await many(store, 10);
      expect(await store.log.prunable({ keep: 10 })).toEqual(nothing);
      expect(await store.log.prunable({ keep: 1e9 })).toEqual(nothing);
      expect(await store.log.prunable({ before: start })).toEqual(nothing);
      await store.log.prune(nothing, noted);
      expect(await seqs(store.log.select({}))).toHaveLength(10);
    }),
  );

  it(
    "stops before a record that is too new, even if later ones are older",
    withStore(async (store) => {
      await many(store, 20);
      await add(store, { timestamp: after(1e12) });
      await many(store, 20);
      const { through } = await store.log.prunable({ before: start + 1e9 });
      expect(through).toBeLessThanOrEqual(20);
    }),
  );

  it(
    "can be repeated",
    withStore(async (store) => {
      let size = 0;
      for (let round = 0; round < 4; round++) {
        await many(store, 30);
        size += 30;
        const before = (await seqs(store.log.select({}))).length;
        const found = await store.log.prunable({ keep: 10 });
        await store.log.prune(found, noted);
        const notes = found.records > 0 ? 1 : 0;
        size += notes;
        expect(await seqs(store.log.select({}))).toHaveLength(before - found.records + notes);
        expect(await store.log.state()).toMatchObject({ size });
      }
    }),
  );

  it(
    "keeps all counters",
    withStore(async (store) => {
      for (let times = 0; times < 20; times++)
        await store.log.append({ body: decided({ input: times }), counts: ["uses"] });
      await store.log.prune(await store.log.prunable({ keep: 0 }), noted);
      expect((await store.log.counter("uses")).count).toBe(20);
      const last = { body: decided(), counts: ["uses"], limits: [{ counter: "uses", most: 20 }] };
      expect(await store.log.append(last)).toMatchObject({ count: 20 });
    }),
  );
}

const oddKeys = [
  "a",
  "A",
  "",
  " ",
  "a b",
  "ä",
  "漢字",
  "🎉",
  '"',
  "\\",
  '\\"',
  "/",
  "../../x",
  "\n",
  "\u0000",
  "\u2028",
  "__proto__",
  '{"key":"a",',
  '\n{"key":"a",',
  "x".repeat(5000),
  `${"x".repeat(5000)}y`,
  "\ud800",
];

const oddValues = [
  null,
  true,
  0,
  -0.5,
  1e300,
  "",
  "ü 漢 🎉 \u0000 \u2028 \ud800",
  '\n{"key":"a",',
  [],
  {},
  { "": { "": [] } },
  { nested: { list: [1, "2", null] } },
  "x".repeat(100_000),
];

/** What another store can be restored from; pruned, its counters are those of more records than it has. */
async function snapshotOf({ pruned }: { readonly pruned: boolean }): Promise<StoreSnapshot> {
  const { log } = openMemoryStore();
  for (let input = 0; input < 30; input++) {
    const counts = ["calls", { counter: "spent", add: 10 }];
    await log.append({ body: decided({ input, timestamp: after(input) }), counts });
  }
  if (pruned) await log.prune(await log.prunable({ keep: 10 }), noted);
  await log.append({ body: decided(), counts: ["calls"] });
  const lines = await collect(log.select({}));
  const note = lines.find(({ record }) => record.kind === "note")?.record;
  const pin = note && { size: note.seq, head: note.hash, timestamp: noon };
  const { key: hash = "", value = null } = definitionOf(decided()) ?? {};
  return {
    state: await log.state(),
    shelves: [
      { shelf: "definitions", entry: { key: hash, value } },
      { shelf: "environments", entry: { key: sha256("{}"), value: {} } },
      { shelf: "approvals", entry: { key: "lock", value: { serial: 3, head: "abc" } } },
    ],
    checkpoints: pin === undefined ? [] : [formatCheckpoint(pin, undefined, undefined).trimEnd()],
    lines: lines.map(({ text }) => text),
  };
}

function restoring(withStore: WithStore): void {
  it.each([{ pruned: false }, { pruned: true }])(
    "keeps lines, head, counters and shelves, and continues the chain: %j",
    ({ pruned }) =>
      withStore(async (store) => {
        const snapshot = await snapshotOf({ pruned });
        await store.restore(snapshot);
        const restored = await collect(store.log.select({}));
        expect(restored.map(({ text }) => text)).toEqual(snapshot.lines);
        expect(restored.every(({ intact }) => intact)).toBe(true);
        expect(await store.log.state()).toEqual(snapshot.state);
        const { size, head } = snapshot.state;
        expect(await store.log.counter("calls")).toEqual({ count: 31, seq: size });
        expect(await store.log.counter("spent")).toMatchObject({ count: 30, sum: 300 });
        expect((await store.shelf("approvals").get("lock"))?.value).toEqual({ serial: 3, head: "abc" });
        expect(await store.shelf("environments").get(sha256("{}"))).toMatchObject({ value: {} });
        const entry = { body: decided({ input: "next" }), counts: ["calls"] };
        const limits = [{ counter: "calls", most: 32 }];
        expect(await store.log.append({ ...entry, limits })).toMatchObject({ seq: size + 1 });
        expect(await store.log.append({ ...entry, limits })).toMatchObject({ count: 32 });
        const [next] = await collect(store.log.select({ after: size }));
        expect(next?.record.prev_hash).toBe(head);
      })(),
  );

  it(
    "restores an empty log",
    withStore(async (store) => {
      const state = await store.log.state();
      await store.restore({ state, shelves: [], checkpoints: [], lines: [] });
      expect(await store.log.state()).toEqual(state);
      expect(await store.log.append({ body: decided() })).toMatchObject({ seq: 1 });
    }),
  );

  it(
    "is refused if the store has records, which stay as they are",
    withStore(async (store) => {
      await add(store, { input: "own" });
      const before = await store.log.state();
      await expect(store.restore(await snapshotOf({ pruned: false }))).rejects.toMatchObject({
        code: "usage",
        message: expect.stringMatching(/^the store `.*` is not empty$/) as string,
      });
      expect(await store.log.state()).toEqual(before);
      expect(await store.log.append({ body: decided() })).toMatchObject({ seq: 2 });
    }),
  );
}

function shelves(withStore: WithStore): void {
  const all = async (shelf: Shelf): Promise<Map<string, ShelfEntry>> => {
    const found = new Map<string, ShelfEntry>();
    let count = 0;
    for await (const entry of shelf.entries()) {
      found.set(entry.key, entry);
      count++;
    }
    expect(found.size).toBe(count);
    return found;
  };

  it(
    "returns what was put, for keys and values of every kind",
    withStore(async (store) => {
      const shelf = store.shelf("cache");
      const entries = oddKeys.map((key, at) => ({ key, value: oddValues[at % oddValues.length] ?? null }));
      await shelf.put(entries);
      for (const entry of entries) expect(await shelf.get(entry.key)).toEqual(entry);
      expect(await all(shelf)).toEqual(new Map(entries.map((entry) => [entry.key, entry])));
      for (const key of oddKeys) expect(await shelf.get(`${key}!`)).toBeUndefined();
    }),
  );

  it(
    "returns the latest of several values of one key",
    withStore(async (store) => {
      const shelf = store.shelf("cache");
      for (const value of oddValues) {
        await shelf.put([{ key: "k", value }]);
        expect(await shelf.get("k")).toEqual({ key: "k", value });
      }
      expect(await all(shelf)).toEqual(new Map([["k", { key: "k", value: oddValues.at(-1) }]]));
    }),
  );

  it(
    "keeps the last of several values put at once",
    withStore(async (store) => {
      const shelf = store.shelf("cache");
      await shelf.put([1, 2, 3].map((value) => ({ key: "k", value })));
      expect(await shelf.get("k")).toEqual({ key: "k", value: 3 });
    }),
  );

  it(
    "keeps the group and the expiry of a value",
    withStore(async (store) => {
      const shelf = store.shelf("cache");
      const entry = { key: "k", value: 1, group: "gate", expires_at: start + 3_600_000_000 };
      await shelf.put([entry]);
      expect(await shelf.get("k")).toEqual(entry);
      await shelf.put([{ key: "k", value: 2 }]);
      expect(await shelf.get("k")).toEqual({ key: "k", value: 2 });
    }),
  );

  it(
    "updates a value, and leaves it if the change returns undefined",
    withStore(async (store) => {
      const shelf = store.shelf("breakers");
      expect(await shelf.update("k", (entry) => entry)).toBeUndefined();
      expect(await shelf.get("k")).toBeUndefined();
      const first = { key: "k", value: { failures: 1 } };
      expect(await shelf.update("k", () => first)).toEqual(first);
      expect(await shelf.update("k", () => undefined)).toEqual(first);
      expect(await shelf.get("k")).toEqual(first);
    }),
  );

  it(
    "loses no concurrent update",
    withStore(async (store) => {
      const grow = async (): Promise<void> => {
        await store
          .shelf("breakers")
          .update("k", (entry) => ({ key: "k", value: Number(entry?.value ?? 0) + 1 }));
      };
      await Promise.all(Array.from({ length: 100 }, grow));
      expect(await store.shelf("breakers").get("k")).toEqual({ key: "k", value: 100 });
    }),
  );

  it(
    "removes the selected entries and returns their number",
    withStore(async (store) => {
      const shelf = store.shelf("cache");
      expect(await shelf.remove(() => true)).toBe(0);
      const entries = Array.from({ length: 500 }, (_, at) => ({
        key: `k${at}`,
        value: at,
        group: `g${at % 5}`,
      }));
      await shelf.put(entries);
      await shelf.put(entries.map((entry) => ({ ...entry, value: entry.value + 1000 })));
      expect(await shelf.remove(({ group }) => group === "g1")).toBe(100);
      expect(await shelf.remove(({ group }) => group === "g1")).toBe(0);
      expect((await all(shelf)).size).toBe(400);
      expect(await shelf.get("k1")).toBeUndefined();
      expect(await shelf.get("k2")).toMatchObject({ value: 1002 });
      await shelf.put([{ key: "k1", value: "again" }]);
      expect(await shelf.get("k1")).toEqual({ key: "k1", value: "again" });
      expect(await shelf.remove(() => true)).toBe(401);
      expect((await all(shelf)).size).toBe(0);
    }),
  );

  it(
    "is separate from other shelves and from the counters",
    withStore(async (store) => {
      await store.shelf("cache").put([{ key: "k", value: 1 }]);
      await store.shelf("definitions").put([{ key: sha256("2"), value: 2 }]);
      await store.log.append({ body: decided(), counts: ["k"] });
      expect(await store.shelf("environments").get("k")).toBeUndefined();
      expect(await store.shelf("environments").get(sha256("2"))).toBeUndefined();
      expect(await store.shelf("cache").get("k")).toMatchObject({ value: 1 });
      await store.shelf("cache").remove(() => true);
      expect(await store.shelf("definitions").get(sha256("2"))).toMatchObject({ value: 2 });
      expect((await store.log.counter("k")).count).toBe(1);
    }),
  );

  it(
    "reports its size and location",
    withStore(async (store) => {
      const shelf = store.shelf("cache");
      const before = await shelf.extent();
      await shelf.put([{ key: "k", value: "x".repeat(10_000) }]);
      const { size, where } = await shelf.extent();
      expect(size).toBeGreaterThan(before.size + 10_000);
      expect(where).not.toBe("");
    }),
  );

  it(
    "keeps concurrent puts",
    withStore(async (store) => {
      const shelf = store.shelf("cache");
      await Promise.all(
        Array.from({ length: 300 }, (_, at) => shelf.put([{ key: `k${at % 150}`, value: at }])),
      );
      const found = await all(shelf);
      expect(found.size).toBe(150);
      for (const [key, { value }] of found) expect(Number(value) % 150).toBe(Number(key.slice(1)));
      await shelf.put([]);
      expect((await all(shelf)).size).toBe(150);
    }),
  );
}
