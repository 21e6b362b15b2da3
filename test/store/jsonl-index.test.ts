import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Store, Tally } from "../../src/model/store.js";
import { formatTimestamp, microsecondsOf } from "../../src/record/timestamp.js";
import { bundled } from "./bundle.js";
import type { Decided } from "./entries.js";
import { chance, decided, definitionHash, noon, noted, seqs, sha256 } from "./entries.js";
import {
  filled,
  linesOf,
  logFile,
  openLog,
  readLog,
  segmentFile,
  segmentFiles,
  storeDirectory,
  writeLog,
} from "./jsonl-log.js";
import { expectIndexTrue } from "./index-runs.js";
import { LogScan, comparable } from "./log-scan.js";

const small = { segmentSize: 3000, durability: "fast" as const };

async function add(store: Store, ...all: readonly Decided[]): Promise<void> {
  for (const each of all) await store.log.append({ body: decided(each) });
}

const ids = ["gate", "split", "ta]ble", 'quo"te', "back\\slash", "ünï", ""];

/** A log of several decisions with several labels. */
async function varied(count: number, options: object = small): Promise<string> {
  const directory = storeDirectory();
  const store = openLog(directory, options);
  for (let at = 0; at < count; at++) {
    const cache = at % 3 === 0 ? {} : { cache_key: sha256(String(at % 5)), cached: at % 3 === 1 };
    await add(store, {
      decision_id: ids[at % ids.length] ?? "",
      selected_labels: at % 4 === 0 ? [] : [`L${at % 3}`, `M${at % 2}`].slice(0, at % 4),
      definition_hash: definitionHash(`${ids[at % ids.length] ?? ""} v${at % 2}`),
      input: at % 6,
      timestamp: formatTimestamp(microsecondsOf(noon) + at * 1000),
      ...cache,
    });
  }
  await store.close();
  return directory;
}

const indexFiles = (directory: string): readonly string[] =>
  existsSync(logFile(directory, "index")) ? readdirSync(logFile(directory, "index")) : [];

const rowsOf = (directory: string): string =>
  logFile(directory, `index/${indexFiles(directory).find((name) => name.startsWith("rows-")) ?? ""}`);

/** Checks that all index queries return what a scan of the log returns. */
async function expectTrue(
  directory: string,
  { log }: Store = openLog(directory, small),
  lost?: number,
): Promise<void> {
  const scan = new LogScan(directory);
  expect(await log.state()).toEqual({ ...scan.state(), ...(lost !== undefined && { lost }) });
  expect(await log.cacheUse()).toEqual(scan.cacheUse());
  expect(await seqs(log.select({}))).toEqual(scan.select({}));
  for (const decision_id of ids) {
    expect(comparable(await log.tally(decision_id, {}))).toEqual(comparable(scan.tally(decision_id)));
    for (const query of [
      { decision_id },
      { decision_id, limit: 3 },
      { decision_id, label: "L1", reverse: true },
    ])
      expect({ query, found: await seqs(log.select(query)) }).toEqual({ query, found: scan.select(query) });
  }
}

/** Builds the index and checks that it exists. */
async function indexed(directory: string): Promise<void> {
  await expectTrue(directory);
  expect(indexFiles(directory)).toContain("state.json");
}

