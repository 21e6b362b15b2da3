import { describe, expect, it } from "vitest";
import type { CheckRequest, CheckResult } from "../../src/decide/check.js";
import { check } from "../../src/decide/check.js";
import { decide } from "../../src/decide/decide.js";
import type { ToolResult, ToolResultRequest } from "../../src/decide/tool-result.js";
import { recordToolResult } from "../../src/decide/tool-result.js";
import { buildLibrary } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import type { JsonObject } from "../../src/model/json.js";
import type { DecisionRecord, LogRecord, ToolResultRecord } from "../../src/model/record.js";
import { pathReadCounter, successCounter } from "../../src/record/counters.js";
import { microsecondsOf } from "../../src/record/timestamp.js";
import { newRecordId } from "../../src/record/record-id.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";

const noon = "2026-03-02T12:00:00.000000Z";

interface Place {
  check(tool: string, params?: JsonObject, asked?: Partial<CheckRequest>): Promise<CheckResult>;
  result(tool: string, more?: Partial<ToolResultRequest>): Promise<ToolResult>;
  /** The record of the first decision of a check. */
  recordOf(result: CheckResult): Promise<DecisionRecord>;
  evaluated(id: string, context?: JsonObject): Promise<DecisionRecord>;
  log(): Promise<readonly LogRecord[]>;
  count(counter: string): Promise<number>;
}

function place(...files: readonly string[]): Place {
  const read = files.map((file, index) => readDefinitions(`${index}.yaml`, Buffer.from(file)));
  expect(read.flatMap(({ summary }) => summary.diagnostics)).toEqual([]);
  const definitions = buildLibrary(
    read.map(({ summary }) => summary),
    (file, position) => {
      const found = read[Number.parseInt(file, 10)]?.body.definitions[position];
      return found === undefined ? Promise.reject(new Error(file)) : Promise.resolve(found);
    },
  );
  const store = openMemoryStore();
  const newNote = (): { record_id: string; timestamp: string } => ({ record_id: "note", timestamp: noon });
  const records = new Records(store, { newNote, onWarning: () => undefined });
  const newId = (timestamp: string): string => newRecordId(microsecondsOf(timestamp), Math.random);
  const world = { definitions, clock: () => noon, newId, records };
  const recordAt = async (id: string): Promise<DecisionRecord> => {
    const found = await store.log.find({ beginning: id });
    if (!("record" in found) || found.record.kind !== "decision") throw new Error(id);
    return found.record;
  };
  return {
    check: (tool, params = {}, asked = {}) => check({ tool, params, session_id: "s", ...asked }, world),
    result: (tool, more = {}) => recordToolResult({ tool, session_id: "s", ok: true, ...more }, world),
    recordOf: ({ decisions: [first] }) => recordAt(first?.record_id ?? ""),
    evaluated: async (decision_id, context = {}) =>
      recordAt((await decide({ decision_id, context, session_id: "s" }, world)).record_id ?? ""),
    async log() {
      const found: LogRecord[] = [];
      for await (const { record } of store.log.select({})) found.push(record);
      return found;
    },
    count: async (counter) => (await store.log.counter(counter)).count,
  };
}

const decision = (id: string, policies: string, more = ""): string =>
  `decision:\n  id: ${id}\n  type: policy\n  tool: "*"\n${more}  policies: [${policies}]\n`;

const open = decision("open", "");
const looked =
  "{ name: looked, read_before_write: { read_tools: [read], write_tools: [write], path: params.path } }";
const refusing = '{ name: p, conditions: [{ name: c, expression: "params.ok" }] }';
const routing =
  "decision: { id: r, type: switch, cases: [{ condition: 'true', target: t }], default: { target: z } }";

const idsOf = ({ decisions }: CheckResult): readonly string[] =>
  decisions.flatMap(({ record_id }) => record_id ?? []);

const messageOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => "none",
    (error: unknown) => (error as Error).message,
  );

