import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { ExitCode } from "../../src/cli/exit-codes.js";
import { followLog } from "../../src/cli/commands/log.js";
import { main } from "../../src/cli/main.js";
import type { Store } from "../../src/model/store.js";
import { newestRecords } from "../../src/record/record-query.js";
import { openJsonlStore } from "../../src/store/drivers/jsonl/store.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import type { Decided } from "../store/entries.js";
import { decided, newId, noted, seqs, TestClock } from "../store/entries.js";
import { fakeIo } from "./fake-io.js";

const root = mkdtempSync(join(tmpdir(), "agent-33-log-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let stores = 0;
const newStore = (): string => join(root, String(++stores));
const firstSegment = (directory: string): string => join(directory, "log/000000000001.jsonl");

/** A store in which these decisions were made, one a second. */
async function storeWith(all: readonly (Decided | "note")[]): Promise<string> {
  const directory = newStore();
  const store = openJsonlStore({ directory, clock: new TestClock().read, newId, durability: "fast" });
  for (const [index, each] of all.entries()) {
    const timestamp = `2026-03-02T12:00:${String(index % 60).padStart(2, "0")}.000000Z`;
    const body =
      each === "note" ? noted({ records: 5, through: 5 }, timestamp) : decided({ timestamp, ...each });
    await store.log.append({ body });
  }
  await store.close();
  return directory;
}

interface Seen {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

async function log(
  directory: string,
  words: readonly string[] = [],
  options: { readonly terminal?: boolean; readonly columns?: number; readonly color?: boolean } = {},
): Promise<Seen> {
  const { color = false, ...terminal } = options;
  const env = { AGENT33_STORE: directory, ...(!color && { NO_COLOR: "1" }) };
  const io = fakeIo({ ...terminal, cwd: root, env });
  const code = await main(["decision", "log", ...words], io);
  return { code, ...io.written };
}

const columnOf = (text: string, column: number): readonly string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t")[column] ?? "");

const numbersOf = async (directory: string, words: readonly string[]): Promise<string> =>
  columnOf((await log(directory, ["--format", "plain", ...words])).out, 0).join(" ");

const three = (): Promise<string> =>
  storeWith([
    { decision_id: "gate", selected_labels: ["Pass"], workflow_id: "w-1", stage_id: "s-1" },
    { decision_id: "route", selected_labels: ["default"], type: "switch", session_id: "x" },
    { decision_id: "gate", selected_labels: ["Fail", "Late"], workflow_id: "w-2", cached: true },
  ]);

describe("the callers of decisions", () => {
  const by = (subject: string, ...actors: readonly string[]): Decided => ({
    facts: { authenticated_caller: { subject, actors: actors.map((each) => ({ subject: each })) } },
  });

  it.each([
    ["alice", "1 4"],
    ["agent-7", "2 4"],
    ["nobody", ""],
  ])("are found by --caller %s, also where they act for another", async (caller, numbers) => {
    const directory = await storeWith([
      by("alice"),
      by("bob", "agent-7"),
      {},
      by("alice", "agent-7"),
      "note",
    ]);
    expect(await numbersOf(directory, ["--caller", caller, "--kind", "all"])).toBe(numbers);
    const io = fakeIo({ cwd: root, env: { AGENT33_STORE: directory } });
    expect(await main(["decision", "export", "--caller", caller, "--format", "csv"], io)).toBe(0);
    const rows = io.written.out.split("\r\n").slice(1, -1);
    expect(rows.map((row) => row.split(",", 1)[0]).join(" ")).toBe(numbers);
  });
});

describe("the log in a pipe", () => {
  it("is the very lines that were written", async () => {
    const directory = await three();
    const { code, out, err } = await log(directory);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(readFileSync(firstSegment(directory), "utf8"));
  });

  it("can be one JSON document, as if it were written at once", async () => {
    const directory = await three();
    const lines = readFileSync(firstSegment(directory), "utf8").trimEnd().split("\n");
    const records = lines.map((line) => JSON.parse(line) as unknown);
    expect((await log(directory, ["--json"])).out).toBe(`${JSON.stringify(records, null, 2)}\n`);
    expect(parse((await log(directory, ["--format", "yaml"])).out)).toEqual(records);
  });

  it("can be plain text with a column for each thing", async () => {
    const { out } = await log(await three(), ["--format", "plain"]);
    const [first, , third] = out.split("\n").map((line) => line.split("\t"));
    expect(first).toEqual([
      "1",
      "2026-03-02T12:00:00.000000Z",
      "gate",
      "Pass",
      "to-Pass",
      "w-1",
      "s-1",
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      "",
      "",
      "",
      "",
      "",
    ]);
    expect([third?.[3], third?.[4], third?.[10]]).toEqual(["Fail, Late", "to-Fail to-Late", "cached"]);
  });

  it("keeps plain text to a line each, whatever was recorded", async () => {
    const directory = await storeWith([{ workflow_id: "a\tb\nc\u001b[31m", because: ["x ==\n  1"] }]);
    const { out } = await log(directory, ["--format", "plain"]);
    expect(columnOf(out, 5)).toEqual(["a b c\\u001b[31m"]);
    expect(columnOf(out, 11)).toEqual(["x == 1"]);
  });

  it.each([
    ["json", "[]\n"],
    ["yaml", "[]\n"],
    ["jsonl", ""],
    ["plain", ""],
    ["table", ""],
  ])("is empty where there is nothing: %s", async (format, out) => {
    expect(await log(newStore(), ["--format", format])).toEqual({ code: 0, out, err: "" });
  });
});

describe("a filter", () => {
  it.each([
    [[], "1 2 3"],
    [["--limit", "2"], "2 3"],
    [["--limit", "2", "--reverse"], "3 2"],
    [["--reverse"], "3 2 1"],
    [["--decision-id", "gate"], "1 3"],
    [["--decision-id", "gate", "--limit", "1"], "3"],
    [["--workflow-id", "w-1"], "1"],
    [["--stage-id", "s-1"], "1"],
    [["--session-id", "x"], "2"],
    [["--label", "Late"], "3"],
    [["--target", "to-Pass"], "1"],
    [["--type", "switch"], "2"],
    [["--since", "2026-03-02T12:00:01Z"], "2 3"],
    [["--until", "2026-03-02T12:00:01Z"], "1 2"],
    [["--decision-id", "gate", "--label", "default"], ""],
  ])("selects records: %j", async (words, numbers) => {
    expect(await numbersOf(await three(), words)).toBe(numbers);
  });

  it("can be what happened to the log itself", async () => {
    const directory = await storeWith([{}, "note", {}]);
    expect(await numbersOf(directory, [])).toBe("1 3");
    expect(await numbersOf(directory, ["--kind", "note"])).toBe("2");
    expect(await numbersOf(directory, ["--kind", "all"])).toBe("1 2 3");
    expect(columnOf((await log(directory, ["--kind", "note", "--format", "plain"])).out, 11)).toEqual([
      "the oldest 5 records were removed, up to number 5",
    ]);
  });

  it.each([
    [["--limit", "0"], "--limit must be a whole number of 1 or more (got `0`)", "such as --limit 20"],
    [["--limit", "1.5"], "--limit must be a whole number of 1 or more (got `1.5`)", "such as --limit 20"],
    [["--limit", "-3"], "--limit must be a whole number of 1 or more (got `-3`)", "such as --limit 20"],
    [["--limit", "9".repeat(20)], `(got \`${"9".repeat(20)}\`)`, "such as --limit 20"],
    [["--kind", "notes"], "unknown kind `notes`", "did you mean `note`?"],
    [["--kind", "xyz"], "unknown kind `xyz`", "choose one of decision, tool_result, assessment, note, all"],
    [["--type", "rule-table"], "unknown type `rule-table`", "did you mean `rule_table`?"],
    [["--since", "yesterday"], "--since `yesterday` is not a time", "use a timestamp"],
    [["--format", "csv"], "unknown format `csv`", "choose one of"],
    [["--folow"], "unknown option `--folow`", "did you mean `--follow`?"],
    [["--follow", "--reverse"], "--follow and --reverse cannot be combined", ""],
    [["--follow", "--until", "1h"], "--follow and --until cannot be combined", ""],
    [["--follow", "--json"], "--follow cannot be combined with --format json", "use jsonl, plain or table"],
    [["--follow", "--format", "yaml"], "--follow cannot be combined with --format yaml", "use jsonl"],
  ])("is rejected if it is invalid: %j", async (words, message, hint) => {
    const { code, out, err } = await log(newStore(), words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(err).toContain(hint);
  });
});

describe("the log on a terminal", () => {
  const terminal = { terminal: true, columns: 120 };

  it("is a table with a line for each record", async () => {
    const { out, err } = await log(await three(), [], terminal);
    expect(err).toBe("");
    expect(out.split("\n")).toEqual([
      "SEQ  TIME (UTC)           DECISION  ANSWER                        CACHED  ORIGIN",
      "  1  2026-03-02 12:00:00  gate      to-Pass (Pass)                        w-1 / s-1",
      "  2  2026-03-02 12:00:01  route     to-default (default)                  x",
      "  3  2026-03-02 12:00:02  gate      to-Fail to-Late (Fail, Late)  cached  w-2",
      "",
    ]);
  });

  it("gives up columns before it grows wider than the terminal", async () => {
    const directory = await storeWith([{ because: ["a".repeat(50)], workflow_id: "w".repeat(30) }]);
    for (const columns of [200, 100, 80, 66, 50, 40]) {
      const { out } = await log(directory, [], { terminal: true, columns });
      expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(out).toContain("to-Pass");
    }
  });

  it("is in line with wide characters too", async () => {
    const directory = await storeWith([
      { selected_labels: ["合格"], workflow_id: "w" },
      { workflow_id: "w" },
    ]);
    const [, first, second] = (await log(directory, [], terminal)).out.split("\n");
    expect(first).toMatch(/to-合格 \(合格\) {2}w$/);
    expect(second).toMatch(/to-Pass \(Pass\) {2}w$/);
  });

  it("paints default routes", async () => {
    const { out } = await log(await three(), [], { ...terminal, color: true });
    expect(out).toContain("\u001b[33mto-default (default)\u001b[39m");
  });

  it("shows the newest 50 records and how to see more", async () => {
    const directory = await storeWith(Array.from({ length: 51 }, () => ({})));
    const { out, err } = await log(directory, [], terminal);
    expect(out.trimEnd().split("\n")).toHaveLength(51);
    expect(out.split("\n")[1]).toMatch(/^ +2 /);
    expect(err).toBe("showing the newest 50 records; use --limit N for more\n");
    const newestFirst = await log(directory, ["--reverse"], terminal);
    expect(newestFirst.out.split("\n")[1]).toMatch(/^ +51 /);
    expect(newestFirst.out.trimEnd().split("\n").at(-1)).toMatch(/^ +2 /);
    expect((await log(directory, ["--quiet"], terminal)).err).toBe("");
    expect((await log(directory, ["--limit", "51"], terminal)).err).toBe("");
  });

  it("does not mention more records if there are none", async () => {
    const directory = await storeWith(Array.from({ length: 50 }, () => ({})));
    const { out, err } = await log(directory, [], terminal);
    expect(out.trimEnd().split("\n")).toHaveLength(51);
    expect(err).toBe("");
  });

  it("prints why it is empty", async () => {
    expect(await log(newStore(), [], terminal)).toEqual({
      code: 0,
      out: "",
      err: "no records yet\n",
    });
    const nothing = await log(await three(), ["--label", "nope", "--json"], terminal);
    expect(nothing).toEqual({ code: 0, out: "[]\n", err: "no matching records\n" });
  });
});

describe("a log that is damaged", () => {
  it("is read on, with a warning", async () => {
    const directory = await three();
    const lines = readFileSync(firstSegment(directory), "utf8").split("\n");
    lines[1] = `{"seq":2,"kind":"decision","record_id":5}`;
    writeFileSync(firstSegment(directory), lines.join("\n"));
    for (const format of ["plain", "table", "jsonl", "json"]) {
      const { code, out, err } = await log(directory, ["--format", format]);
      expect(code).toBe(0);
      expect(out).toContain("w-2");
      expect(err).toContain("warning: skipped 1 damaged line of the log; run `agent-33 decision verify`\n");
    }
  });

  it("may have a line on its way", async () => {
    const directory = await three();
    appendFileSync(firstSegment(directory), '{"seq":4,"kind":"dec');
    expect(await numbersOf(directory, [])).toBe("1 2 3");
  });
});

describe("the newest of many records", () => {
  it("are read without holding them", async () => {
    const { log: ledger } = await filled(20);
    expect(await seqs(newestRecords(ledger, { limit: 7 }, 3))).toEqual([14, 15, 16, 17, 18, 19, 20]);
    expect(await seqs(newestRecords(ledger, { limit: 50 }, 3))).toHaveLength(20);
    expect(await seqs(newestRecords(ledger, { limit: 5, label: "none" }, 3))).toEqual([]);
    expect(await seqs(newestRecords(ledger, { limit: 4, reverse: true }, 3))).toEqual([20, 19, 18, 17]);
  });
});

async function filled(count: number): Promise<Store> {
  const store = openMemoryStore();
  for (let index = 0; index < count; index++) await store.log.append({ body: decided() });
  return store;
}

describe("following a log", () => {
  it("reports each new matching record once and in order", async () => {
    const store = await filled(3);
    const stop = new AbortController();
    const told: number[] = [];
    const following = followLog(
      store.log,
      { decision_id: "gate" },
      {
        after: 3,
        signal: stop.signal,
        everyMilliseconds: 1,
        onTruncated: () => undefined,
        onRecord: ({ record }) => {
          told.push(record.seq);
          if (record.seq === 6) stop.abort();
        },
      },
    );
    await store.log.append({ body: decided() });
    await store.log.append({ body: decided({ decision_id: "other" }) });
    await store.log.append({ body: decided() });
    await following;
    expect(told).toEqual([4, 6]);
  });

  it("does not look at records again that did not fit", async () => {
    const store = await filled(3);
    const stop = new AbortController();
    const asked: (number | undefined)[] = [];
    let looks = 0;
    const watched = {
      state: () => {
        if (++looks === 4) stop.abort();
        return store.log.state();
      },
      select: (query: Parameters<Store["log"]["select"]>[0]) => {
        asked.push(query.after);
        return store.log.select(query);
      },
    };
    const following = followLog(
      watched,
      { decision_id: "none" },
      {
        after: 0,
        signal: stop.signal,
        everyMilliseconds: 1,
        onRecord: () => undefined,
        onTruncated: () => undefined,
      },
    );
    await following;
    expect(asked).toEqual([0]);
  });

  it("reports once that the log was replaced", async () => {
    const ledgers = [await filled(5), await filled(1), await filled(1), await filled(2)];
    const stop = new AbortController();
    const told: (number | "shorter")[] = [];
    let looks = -1;
    const current = (): Store => ledgers[Math.min(looks, ledgers.length - 1)] ?? openMemoryStore();
    const swapped = {
      state: () => {
        if (++looks === ledgers.length) stop.abort();
        return current().log.state();
      },
      select: (query: Parameters<Store["log"]["select"]>[0]) => current().log.select(query),
    };
    await followLog(
      swapped,
      {},
      {
        after: 5,
        signal: stop.signal,
        everyMilliseconds: 1,
        onRecord: ({ record }) => told.push(record.seq),
        onTruncated: () => told.push("shorter"),
      },
    );
    expect(told).toEqual(["shorter", 2]);
  });

  it("outlives a segment that is pruned while it looks", async () => {
    const store = await filled(2);
    const stop = new AbortController();
    const told: number[] = [];
    let looks = 0;
    const pruned = {
      select: (query: Parameters<Store["log"]["select"]>[0]) => store.log.select(query),
      state: () => {
        if (++looks > 1) return store.log.state();
        const gone = Object.assign(new Error("gone"), { code: "ENOENT" });
        return Promise.reject(new Error("cannot read the store", { cause: gone }));
      },
    };
    await followLog(
      pruned,
      {},
      {
        after: 1,
        signal: stop.signal,
        everyMilliseconds: 1,
        onTruncated: () => undefined,
        onRecord: ({ record }) => {
          told.push(record.seq);
          stop.abort();
        },
      },
    );
    expect(told).toEqual([2]);
  });
});