describe("an index that does not match its log is rebuilt", () => {
  it.each([
    { name: "empty", state: "" },
    { name: "half of it", state: undefined },
    { name: "no JSON", state: "garbage" },
    { name: "null", state: "null" },
    { name: "a list", state: "[]" },
    { name: "an empty mapping", state: "{}" },
    { name: "nothing but its format", state: '{"format":1}' },
    { name: "without segments", state: '{"format":1,"segments":[],"rows":0,"rows_file":"x"}' },
    { name: "of another format", state: '{"format":2}' },
  ])("if its state is $name", async ({ state }) => {
    const directory = await varied(40);
    await indexed(directory);
    const path = logFile(directory, "index/state.json");
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, state ?? whole.slice(0, whole.length / 2));
    await expectTrue(directory);
  });

  it.each([
    { name: "is gone", change: (path: string) => rmSync(path) },
    { name: "is empty", change: (path: string) => truncateSync(path, 0) },
    { name: "was cut in a row", change: (path: string) => truncateSync(path, statSync(path).size - 5) },
    { name: "was cut after a row", change: (path: string) => truncateSync(path, statSync(path).size - 32) },
    {
      name: "is all zeros",
      change: (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
    },
    {
      name: "ends in zeros",
      change: (path: string) => {
        const bytes = readFileSync(path);
        writeFileSync(path, bytes.fill(0, Math.floor(bytes.length / 2)));
      },
    },
  ])("where its file of rows $name", async ({ change }) => {
    const directory = await varied(40);
    await indexed(directory);
    change(rowsOf(directory));
    await expectTrue(directory);
    await add(openLog(directory, small), { decision_id: "gate" });
    await expectTrue(directory);
  });

  it("if the log was replaced by another", async () => {
    const [directory, other] = [await varied(40), await varied(33)];
    await indexed(directory);
    for (const name of segmentFiles(directory)) rmSync(logFile(directory, name));
    for (const name of [...segmentFiles(other), "head", "checkpoints.jsonl"])
      if (existsSync(logFile(other, name))) cpSync(logFile(other, name), logFile(directory, name));
    await expectTrue(directory);
  });

  it("if the log was replaced by one with the same segments and lengths", async () => {
    const [directory, other] = [await filled(30, small), await filled(30, small)];
    await openLog(directory).log.tally("gate", {});
    for (const name of segmentFiles(other)) {
      const [from, to] = [logFile(other, name), logFile(directory, name)];
      expect(statSync(from).size).toBe(statSync(to).size);
      const { atime, mtime } = statSync(to);
      cpSync(from, to);
      utimesSync(to, atime, mtime);
    }
    expect(await openLog(directory).log.state()).toEqual(new LogScan(directory).state());
  });

  it("if a complete segment was edited", async () => {
    const directory = await varied(40);
    await indexed(directory);
    const [first = ""] = segmentFiles(directory);
    const text = readLog(directory, first).toString("utf8");
    writeLog(directory, first, text.replaceAll('"L1"', '"L9"').replaceAll('"M1"', '"M7"'));
    await expectTrue(directory);
  });

  it("if the last segment was edited", async () => {
    const directory = await varied(40, { durability: "fast" });
    await indexed(directory);
    const text = readLog(directory, segmentFile(1)).toString("utf8");
    writeLog(directory, segmentFile(1), text.replaceAll('"L1"', '"L9"'));
    await expectTrue(directory);
  });

  it("if the end of the log was removed, and again when it has grown", async () => {
    const directory = await varied(40, { durability: "fast" });
    await indexed(directory);
    const bytes = readLog(directory, segmentFile(1));
    const lines = linesOf(directory);
    const kept = lines.slice(0, 31).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    truncateSync(logFile(directory, segmentFile(1)), kept);
    await expectTrue(directory, openLog(directory, small), lines.length - 31);
    writeLog(directory, segmentFile(1), bytes);
    await expectTrue(directory);
  });

  it("if the oldest segments were pruned", async () => {
    const directory = await varied(60);
    await indexed(directory);
    const store = openLog(directory, small);
    await store.log.prune(await store.log.prunable({ keep: 20 }), noted);
    await expectTrue(directory, store);
    await add(store, { decision_id: "gate" });
    await expectTrue(directory);
  });

  it("if a line was written and removed after a failed sync", async () => {
    const directory = await varied(10, { durability: "fast" });
    const path = logFile(directory, segmentFile(1));
    const { size } = statSync(path);
    const line = linesOf(directory)[9] ?? "";
    writeFileSync(path, `${line.replace('"seq":10,', '"seq":11,')}\n`, { flag: "a" });
    await openLog(directory, small).log.tally("gate", {});
    truncateSync(path, size);
    await expectTrue(directory);
    await add(openLog(directory, small), { decision_id: "gate", input: 77 });
    await expectTrue(directory);
  });
});

describe("an index that cannot be saved", () => {
  it("is rebuilt each time", async () => {
    const directory = await varied(20);
    writeLog(directory, "index", "a file stands where its directory should be");
    await expectTrue(directory);
    await expectTrue(directory);
  });

  it("is rebuilt if another process is saving it", async () => {
    const directory = await varied(20);
    await openLog(directory, small).log.state();
    const lock = logFile(directory, "index/lock");
    for (const name of readdirSync(lock)) rmSync(join(lock, name));
    writeFileSync(join(lock, "7.1-1-elsewhere"), "");
    const before = readFileSync(logFile(directory, "index/state.json"), "utf8");
    await add(openLog(directory, small), { decision_id: "gate" }, { decision_id: "split" });
    await expectTrue(directory);
    expect(readFileSync(logFile(directory, "index/state.json"), "utf8")).toBe(before);
  });
});

