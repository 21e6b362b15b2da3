import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { describe, expect, it } from "vitest";
import type { Entity, Lineage } from "../../src/model/lineage.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { RecordKey, Store } from "../../src/model/store.js";
import { matchesKey } from "../../src/record/record-keys.js";
import { bundled } from "./bundle.js";
import type { Decided } from "./entries.js";
import { called, decided, noted, seqs } from "./entries.js";
import { expectSound, linesOf, logFile, openLog, storeDirectory } from "./jsonl-log.js";
import { LogScan } from "./log-scan.js";
import { expectRelatedTrue } from "./related-runs.js";

const fast = { durability: "fast" as const, segmentSize: 200_000 };
const c1: Entity = { type: "customer", id: "c1" };

/** Every third record has the customer; each has its own order. */
function numbered(number: number): Decided {
  const entities = [{ type: "order", id: `o${number}` }, ...(number % 3 === 0 ? [c1] : [])];
  const lineage = { entities, artifacts: [`a${number % 5}`] } as unknown as Lineage;
  return { session_id: `s${number % 7}`, lineage, decision_id: number % 2 === 0 ? "gate" : "split" };
}

async function add({ log }: Store, from: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  await Promise.all(numbers.map((number) => log.append({ body: decided(numbered(number)) })));
}

async function made(count: number): Promise<string> {
  const directory = storeDirectory();
  const store = openLog(directory, fast);
  await add(store, 0, count);
  await store.close();
  return directory;
}

const keys: readonly RecordKey[] = [
  { entity: c1 },
  { entity: { type: "order", id: "o7" } },
  { entity: { type: "order", id: "o1999" } },
  { entity: { type: "order", id: "none" } },
  { artifact: "a3" },
  { session_id: "s5" },
];

/** Checks that all queries return what the lines of the log say. */
async function expectTrue(directory: string, store = openLog(directory, fast)): Promise<void> {
  const { records } = new LogScan(directory);
  for (const key of keys) {
    const expected = records.filter((record) => matchesKey(record, key)).map(({ seq }) => seq);
    expect({ key, found: await seqs(store.log.related(key)) }).toEqual({ key, found: expected.reverse() });
  }
  const near = records.filter(
    (record): record is DecisionRecord =>
      record.kind === "decision" && record.decision_id === "gate" && matchesKey(record, { entity: c1 }),
  );
  const found = await store.log.neighbours({ decision_id: "gate" }, [c1], 10_000);
  expect(found.map(({ seq }) => seq)).toEqual(near.map(({ seq }) => seq).reverse());
  expect(new Set(found.map(({ entities }) => entities))).toEqual(new Set(found.length > 0 ? [2] : []));
  expect(await seqs(store.log.select({ session_id: "s5" }))).toEqual(
    records.filter((record) => matchesKey(record, { session_id: "s5" })).map(({ seq }) => seq),
  );
}

const indexFiles = (directory: string): readonly string[] =>
  existsSync(logFile(directory, "index"))
    ? readdirSync(logFile(directory, "index")).filter((name) => /^(rows|postings|keys)-/.test(name))
    : [];

const pathOf = (directory: string, kind: string): string =>
  logFile(directory, `index/${indexFiles(directory).find((name) => name.startsWith(kind)) ?? ""}`);

interface SavedState {
  readonly rows: { readonly count: number };
  readonly postings: { readonly entries: { readonly count: number }; readonly tables: readonly object[] };
}

const stateOf = (directory: string): SavedState =>
  JSON.parse(readFileSync(logFile(directory, "index/state.json"), "utf8").split("\n")[0] ?? "") as never;