describe("the result of a call", () => {
  it("is recorded and linked to the decision that allowed it", async () => {
    const world = place(open);
    const checked = await world.check("t");
    const { warnings, ...result } = await world.result("t", { ok: false });
    const [id] = idsOf(checked);
    const [allowed, record] = await world.log();
    expect(result).toEqual({
      kind: "tool_result",
      record_id: record?.record_id,
      timestamp: noon,
      tool: "t",
      ok: false,
      decision_records: [id],
      session_id: "s",
      parent_record_id: id,
      check_id: (allowed as DecisionRecord).check_id,
    });
    expect(warnings).toEqual([]);
    expect(record).toMatchObject({ ...result, seq: 2 });
    expect(record).not.toHaveProperty("warnings");
  });

  it("is linked to all decisions that were asked about the call", async () => {
    const world = place(open, decision("other", ""), decision("third", ""));
    await world.check("t");
    const checked = await world.check("t");
    await world.check("u");
    const { decision_records, parent_record_id } = await world.result("t");
    expect(decision_records).toEqual(idsOf(checked));
    expect(parent_record_id).toBe(idsOf(checked)[0]);
  });

  it("is linked to all of them whichever is named", async () => {
    const world = place(open, decision("other", ""), decision("third", ""));
    const checked = await world.check("t");
    for (const record of (await world.log()) as readonly DecisionRecord[]) {
      expect((await world.result("t", { decision: record })).decision_records).toEqual(idsOf(checked));
    }
  });

  it("is linked to those that are recorded where the first is not", async () => {
    const silent = decision("a", "", "  logging: { log_decision: false }\n");
    const world = place(silent, open);
    const checked = await world.check("t");
    expect((await world.result("t")).decision_records).toEqual(idsOf(checked));
    expect(idsOf(checked)).toHaveLength(1);
  });

  it("is linked to a policy that was evaluated by its id", async () => {
    const world = place(open);
    const record = await world.evaluated("open", { tool: "t", params: {} });
    expect(await world.result("t")).toMatchObject({ decision_records: [record.record_id] });
    expect(await world.result("t", { decision: record })).toMatchObject({
      decision_records: [record.record_id],
    });
  });

  it("is linked to the newest open call of the tool in the session", async () => {
    const world = place(open);
    await world.check("t");
    const second = await world.check("t");
    await world.check("t", {}, { session_id: "other" });
    await world.check("u");
    expect((await world.result("t")).decision_records).toEqual(idsOf(second));
  });

  it.each([
    ["no call was asked about", () => Promise.resolve()],
    [
      "the newest call has its result already",
      async (world: Place) => {
        await world.check("t");
        await world.result("t");
      },
    ],
    [
      "the call was denied",
      async (world: Place) => {
        await world.check("t", { ok: false });
      },
    ],
    [
      "the check was a dry run",
      async (world: Place) => {
        await world.check("t", { ok: true }, { dry_run: true });
      },
    ],
  ])("is linked to nothing where %s", async (_why, before) => {
    const world = place(decision("a", refusing));
    await before(world);
    const result = await world.result("t");
    expect(result.decision_records).toEqual([]);
    expect(result).not.toHaveProperty("parent_record_id");
    expect(result).not.toHaveProperty("check_id");
    expect(result.warnings).toEqual(["no open call of `t` was allowed in session `s`"]);
  });

  it("does not close the newest call where that of an older one is told", async () => {
    const world = place(open);
    const [first, second] = [await world.check("t"), await world.check("t")];
    await world.result("t", { decision: await world.recordOf(first) });
    expect((await world.result("t")).decision_records).toEqual(idsOf(second));
  });

  it("counts as a success of the session only where it is one", async () => {
    const world = place(open);
    await world.result("t", { ok: false });
    await world.result("t");
    await world.result("t", { session_id: "other" });
    expect(await world.count(successCounter("s", "t"))).toBe(1);
  });

  it("needs a store", async () => {
    const definitions = buildLibrary([], () => Promise.reject(new Error("nothing is loaded")));
    const world = { definitions, clock: () => noon, newId: () => "" };
    expect(await messageOf(recordToolResult({ tool: "t", session_id: "s", ok: true }, world))).toBe(
      "cannot record a tool result without a store",
    );
  });
});