describe("labels and ids", () => {
  const odd = [
    "",
    '"',
    '""',
    "\\",
    "\\\\",
    '\\"',
    '"]',
    '\\"]',
    "]",
    '],"cached":true,"cache_key":"',
    '","selected_labels":["x"],"cached":true,"cache_',
    "[",
    "a,b",
    "\n",
    "\u0000",
    "\u2028",
    "ü",
    "漢字",
    "🎉",
    "\ud800",
    "\u007f",
    "x".repeat(5000),
    "x\\".repeat(600),
    "__proto__",
    "constructor",
    "true",
  ];

  it("are distinguished, whatever they contain", async () => {
    const directory = storeDirectory();
    const store = openLog(directory, small);
    for (const [at, text] of odd.entries()) {
      const other = odd[(at * 7 + 3) % odd.length] ?? "";
      await add(
        store,
        { decision_id: text, selected_labels: [other, text] },
        { decision_id: other, selected_labels: [text], cache_key: sha256(text) },
        { decision_id: text, selected_labels: [`${text}${other}`], cached: true, cache_key: sha256(text) },
        { decision_id: `${text}","selected_labels":["${other}`, selected_labels: [] },
      );
    }
    const scan = new LogScan(directory);
    const { log } = openLog(directory, small);
    expect(await log.cacheUse()).toEqual(scan.cacheUse());
    for (const text of odd) {
      const seen = { text: text.slice(0, 60) };
      // A name that is not a string has no file name either; the query must not fail.
      if (text !== "\ud800")
        expect({ ...seen, tally: comparable(await log.tally(text, {})) }).toEqual({
          ...seen,
          tally: comparable(scan.tally(text)),
        });
      for (const query of [
        { label: text },
        { decision_id: text },
        { decision_id: text, label: text, limit: 1 },
      ])
        expect({ ...seen, found: await seqs(log.select(query)) }).toEqual({
          ...seen,
          found: scan.select(query),
        });
    }
  });

  it("that are not strings can be queried", async () => {
    const store = openLog(storeDirectory());
    await add(store, { decision_id: "\ud800" });
    expect((await store.log.tally("\ud800", {})).total).toBe(1);
  });

  // The two texts of each pair have the same fingerprint in the first version of the index.
  it.each([
    { name: "of escapes", pair: ["\b\n\b\t\n\\\n\n", '\r\n\n\f\n"\n\n'] },
    {
      name: "of letters",
      pair: ["!a!!aa!aaa!!!a!!!!!aaa!!aa!a!a!aa!!a!!a!!!!a", "a!aaa!a!a!a!a!a!aaaaaaa!aa!!aaa!aa!aa!!!!!!!"],
    },
  ])("$name with colliding fingerprints are distinguished", async ({ pair }) => {
    const directory = storeDirectory();
    const store = openLog(directory);
    for (const label of pair)
      for (let input = 0; input < 3; input++)
        await add(store, { selected_labels: [label], input, definition_hash: sha256("gate") });
    expect(comparable(await store.log.tally("gate", {}))).toEqual(
      comparable(new LogScan(directory).tally("gate")),
    );
    for (const label of pair) expect(await seqs(store.log.select({ label }))).toHaveLength(3);
  });

  it("can be numerous", async () => {
    const directory = storeDirectory();
    const store = openLog(directory, { durability: "fast" });
    const bodies = Array.from({ length: 1500 }, (_, at) =>
      decided({ selected_labels: [`L${at % 1300}`], input: at }),
    );
    await Promise.all(bodies.map((body) => store.log.append({ body })));
    expect(comparable(await store.log.tally("gate", {}))).toEqual(
      comparable(new LogScan(directory).tally("gate")),
    );
    expect(comparable(await openLog(directory).log.tally("gate", {}))).toEqual(
      comparable(new LogScan(directory).tally("gate")),
    );
  });
});