describe("the keys of records", () => {
  it("are found without an index, with one, and with one of a part of the log", async () => {
    const directory = await made(1500);
    await expectTrue(directory);
    expect(stateOf(directory).postings.tables).toHaveLength(1);
    await expectTrue(directory);
    const store = openLog(directory, fast);
    for (const count of [1, 63, 200, 1700, 1]) {
      await add(store, new LogScan(directory).records.length, count);
      await expectTrue(directory, store);
      await expectTrue(directory);
    }
    const { entries, tables } = stateOf(directory).postings;
    expect(entries.count).toBeGreaterThan(10_000);
    expect(tables.length).toBeGreaterThan(0);
    expect(tables.length).toBeLessThan(5);
    expectSound(directory);
  });

  it("are not saved for a few records, but for more", async () => {
    const directory = await made(300);
    const store = openLog(directory, fast);
    await store.log.neighbours({ decision_id: "gate" }, [c1], 1);
    expect(stateOf(directory).rows.count).toBe(300);
    await add(store, 300, 5);
    await store.log.neighbours({ decision_id: "gate" }, [c1], 1);
    await store.close();
    expect(stateOf(directory).rows.count).toBe(300);
    const again = openLog(directory, fast);
    await add(again, 305, 40);
    expect((await again.log.neighbours({ decision_id: "gate" }, [c1], 1)).map(({ seq }) => seq)).toEqual([
      343,
    ]);
    expect(stateOf(directory).rows.count).toBe(345);
  });

  it("leave no files behind when the index is rebuilt", async () => {
    const directory = await made(1500);
    await expectTrue(directory);
    const before = indexFiles(directory);
    expect(before).toHaveLength(3);
    const store = openLog(directory, fast);
    await store.log.prune(await store.log.prunable({ keep: 400 }), noted);
    await expectTrue(directory, store);
    await expectTrue(directory);
    const after = indexFiles(directory);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    expect(after.filter((name) => !name.startsWith("keys-"))).toHaveLength(2);
    expectSound(directory);
  });

  it("are found at once if this process added them, and soon if another did", async () => {
    const directory = await made(10);
    const [mine, theirs] = [openLog(directory, fast), openLog(directory, fast)];
    await mine.log.neighbours({ decision_id: "gate" }, [c1], 1);
    for (let number = 12; number < 48; number += 6) {
      await add(number % 12 === 0 ? mine : theirs, number, 1);
      if (number % 12 !== 0) await new Promise((resolve) => setTimeout(resolve, 55));
      const [newest] = await mine.log.neighbours({ decision_id: "gate" }, [c1], 1);
      expect(newest?.seq).toBe(new LogScan(directory).records.length);
    }
  });
});

describe("an index whose saving was interrupted", () => {
  /** The files after a kill following this many steps: rows, entries, table, state. */
  const kept = ["rows-", "postings-", "keys-"];

  it.each([
    { name: "before anything was written", steps: 0 },
    { name: "after the rows", steps: 1 },
    { name: "after the entries", steps: 2 },
    { name: "after the table", steps: 3 },
  ])("$name answers as before, and is saved by the next process", async ({ steps }) => {
    const directory = await made(1000);
    await expectTrue(directory);
    const [index, before] = [logFile(directory, "index"), `${directory}/before`];
    cpSync(index, before, { recursive: true });
    const store = openLog(directory, fast);
    await add(store, 1000, 900);
    await store.log.state();
    const after = `${directory}/after`;
    cpSync(index, after, { recursive: true });
    rmSync(index, { recursive: true });
    cpSync(before, index, { recursive: true });
    for (const kind of kept.slice(0, steps))
      for (const name of readdirSync(after).filter((each) => each.startsWith(kind)))
        cpSync(`${after}/${name}`, `${index}/${name}`);
    const reader = openLog(directory, fast);
    await add(store, 1900, 100);
    await expectTrue(directory, reader);
    await expectTrue(directory);
    expect(stateOf(directory).rows.count).toBe(2000);
    await expectTrue(directory, store);
  });

  it("ignores leftover files if the log continued differently", async () => {
    const directory = await made(1000);
    await expectTrue(directory);
    const copy = storeDirectory();
    rmSync(copy, { recursive: true });
    cpSync(directory, copy, { recursive: true });
    const other = openLog(copy, fast);
    for (let number = 0; number < 900; number++)
      await other.log.append({ body: decided({ session_id: "other", ...numbered(number + 50_000) }) });
    await other.log.state();
    const [from, to] = [logFile(copy, "index"), logFile(directory, "index")];
    for (const name of indexFiles(copy)) cpSync(`${from}/${name}`, `${to}/${name}`);
    await add(openLog(directory, fast), 1000, 1000);
    await expectTrue(directory);
    await expectTrue(directory);
  });
});

