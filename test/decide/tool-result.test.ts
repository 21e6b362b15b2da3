import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { CheckRequest, CheckResult } from "../../src/decide/check.js";
import { check } from "../../src/decide/check.js";
import { decide } from "../../src/decide/decide.js";
import type { ToolResult, ToolResultRequest } from "../../src/decide/tool-result.js";
import { recordToolResult } from "../../src/decide/tool-result.js";
import { buildLibrary } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Diagnostic } from "../../src/model/diagnostic.js";
import type {
  AuthenticatedCaller,
  DecisionRecord,
  LogRecord,
  ToolResultRecord,
} from "../../src/model/record.js";
import type { Entry } from "../../src/model/store.js";
import { pathReadCounter, successCounter } from "../../src/record/counters.js";
import { microsecondsOf } from "../../src/record/timestamp.js";
import { newRecordId } from "../../src/record/record-id.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";

const noon = "2026-03-02T12:00:00.000000Z";

/** What a request changes; `session_id: undefined` leaves out the session. */
type Asked = Omit<Partial<CheckRequest>, "session_id"> & { readonly session_id?: string | undefined };

interface Place {
  check(tool: string, params?: JsonObject, asked?: Asked): Promise<CheckResult>;
  result(tool: string, more?: Partial<ToolResultRequest>): Promise<ToolResult>;
  /** The record of the first decision of a check. */
  recordOf(result: CheckResult): Promise<DecisionRecord>;
  evaluated(id: string, context?: JsonObject): Promise<DecisionRecord>;
  log(): Promise<readonly LogRecord[]>;
  count(counter: string): Promise<number>;
  append(entry: Entry): Promise<unknown>;
  /** Makes one of the policies invalid. */
  breakPolicies(): void;
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
  const broken: Diagnostic = { file: "x.yaml", line: 1, column: 1, severity: "error", message: "" };
  const recordAt = async (id: string): Promise<DecisionRecord> => {
    const found = await store.log.find({ beginning: id });
    if (!("record" in found) || found.record.kind !== "decision") throw new Error(id);
    return found.record;
  };
  return {
    check: (tool, params = {}, asked = {}) =>
      check({ tool, params, session_id: "s", ...asked } as CheckRequest, world),
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
    append: (entry) => store.log.append(entry),
    breakPolicies() {
      world.definitions = { ...definitions, brokenPolicies: [broken] };
    },
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

const digestOf = (params: JsonObject): string =>
  createHash("sha256").update(JSON.stringify(params)).digest("hex");

const messageOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => "none",
    (error: unknown) => (error as Error).message,
  );

const callerOf = (org_id: string): AuthenticatedCaller => ({
  subject: "s",
  issuer: "i",
  org_id,
  scopes: [],
  delegated: false,
  actors: [],
});

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
      linked: true,
      session_id: "s",
      parent_record_id: id,
      check_id: (allowed as DecisionRecord).check_id,
      params_digest: digestOf({}),
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
    for (const index of [0, 1, 2]) {
      const world = place(open, decision("other", ""), decision("third", ""));
      const checked = await world.check("t");
      const record = (await world.log())[index] as DecisionRecord;
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

  it("is not linked to a policy that was evaluated by its id, which is one of several or about another tool", async () => {
    const world = place(open, decision("z", refusing));
    const record = await world.evaluated("open", { tool: "t", params: { ok: false } });
    expect(record).toMatchObject({ allowed: true, tool: "t" });
    expect(await world.result("t")).toMatchObject({ linked: false });
    expect(await world.result("t", { params: { ok: false } })).toMatchObject({ linked: false });
    expect(await world.result("t", { decision: record })).toMatchObject({
      linked: false,
      warnings: [
        `record \`${record.record_id}\` is not that of a check, or was recorded by an earlier version; ` +
          "the result is recorded, but does not count",
      ],
    });
    expect(await world.count(successCounter("s", "t"))).toBe(0);
  });

  it("is linked to the next older open call where the newest has its result", async () => {
    const world = place(open);
    const calls = [
      await world.check("t"),
      await world.check("t", { n: 1 }),
      await world.check("t", { n: 2 }),
    ];
    await world.check("u");
    const linked = [
      await world.result("t", { params: { n: 1 } }),
      await world.result("t"),
      await world.result("t"),
    ];
    const order = [calls[1], calls[2], calls[0]];
    expect(linked.map(({ decision_records }) => decision_records)).toEqual(
      order.map((each) => (each === undefined ? [] : idsOf(each))),
    );
    expect(await world.result("t")).toMatchObject({ linked: false });
  });

  it("links one call once, whether the call is named or not", async () => {
    const world = place(open);
    const checked = await world.check("t");
    const record = await world.recordOf(checked);
    await world.result("t", { ok: false });
    for (const more of [{}, { params: {} }, { decision: record }, { decision: record, params: {} }])
      expect(await world.result("t", more)).toMatchObject({ linked: false, decision_records: [] });
    expect((await world.result("t", { decision: record })).warnings).toEqual([
      `record \`${record.record_id}\` is about a call that has a result already; ` +
        "the result is recorded, but does not count",
    ]);
    expect(await world.count(successCounter("s", "t"))).toBe(0);
  });

  it("links each of two calls once where results are reported at the same time", async () => {
    const world = place(open);
    const calls = [await world.check("t"), await world.check("t")];
    const results = await Promise.all(Array.from({ length: 8 }, () => world.result("t")));
    const linked = results.filter((each) => each.linked).map(({ decision_records }) => decision_records[0]);
    expect(linked.toSorted()).toEqual(calls.flatMap(idsOf).toSorted());
    expect(await world.count(successCounter("s", "t"))).toBe(2);
    expect(await world.log()).toHaveLength(10);
  });

  it("is not linked to a named call with other params", async () => {
    const world = place(open);
    const record = await world.recordOf(await world.check("t", { path: "a" }));
    await world.check("t", { path: "b" });
    const result = await world.result("t", { decision: record, params: { path: "b" } });
    expect(result).toMatchObject({
      linked: false,
      warnings: [
        `record \`${record.record_id}\` is about a call with other params; the result is recorded, but does not count`,
      ],
    });
  });

  it("is linked to no call of another organisation", async () => {
    const world = place(open);
    const checked = await world.check("t", {}, { caller: callerOf("acme") });
    const named = { decision: await world.recordOf(checked) };
    for (const more of [{}, named])
      expect(await world.result("t", { caller: callerOf("other"), ...more })).toMatchObject({
        linked: false,
      });
    expect(await world.result("t", { caller: callerOf("acme") })).toMatchObject({ linked: true });
    await world.check("t");
    expect(await world.result("t", { caller: callerOf("acme") })).toMatchObject({ linked: false });
    expect(await world.result("t")).toMatchObject({ linked: true });
  });

  it("is linked by its params also while another policy is broken", async () => {
    const world = place(open);
    await world.check("t", { path: "a" });
    world.breakPolicies();
    expect(await world.result("t", { params: { path: "b" } })).toMatchObject({ linked: false });
    expect(await world.result("t", { params: { path: "a" } })).toMatchObject({ linked: true });
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
        await world.check("t", { ok: true });
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
    const linkedBefore = await world.count(successCounter("s", "t"));
    const result = await world.result("t");
    expect(result.decision_records).toEqual([]);
    expect(result).not.toHaveProperty("parent_record_id");
    expect(result).not.toHaveProperty("check_id");
    expect(result.linked).toBe(false);
    expect(result.warnings).toEqual([
      "no open call of `t` was allowed in session `s`; the result is recorded, but does not count",
    ]);
    expect(await world.count(successCounter("s", "t"))).toBe(linkedBefore);
    expect((await world.log()).at(-1)).toMatchObject({ kind: "tool_result", linked: false });
  });

  it("does not close the newest call where that of an older one is told", async () => {
    const world = place(open);
    const [first, second] = [await world.check("t"), await world.check("t")];
    await world.result("t", { decision: await world.recordOf(first) });
    expect((await world.result("t")).decision_records).toEqual(idsOf(second));
  });

  it("counts as a success of the session only where it is one", async () => {
    const world = place(open);
    for (const more of [{ ok: false }, {}, { session_id: "other" }]) {
      const { session_id = "s" } = more as { session_id?: string };
      await world.check("t", {}, { session_id });
      await world.result("t", more);
    }
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

  it.each([{}, { params: { path: "./a//b" } }])("is known by the check: %j", async (more) => {
    const world = place(decision("w", looked));
    await world.check("read", { path: "./a//b" });
    await world.result("read", more);
    expect(await readIn(world, "a/b")).toBe(1);
  });

  it("is known by the params of the result where no record has them", async () => {
    const world = place(decision("w", looked, "  logging: { include_inputs: false }\n"));
    await world.check("read", { path: "a" });
    await world.result("read", { params: { path: "a" } });
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

  it("is what the override has changed the path to, also where only the original params are reported", async () => {
    const moved = `{ name: p, conditions: [{ name: c, expression: "params.path != 'a'" }] },
      { name: o, overrides: [p], action: modify_params, params: { path: b } }`;
    for (const logging of ["", "  logging: { include_inputs: false }\n"]) {
      const world = place(decision("m", moved, logging), decision("w", looked));
      await world.check("read", { path: "a" });
      expect(await world.result("read", { params: { path: "a" } })).toMatchObject({ linked: true });
      expect([await readIn(world, "a"), await readIn(world, "b")]).toEqual([0, 1]);
    }
  });

  it("is nothing where the original params are reported and no record has the changed ones", async () => {
    const moved = `{ name: p, conditions: [{ name: c, expression: "params.path != 'a'" }] },
      { name: o, overrides: [p], action: modify_params, params: { path: b } }, ${looked}`;
    const world = place(decision("w", moved, "  logging: { include_inputs: false }\n"));
    await world.check("read", { path: "a" });
    expect(await world.result("read", { params: { path: "a" } })).toMatchObject({ linked: true });
    expect([await readIn(world, "a"), await readIn(world, "b")]).toEqual([0, 0]);
  });

  it("is not what the result says rather than the check", async () => {
    const world = place(decision("w", looked));
    await world.check("read", { path: "a" });
    expect(await world.result("read", { params: { path: "b" } })).toMatchObject({
      linked: false,
      warnings: [
        "no open call of `read` with these params was allowed in session `s`; the result is recorded, but does not count",
      ],
    });
    expect([await readIn(world, "a"), await readIn(world, "b")]).toEqual([0, 0]);
  });

  it("is known to every policy that wants to know", async () => {
    const world = place(decision("v", looked), decision("w", looked));
    await world.check("read", { path: "a" });
    await world.result("read", { params: { path: "a" } });
    expect([await readIn(world, "a", "v"), await readIn(world, "a", "w")]).toEqual([1, 1]);
  });

  it.each<[string, string, JsonObject, Partial<ToolResultRequest>?]>([
    ["the call failed", "read", { path: "a" }, { ok: false }],
    ["another tool was called", "list", { path: "a" }],
    ["there is no path", "read", { file: "a" }],
    ["the path is no text", "read", { path: ["a"] }],
  ])("is nothing where %s", async (_why, tool, params, more = {}) => {
    const world = place(decision("w", looked));
    await world.check(tool, params);
    expect(await world.result(tool, { params, ...more })).toMatchObject({ linked: true });
    const record = (await world.log()).at(-1);
    expect(JSON.stringify((record as ToolResultRecord).counted ?? [])).not.toContain("looked");
  });

  it("is nothing where the path is masked", async () => {
    const world = place(decision("w", looked, "  logging: { mask: [/params/path] }\n"));
    await world.check("read", { path: "secret.txt" });
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
    await world.result("read", { params: { path: "b.txt" } });
    expect([await readIn(world, "[masked]"), await readIn(world, "b.txt")]).toEqual([0, 0]);
    expect(await world.check("write", { path: "[masked]" })).toMatchObject({ allowed: false });
  });
});

describe("evidence of an earlier version", () => {
  it("does not count, whether or not a check allowed the call", async () => {
    const requires = "{ name: p, requires: [read] }";
    const world = place(decision("w", `${looked}, ${requires}`).replace('"*"', "write"));
    const counts = [
      JSON.stringify(["succeeded", "s", "read"]),
      JSON.stringify(["read", "w", "looked", "s", "a"]),
      JSON.stringify(["called", "s", "read"]),
    ];
    await world.append({
      body: '"kind":"tool_result","record_id":"old","timestamp":"","tool":"read","ok":true,"decision_records":[]',
      counts,
    });
    expect(await world.check("write", { path: "a" })).toMatchObject({ allowed: false });
    expect(await world.result("read")).toMatchObject({ linked: false });
    await world.check("read", { path: "a" });
    expect(await world.result("read")).toMatchObject({ linked: true });
    expect(await world.check("write", { path: "a" })).toMatchObject({ allowed: true });
  });
});

describe("the digest of the params", () => {
  const masking = decision("m", "", "  logging: { mask: [/params/token] }\n");

  it.each<[string, readonly string[], JsonObject, Partial<ToolResultRequest>, JsonObject]>([
    ["as the check returned them", [open], { n: 1 }, {}, { n: 1 }],
    ["as reported", [open], { n: 1 }, { params: { n: 1 } }, { n: 1 }],
    ["without masked values", [masking, open], { token: "x" }, {}, { token: "[masked]" }],
    [
      "without masked values, as reported",
      [masking, open],
      { token: "x" },
      { params: { token: "x" } },
      { token: "[masked]" },
    ],
    [
      "as an override changed them",
      [
        decision(
          "o",
          `${refusing}, { name: o, overrides: [p], action: modify_params, params: { n: 2 }, when: "true" }`,
        ),
      ],
      { ok: false },
      {},
      { n: 2, ok: false },
    ],
    [
      "as the lineage of the check has it, if the record has no params",
      [decision("a", "", "  logging: { include_inputs: false }\n")],
      { n: 1 },
      {},
      { n: 1 },
    ],
  ])("is that of the params %s", async (_name, files, params, reported, expected) => {
    const world = place(...files);
    await world.check("t", params);
    expect(await world.result("t", reported)).toMatchObject({
      linked: true,
      params_digest: digestOf(expected),
    });
  });

  it("is absent where the params are not known", async () => {
    const world = place(open);
    expect(await world.result("t")).not.toHaveProperty("params_digest");
    const reported = await world.result("t", { params: { n: 1 } });
    expect(reported).toMatchObject({ linked: false, params_digest: digestOf({ n: 1 }) });
    world.breakPolicies();
    expect(await world.result("t", { params: { n: 1 } })).not.toHaveProperty("params_digest");
  });
});

describe("the value that a call returned", () => {
  it.each<[string, unknown]>([
    ["an object", { lines: [1, 2], 'quo"te': null }],
    ["a text", 'with "session_id":"other" in it'],
    ["null", null],
    ["false", false],
  ])("is recorded, linked or not: %s", async (_name, value) => {
    const world = place(open);
    expect(await world.result("t", { value })).toMatchObject({ linked: false, value });
    await world.check("t");
    expect(await world.result("t", { value })).toMatchObject({ linked: true, value });
    expect((await world.log()).filter((each) => "value" in each)).toMatchObject([{ value }, { value }]);
  });

  it.each<[string, string, JsonObject, unknown, unknown]>([
    ["by its own pointer", "[/value/token]", {}, { token: "x", n: 1 }, { token: "[masked]", n: 1 }],
    ["at the place of a masked param", "[/params/token]", {}, { token: "y" }, { token: "[masked]" }],
    ["where it contains a masked param", "[/params/token]", { token: "abc" }, ["is abc", 7], ["[masked]", 7]],
    ["where a key contains a masked param", "[/params/token]", { token: "abc" }, { abc: 1 }, "[masked]"],
    ["as a whole", '[""]', {}, { n: 1 }, "[masked]"],
    [
      "in every list item",
      "['/value/*/key']",
      {},
      [{ key: 1 }, { key: 2 }],
      [{ key: "[masked]" }, { key: "[masked]" }],
    ],
  ])("is masked %s", async (_name, mask, params, value, expected) => {
    const world = place(decision("m", "", `  logging: { mask: ${mask} }\n`), open);
    await world.check("t", params);
    expect(await world.result("t", { params, value })).toMatchObject({ linked: true, value: expected });
    expect((await world.log()).at(-1)).toMatchObject({ value: expected });
  });

  it("is masked by the masks of the directory", async () => {
    const world = place("masks: [/params/token]", open);
    await world.check("t", { token: "abc" });
    expect(await world.result("t", { params: { token: "abc" }, value: "abc" })).toMatchObject({
      value: "[masked]",
    });
  });

  it("is left out, with a warning, where a policy records no inputs", async () => {
    const world = place(open, decision("q", "", "  logging: { include_inputs: false }\n"));
    await world.check("t");
    const result = await world.result("t", { value: "secret" });
    expect(result).not.toHaveProperty("value");
    expect(result).toMatchObject({
      linked: true,
      warnings: ["the value is not recorded, because `q` has `include_inputs: false`"],
    });
  });

  it("is left out, with a warning, while a policy is invalid", async () => {
    const world = place(open);
    await world.check("t");
    world.breakPolicies();
    const result = await world.result("t", { value: "secret" });
    expect(result).not.toHaveProperty("value");
    expect(result.warnings).toEqual(["the value is not recorded, because an invalid policy may mask it"]);
  });

  it.each<[string, unknown, string]>([
    ["is too large", "x".repeat(65_535), "the value is too large: 65537 bytes as JSON, at most 65536"],
    [
      "is too large in bytes",
      "ü".repeat(40_000),
      "the value is too large: 80002 bytes as JSON, at most 65536",
    ],
    ["is no JSON", () => 1, "the value cannot be used: a value of type `function` is not JSON"],
  ])("is refused, and nothing recorded, if it %s", async (_name, value, message) => {
    const world = place(open);
    expect(await messageOf(world.result("t", { value }))).toBe(message);
    expect(await world.log()).toEqual([]);
    expect(await world.result("t", { value: "x".repeat(65_534) })).toHaveProperty("value");
  });
});

describe("the result of a call without a session", () => {
  const noSession = { session_id: undefined };

  it("is linked by the record of the check, once, and counts for no session", async () => {
    const world = place(open, decision("other", ""));
    const checked = await world.check("t", { n: 1 }, noSession);
    const record = await world.recordOf(checked);
    const asked = { ...noSession, decision: record, params: { n: 1 } };
    const result = await world.result("t", asked);
    expect(result).toMatchObject({ linked: true, decision_records: idsOf(checked) });
    expect(result).not.toHaveProperty("session_id");
    expect((await world.result("t", asked)).warnings[0]).toMatch("has a result already");
    expect((await world.log())[2]).toMatchObject({
      counted: [JSON.stringify(["reported", record.check_id])],
    });
  });

  it("is not linked if it has other params", async () => {
    const world = place(open);
    const decision = await world.recordOf(await world.check("t", { n: 1 }, noSession));
    const result = await world.result("t", { ...noSession, decision, params: { n: 2 } });
    expect(result.warnings[0]).toMatch("is about a call with other params");
  });

  it.each<{ name: string; checkedBy?: string; reportedBy?: string; linked: boolean }>([
    { name: "an organisation reports a call without one", reportedBy: "acme", linked: false },
    {
      name: "an organisation reports a call of another",
      checkedBy: "globex",
      reportedBy: "acme",
      linked: false,
    },
    { name: "an organisation reports its own call", checkedBy: "acme", reportedBy: "acme", linked: true },
    { name: "a caller without one reports a call of any", checkedBy: "acme", linked: true },
  ])("is linked within one organisation only: $name", async ({ checkedBy, reportedBy, linked }) => {
    const world = place(open);
    const by = (org_id: string | undefined): Pick<ToolResultRequest, "caller"> =>
      org_id === undefined ? {} : { caller: callerOf(org_id) };
    const decision = await world.recordOf(await world.check("t", {}, { ...noSession, ...by(checkedBy) }));
    const result = await world.result("t", { ...noSession, decision, ...by(reportedBy) });
    expect(result).toMatchObject({ linked });
    if (linked) return;
    expect(result.warnings[0]).toMatch("belongs to a caller outside of the organisation");
    // The one result of the call is still to be reported.
    expect(await world.result("t", { ...noSession, decision, ...by(checkedBy) })).toMatchObject({
      linked: true,
    });
  });

  it("is not linked to a policy that was evaluated by its id", async () => {
    const world = place(open);
    const decision = { ...(await world.evaluated("open")) } as { session_id?: string };
    delete decision.session_id;
    const result = await world.result("t", {
      ...noSession,
      decision: { ...decision, tool: "t" } as unknown as DecisionRecord,
    });
    expect(result).toMatchObject({ linked: false });
  });

  it("needs the record of the check", async () => {
    const world = place(open);
    await world.check("t", {}, noSession);
    expect(await messageOf(world.result("t", noSession))).toMatch("must be non-empty strings");
  });

  it("is one of the session, if the check has one", async () => {
    const world = place(open);
    const decision = await world.recordOf(await world.check("t"));
    expect(await world.result("t", { ...noSession, decision })).toMatchObject({
      linked: true,
      session_id: "s",
    });
    expect(await world.count(successCounter("s", "t"))).toBe(1);
  });

  it("cannot be reported for a session", async () => {
    const world = place(open);
    const decision = await world.recordOf(await world.check("t", {}, noSession));
    expect(await messageOf(world.result("t", { decision }))).toMatch("belongs to another session");
  });
});
