import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { compose, composeRecords } from "../../src/compose.js";
import type { Store } from "../../src/model/store.js";
import { replayLog } from "../../src/replay/replay-log.js";
import { changeLine, logLines } from "./changed-line.js";
import type { MixedStore } from "./mixed-store.js";
import { mixedStore, replayAll } from "./mixed-store.js";

let mixed: MixedStore;

beforeAll(async () => {
  mixed = await mixedStore({ lines: 600, unreplayable: 8 });
  // A write that was cut off leaves a note.
  appendFileSync(join(mixed.directory, "log/000000000001.jsonl"), '{"seq":');
  const world = await compose({ decisions: mixed.decisions, store: { directory: mixed.directory } });
  await world.decide({ decision_id: "binary", context: { artifact: { id: "last", score: 1 } } });
  await world.close();
}, 60_000);

/** The store as it was, for each to change as it likes. */
function copied(): MixedStore {
  const directory = join(mkdtempSync(join(tmpdir(), "agent-33-changed-")), "store");
  cpSync(mixed.directory, directory, { recursive: true });
  return { ...mixed, directory };
}

/** The numbers of the records whose lines hold this. */
const numbersOf = (...parts: readonly string[]): readonly number[] =>
  logLines(mixed.directory).flatMap((line, index) =>
    parts.every((part) => line.includes(part)) ? index + 1 : [],
  );

const last = <T>(items: readonly T[]): T => {
  const item = items.at(-1);
  if (item === undefined) throw new Error("there is none");
  return item;
};

const replaced = (from: string, to: string) => (text: string) => {
  const at = text.lastIndexOf(from);
  return text.slice(0, at) + to + text.slice(at + from.length);
};

describe("one byte that was changed", () => {
  interface Change {
    readonly name: string;
    /** Parts of the line; the last such line is meant. */
    readonly of: readonly string[];
    readonly first?: true;
    readonly change: (text: string) => string;
    /** The reported state of the record. */
    readonly now?: string;
  }
  const scored = ['"decision_id":"scored-consensus"'];
  const table = ['"decision_id":"table-first"'];
  const changes: readonly Change[] = [
    { name: "in a value that is read", of: scored, change: replaced('"income":', '"incomf":') },
    { name: "in a value that is not read", of: scored, change: replaced('"secret":"s-', '"secret":"t-') },
    { name: "in a key of the context", of: table, change: replaced('"context":{"n', '"context":{"m') },
    { name: "in the time", of: scored, change: replaced('"timestamp":"2', '"timestamp":"3') },
    {
      name: "in the name of a field",
      of: scored,
      change: replaced('"definition_hash"', '"definition_hasi"'),
    },
    { name: "in the id of the record", of: table, change: replaced('"record_id":"0', '"record_id":"1') },
    { name: "in the kind", of: table, change: replaced('"kind":"decision"', '"kind":"decisiom"') },
    { name: "in its own hash", of: table, change: (text) => flipped(text, text.length - 3) },
    {
      name: "which breaks the JSON of the context",
      of: scored,
      change: replaced('"context":{', '"context":['),
      now: "unreadable",
    },
    {
      name: "which breaks the JSON of the first of its kind",
      of: table,
      first: true,
      change: replaced('"context":{', '"context":['),
      now: "unreadable",
    },
    {
      name: "which breaks the beginning",
      of: scored,
      change: (text) => text.replace('"kind":', "'kind\":"),
      now: "unreadable",
    },
    {
      name: "which breaks the last line",
      of: ['"id":"last"'],
      change: replaced('"context":{', '"context":['),
      now: "unreadable",
    },
  ];

  it.each(changes)(
    "$name is reported for this record only",
    async ({ of, first, change, now = "changed since" }) => {
      const store = copied();
      const numbers = numbersOf(...of);
      const seq = first === undefined ? last(numbers) : (numbers[0] ?? 0);
      changeLine(store.directory, seq, change);
      const { code, report, err } = await replayAll(store);
      expect(code).toBe(6);
      expect(report.mismatches.map((each) => [each.seq, each.actual])).toEqual([[seq, { record: now }]]);
      expect(report).toMatchObject({ mismatched: 1, total: numbersOf('"kind":"decision"').length });
      expect(err).toContain("the log in");
      expect(err).toContain("is damaged; run `agent-33 decision verify`");
    },
  );

  it("in the hash before is reported for the record before too, which is no longer the one that it names", async () => {
    const store = copied();
    const seq = last(numbersOf(...table));
    changeLine(store.directory, seq, (text) => flipped(text, text.length - 80));
    const { code, report } = await replayAll(store);
    expect({ code, seqs: report.mismatches.map((each) => each.seq) }).toEqual({
      code: 6,
      seqs: [seq - 1, seq],
    });
  });

  it.each<Change>([
    {
      name: "the result of a call",
      of: ['"kind":"tool_result"'],
      change: replaced('"tool":"read_file"', '"tool":"reed_file"'),
    },
    {
      name: "the result of a call, which breaks its JSON",
      of: ['"kind":"tool_result"'],
      change: replaced('"ok":', '"ok";'),
    },
    {
      name: "a note",
      of: ['"kind":"note"'],
      change: replaced('"note":"tail_repaired"', '"note":"tail_repaireb"'),
    },
    {
      name: "a note, which breaks its JSON",
      of: ['"kind":"note"'],
      change: replaced('"details":{', '"details":['),
    },
  ])("of $name is not a mismatch, but the log is damaged", async ({ of, change }) => {
    const store = copied();
    changeLine(store.directory, last(numbersOf(...of)), change);
    const { code, report, err } = await replayAll(store);
    expect({ code, mismatches: report.mismatches }).toEqual({ code: 6, mismatches: [] });
    expect(err).toContain("is damaged; run `agent-33 decision verify`");
  });

  it("is reported where only the records of this decision are replayed", async () => {
    const store = copied();
    const seq = last(numbersOf(...scored));
    changeLine(store.directory, seq, replaced('"context":{', '"context":['));
    const { code, report } = await replayAll(store, "--decision-id", "scored-consensus");
    expect({ code, seqs: report.mismatches.map((each) => each.seq) }).toEqual({ code: 6, seqs: [seq] });
    const others = await replayAll(store, "--decision-id", "scored-threshold");
    expect({ code: others.code, mismatched: others.report.mismatched }).toEqual({ code: 6, mismatched: 0 });
  });
});