describe("an index with a damaged file is rebuilt", () => {
  const half = (path: string): void => truncateSync(path, statSync(path).size / 2);
  it.each([
    { name: "its entries are gone", kind: "postings-", change: (path: string) => rmSync(path) },
    { name: "its entries were cut", kind: "postings-", change: half },
    { name: "a table is gone", kind: "keys-", change: (path: string) => rmSync(path) },
    { name: "a table was cut", kind: "keys-", change: half },
    {
      name: "its entries never reached the disk",
      kind: "postings-",
      change: (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
    },
    {
      name: "a table never reached the disk",
      kind: "keys-",
      change: (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
    },
    { name: "a directory stands in its place", kind: "keys-", change: replaceByDirectory },
  ])("where $name", async ({ kind, change }) => {
    const directory = await made(1000);
    await expectTrue(directory);
    change(pathOf(directory, kind));
    await expectTrue(directory);
    await expectTrue(directory);
  });

  function replaceByDirectory(path: string): void {
    rmSync(path);
    mkdirSync(path);
  }
});

describe("lines of older versions", () => {
  const lineage = /,"lineage":(\{"entities".*?"precedents":\[\]\})/;

  /** The lineage of a policy decision was at the end of the line. */
  const moved = (body: string): string => {
    const [, found = ""] = lineage.exec(body) ?? [];
    const { inputs, policies } = JSON.parse(found) as Lineage;
    return body
      .replace(lineage, "")
      .replace(',"context":', `,"lineage":${JSON.stringify({ inputs, policies })},"context":`);
  };

  it("are found by the keys that they have", async () => {
    const directory = storeDirectory();
    const { log } = openLog(directory, fast);
    const policy = { name: "four_eyes", version: "1", hash: "", base_decision: "allow", override: null };
    const call = {
      type: "policy",
      tool: "t",
      allowed: true,
      outcome: "allowed",
      reason: "",
      session_id: "s1",
    };
    const bodies = [
      decided({ session_id: "s1", parent_record_id: "p1" }).replace(lineage, ""),
      moved(decided({ ...call, lineage: { policies: [policy] } } as unknown as Decided)),
      decided({ cached: true, cached_from: "p1" }).replace(lineage, ""),
      decided({ ...numbered(3), context: { lineage: "none" } }),
      called({ session_id: "s1", decision_records: ["p1", "p1"] }),
      decided({ session_id: "s1", context: { lineage: { entities: [{ ...c1 }] } } }).replace(lineage, ""),
    ];
    for (const body of bodies) await log.append({ body });
    expect(linesOf(directory).filter((line) => line.includes('"entities"'))).toHaveLength(2);
    expect(await seqs(log.related({ session_id: "s1" }))).toEqual([6, 5, 2, 1]);
    expect(await seqs(log.related({ refers_to: "p1" }))).toEqual([5, 3, 1]);
    expect(await seqs(log.related({ policy: "four_eyes" }))).toEqual([2]);
    expect(await seqs(log.related({ entity: c1 }))).toEqual([4]);
    expect((await log.neighbours({ decision_id: "split" }, [c1], 5)).map(({ seq }) => seq)).toEqual([4]);
    expect(await log.neighbours({ decision_id: "gate" }, [c1], 5)).toEqual([]);
  });

  it("that were written by hand, with other spacing and order, are found too", async () => {
    const directory = storeDirectory();
    const { log } = openLog(directory, fast);
    const entities = '"lineage":{"entities":[{"type":"order","id":"o3"},{"type":"customer","id":"c1"}]';
    const changed = [
      '"lineage":{"entities":[{"id":"o3","type":"order"},{"type":"customer","id":"c1"}]',
      '"lineage":{"entities":[{"type":"order","id":"o3"}, {"type":"customer","id":"\\u0063\\u0031"}]',
      '"lineage": {"entities":[{"type":"order","id":"o3"},{"type":"customer","id":"c1"}]',
    ];
    for (const text of [entities, ...changed])
      await log.append({ body: decided(numbered(3)).replace(entities, text) });
    expect(await seqs(log.related({ entity: c1 }))).toEqual([4, 3, 2, 1]);
    const found = await log.neighbours({ decision_id: "split" }, [c1], 5);
    expect(found.map(({ seq, entities: count }) => [seq, count])).toEqual(
      [4, 3, 2, 1].map((seq) => [seq, 2]),
    );
  });
});

describe("several processes at once", () => {
  interface Answer {
    readonly related: readonly number[];
    readonly session: readonly number[];
    readonly neighbours: readonly number[];
  }

  const run = async (script: string, ...args: readonly string[]): Promise<readonly Answer[]> => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (text: Buffer) => (said += text.toString()));
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
    const lines = said.trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as Answer);
  };

  it("get consistent answers while the log grows and all of them index it", async () => {
    const script = await bundled("related-user");
    const directory = await made(900);
    const store = openLog(directory, { ...fast, segmentSize: 50_000 });
    const asking = { going: true };
    const asked = Promise.all([
      run(script, directory, "4", "again"),
      run(script, directory, "10", "once"),
    ]).finally(() => {
      asking.going = false;
    });
    for (let number = 900; asking.going; number += 20) {
      await add(store, number, 20);
      await store.log.neighbours({ decision_id: "gate" }, [c1], 10);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const { records } = new LogScan(directory);
    const having = (key: RecordKey): readonly number[] =>
      records.filter((record) => matchesKey(record, key)).map(({ seq }) => seq);
    const [ofCustomer, ofSession] = [having({ entity: c1 }), having({ session_id: "s1" })];
    const ofGate = ofCustomer.filter((seq) => (records[seq - 1] as DecisionRecord).decision_id === "gate");
    for (const answers of await asked) {
      for (const { related, session, neighbours } of answers) {
        expect(related).toEqual(ofCustomer.slice(0, related.length).reverse());
        expect(session).toEqual(ofSession.slice(0, session.length));
        const last = ofGate.indexOf(neighbours[0] ?? 0) + 1;
        expect(neighbours).toEqual(ofGate.slice(Math.max(0, last - 1000), last).reverse());
      }
      const lengths = answers.map(({ related }) => related.length);
      expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    }
    await store.close();
    await expectTrue(directory);
    expectSound(directory);
  });
});

it("answers as the memory store does, after any writes and queries", async () => {
  expect(await expectRelatedTrue(8)).toBe(8);
});