describe("a record that a result cannot be linked to", () => {
  it.each<[string, (world: Place) => Promise<DecisionRecord>, string]>([
    [
      "is not a decision about a tool call",
      (world) => world.evaluated("r"),
      "is not a decision about a tool call",
    ],
    [
      "is about another tool",
      async (world) => world.recordOf(await world.check("u", { ok: true })),
      "is about `u`, not about `t`",
    ],
    [
      "belongs to another session",
      async (world) => world.recordOf(await world.check("t", { ok: true }, { session_id: "other" })),
      "belongs to another session",
    ],
    [
      "has denied the call",
      async (world) => world.recordOf(await world.check("t", { ok: false })),
      "belongs to a call that was denied",
    ],
  ])("%s", async (_why, recordIn, message) => {
    const world = place(routing, decision("a", refusing));
    const record = await recordIn(world);
    const before = (await world.log()).length;
    expect(await messageOf(world.result("t", { decision: record }))).toBe(
      `record \`${record.record_id}\` ${message}`,
    );
    expect(await world.log()).toHaveLength(before);
  });

  it("has allowed the call that another decision of the check has denied", async () => {
    const world = place(open, decision("z", refusing));
    const record = await world.recordOf(await world.check("t", { ok: false }));
    expect(record).toMatchObject({ decision_id: "open", allowed: true });
    expect(await messageOf(world.result("t", { decision: record }))).toContain(
      "belongs to a call that was denied",
    );
  });
});

describe("what a call has read", () => {
  const readIn = (world: Place, path: string, id = "w"): Promise<number> =>
    world.count(pathReadCounter({ decision: id, policy: "looked" }, "s", path));

  it("is known by the params of the result", async () => {
    const world = place(decision("w", looked));
    await world.result("read", { params: { path: "./a//b" } });
    expect(await readIn(world, "a/b")).toBe(1);
  });

  it("is known by the check where the result has no params", async () => {
    const world = place(decision("w", looked));
    await world.check("read", { path: "a" });
    await world.result("read");
    expect(await readIn(world, "a")).toBe(1);
  });

  it("is what an override has changed the path to", async () => {
    const moved = `{ name: p, conditions: [{ name: c, expression: "params.path != 'a'" }] },
      { name: o, overrides: [p], action: modify_params, params: { path: b } }`;
    const world = place(decision("m", moved), decision("w", looked));
    expect((await world.check("read", { path: "a", x: { y: 1 } })).params).toEqual({
      path: "b",
      x: { y: 1 },
    });
    await world.result("read");
    expect([await readIn(world, "a"), await readIn(world, "b")]).toEqual([0, 1]);
  });

  it("is what the result says rather than the check", async () => {
    const world = place(decision("w", looked));
    await world.check("read", { path: "a" });
    await world.result("read", { params: { path: "b" } });
    expect([await readIn(world, "a"), await readIn(world, "b")]).toEqual([0, 1]);
  });

  it("is known to every policy that wants to know", async () => {
    const world = place(decision("v", looked), decision("w", looked));
    await world.result("read", { params: { path: "a" } });
    expect([await readIn(world, "a", "v"), await readIn(world, "a", "w")]).toEqual([1, 1]);
  });

  it.each<[string, string, Partial<ToolResultRequest>]>([
    ["the call failed", "read", { ok: false, params: { path: "a" } }],
    ["another tool was called", "list", { params: { path: "a" } }],
    ["nobody knows the params", "read", {}],
    ["there is no path", "read", { params: { file: "a" } }],
    ["the path is no text", "read", { params: { path: ["a"] } }],
  ])("is nothing where %s", async (_why, tool, more) => {
    const world = place(decision("w", looked));
    await world.result(tool, more);
    const [record] = await world.log();
    expect(JSON.stringify((record as ToolResultRecord).counted ?? [])).not.toContain("looked");
  });

  it("is nothing where the path is masked", async () => {
    const world = place(decision("w", looked, "  logging: { mask: [/params/path] }\n"));
    await world.result("read", { params: { path: "secret.txt" } });
    expect(JSON.stringify(await world.log())).not.toContain("secret.txt");
  });

  it("is taken from a record that shows it, where the first masks or leaves out the params", async () => {
    for (const logging of ["mask: [/params/path]", "include_inputs: false"]) {
      const world = place(decision("a", "", `  logging: { ${logging} }\n`), decision("w", looked));
      await world.check("read", { path: "a.txt" });
      await world.result("read");
      expect([logging, await readIn(world, "a.txt")]).toEqual([logging, 1]);
    }
  });

  it("is not what stands for a masked value", async () => {
    const reader = decision("a", "", "  logging: { mask: [/params/path] }\n").replace('"*"', "read");
    const world = place(reader, decision("w", looked).replace('"*"', "write"));
    await world.check("read", { path: "a.txt" });
    await world.result("read");
    expect(await readIn(world, "[masked]")).toBe(0);
    expect(await world.check("write", { path: "[masked]" })).toMatchObject({ allowed: false });
  });
});