function flipped(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === "a" ? "b" : "a"}${text.slice(at + 1)}`;
}

describe("a missing part", () => {
  const opened = async ({ directory }: MixedStore): Promise<Store> =>
    (await composeRecords({ directory })).store;

  it("is reported as an unreadable record, and so is the record before, which no record confirms", async () => {
    const store = copied();
    const path = join(store.directory, "log/000000000001.jsonl");
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, lines.toSpliced(99, 1).join("\n"));
    const { report } = await replayAll(store);
    expect(report.mismatches.map(({ seq, record_id }) => [seq, record_id])).toEqual([
      [99, expect.any(String)],
      [100, null],
    ]);
  });

  it("makes records not replayable if it is a definition or an environment", async () => {
    const store = await opened(copied());
    const hashOf = (id: string): string =>
      /"definition_hash":"([0-9a-f]{64})"/.exec(
        logLines(mixed.directory).find((line) => line.includes(`"decision_id":"${id}"`)) ?? "",
      )?.[1] ?? "";
    await store.shelf("definitions").remove(({ key }) => key === hashOf("gate"));
    const gates = numbersOf('"kind":"decision"', '"decision_id":"gate"').length;
    const report = await replayLog(store, { decision_id: "gate", kind: "decision" });
    expect(report).toMatchObject({ total: gates, matched: 0, mismatched: 0, not_replayable: gates });
    expect(report.reasons[0]).toMatchObject({ reason: "its definition is no longer stored", count: gates });
    await store.shelf("environments").remove(() => true);
    const binary = await replayLog(store, { decision_id: "binary", kind: "decision" });
    expect(binary.reasons.map(({ reason }) => reason)).toEqual([
      "the environment of its definition is no longer stored",
    ]);
  });

  it("is distinguished from a definition that was replaced", async () => {
    const store = await opened(copied());
    for await (const { key, value } of store.shelf("definitions").entries()) {
      if (JSON.stringify(value).includes('"id":"binary"'))
        await store.shelf("definitions").put([{ key, value: { ...(value as object), name: "forged" } }]);
    }
    const report = await replayLog(store, { decision_id: "binary", kind: "decision" });
    expect(report).toMatchObject({ matched: 0, not_replayable: 0, mismatched: report.total });
    expect(report.mismatches[0]?.actual).toEqual({ definition: "its definition was changed in the store" });
  });

  it("is not a record appended during the replay", async () => {
    const place = copied();
    const world = await compose({ decisions: place.decisions, store: { directory: place.directory } });
    if (world.records === undefined) throw new Error("there is a store");
    const { store } = world.records;
    const log: Store["log"] = {
      ...store.log,
      async *select(...asked) {
        yield* store.log.select(...asked);
        await world.decide({ decision_id: "binary", context: { artifact: { id: "later", score: 1 } } });
      },
    };
    const report = await replayLog({ ...store, log }, {});
    expect(report.mismatches).toEqual([]);
    await world.close();
  });

  it("is every record of the oldest file, if it was deleted", async () => {
    const small = await mixedStore({ lines: 480, unreplayable: 0, segmentSize: 100_000 });
    const [first = "", second = ""] = readdirSync(join(small.directory, "log")).filter((name) =>
      /^\d+\.jsonl$/.test(name),
    );
    rmSync(join(small.directory, "log", first));
    const missing = Number.parseInt(second, 10) - 1;
    const { code, report } = await replayAll(small);
    expect(code).toBe(6);
    expect(report.mismatches.map(({ seq }) => seq)).toEqual(
      Array.from({ length: missing }, (_, index) => index + 1),
    );
  });

  it("is not a record that was pruned", async () => {
    const small = await mixedStore({ lines: 480, unreplayable: 0, segmentSize: 100_000 });
    const records = await composeRecords({ directory: small.directory });
    const before = (await replayAll(small)).report;
    const found = await records.log.prunable({ keep: 200 });
    await records.prune(found, {});
    const { code, report } = await replayAll(small);
    expect(found.records).toBeGreaterThan(50);
    expect({ code, mismatched: report.mismatched }).toEqual({ code: 0, mismatched: 0 });
    expect(report.total).toBeLessThan(before.total);
  });
});