describe("an extended tally", () => {
  it("equals one counted from the start, however often it was extended", async () => {
    const directory = storeDirectory();
    const readers = Array.from({ length: 3 }, () => openLog(directory, small));
    const writer = openLog(directory, small);
    for (let times = 0; times < 60; times++) {
      const decision_id = chance() < 0.7 ? "gate" : "split";
      const label = `L${Math.floor(chance() * 4)}`;
      const definition_hash = definitionHash(`${decision_id} v${times < 30 ? 1 : Math.floor(chance() * 2)}`);
      await add(writer, {
        decision_id,
        selected_labels: [label],
        definition_hash,
        input: Math.floor(chance() * 9),
      });
      const reader = readers[times % 3] ?? writer;
      const tally = await reader.log.tally(decision_id, {});
      expect(comparable(tally)).toEqual(comparable(new LogScan(directory).tally(decision_id)));
    }
    const added = await readers[0]?.log.tally("gate", {});
    rmSync(logFile(directory, "index"), { recursive: true });
    expect(await openLog(directory, small).log.tally("gate", {})).toEqual(added);
  });

  it("is counted again if its saved state is damaged or belongs to another index", async () => {
    const directory = await varied(30);
    await indexed(directory);
    const paths = indexFiles(directory)
      .filter((name) => name.startsWith("tally-"))
      .map((name) => logFile(directory, `index/${name}`));
    const kept = paths.map((path) => readFileSync(path, "utf8"));
    expect(kept).toHaveLength(ids.length);
    for (const text of ["", "null", "{}", kept[0]?.slice(0, 30) ?? ""]) {
      for (const path of paths) writeFileSync(path, text);
      await expectTrue(directory);
    }
    rmSync(logFile(directory, "index/state.json"));
    await add(openLog(directory, small), { decision_id: "gate", selected_labels: ["new"] });
    for (const [at, path] of paths.entries()) writeFileSync(path, kept[at] ?? "");
    await expectTrue(directory);
  });
});

describe("an index that several processes build at once", () => {
  const run = async (script: string, directory: string, times: number): Promise<readonly Answer[]> => {
    const child = spawn(process.execPath, [script, directory, "gate", String(times)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (text: Buffer) => (said += text.toString()));
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect(code).toBe(0);
    return said
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Answer);
  };
  interface Answer {
    readonly tally: Tally;
    readonly newest: readonly number[];
    readonly use: object;
  }

  it("answers each process as a scan of the log does", async () => {
    const script = await bundled("index-user");
    const directory = await varied(600, { durability: "fast", segmentSize: 60_000 });
    const answers = (await Promise.all([1, 2, 3].map(() => run(script, directory, 2)))).flat();
    const scan = new LogScan(directory);
    const expected = {
      tally: comparable(scan.tally("gate")),
      newest: scan.select({ decision_id: "gate", limit: 5 }),
      use: scan.cacheUse(),
    };
    expect(answers).toHaveLength(6);
    for (const { tally, newest, use } of answers)
      expect({ tally: comparable(tally), newest, use }).toEqual(expected);
    expect(indexFiles(directory).filter((name) => name.startsWith("rows-"))).toHaveLength(1);
    await expectTrue(directory);
  });

  it("answers with a consistent state while the log grows", async () => {
    const script = await bundled("index-user");
    const directory = await varied(100);
    const store = openLog(directory, small);
    const asking = { going: true };
    const asked = Promise.all([1, 2, 3].map(() => run(script, directory, 8))).finally(() => {
      asking.going = false;
    });
    while (asking.going) {
      await add(store, { decision_id: "gate", input: Math.floor(chance() * 50) });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const gates = new LogScan(directory).select({ decision_id: "gate" });
    for (const answers of await asked) {
      const totals = answers.map(({ tally }) => tally.total);
      expect(totals).toEqual(totals.toSorted((a, b) => a - b));
      for (const { tally, newest } of answers) {
        const sum = Object.values(tally.definitions).reduce((all, { total }) => all + total, 0);
        expect(sum).toBe(tally.total);
        const last = gates.indexOf(newest.at(-1) ?? 0);
        expect(last + 1).toBeGreaterThanOrEqual(tally.total);
        expect(newest).toEqual(gates.slice(last - 4, last + 1));
      }
    }
    await expectTrue(directory);
  });
});

it("answers as a scan of the log does, after any writes, prunes, removals and queries", async () => {
  expect(await expectIndexTrue(8)).toBe(8);
});
