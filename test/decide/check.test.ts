import { describe, expect, it } from "vitest";
import type { CheckRequest, CheckResult, CheckWorld, UnknownTools } from "../../src/decide/check.js";
import { check } from "../../src/decide/check.js";
import type { ToolResult, ToolResultRequest } from "../../src/decide/tool-result.js";
import { recordToolResult } from "../../src/decide/tool-result.js";
import { buildLibrary } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import type { JsonObject } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { PolicyResult } from "../../src/model/result.js";
import type { Store } from "../../src/model/store.js";
import { allowedCallCounter, overrideUseCounter } from "../../src/record/counters.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import { newRecordId } from "../../src/record/record-id.js";
import { Records } from "../../src/record/records.js";
import { replayRecord } from "../../src/replay/replay-record.js";
import { ReplayableDefinitions } from "../../src/replay/replayable-definitions.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { deciding } from "./deciding.js";

const noon = "2026-03-02T12:00:00.000000Z";
const hour = 3_600_000_000;
const later = (microseconds: number): string => formatTimestamp(microsecondsOf(noon) + microseconds);

type Asked = Partial<CheckRequest>;

interface Place {
  now: string;
  readonly store: Store;
  check(params?: JsonObject, asked?: Asked): Promise<CheckResult>;
  sessionless(params?: JsonObject): Promise<CheckResult>;
  result(tool: string, more?: Partial<ToolResultRequest>): Promise<ToolResult>;
  log(): Promise<readonly (DecisionRecord & PolicyResult)[]>;
  /** How often the override of a decision was applied. */
  uses(decision: string, policy: string): Promise<number>;
}

/** A world with these files in it; each is a policy for `write_file` unless it is a whole document. */
function place(
  files: readonly (string | Uint8Array)[],
  store = openMemoryStore(),
  unknownTools?: UnknownTools,
): Place {
  const read = files.map((file, index) => readDefinitions(`${index}.yaml`, Buffer.from(file)));
  const definitions = buildLibrary(
    read.map(({ summary }) => summary),
    (file, position) => {
      const found = read[Number.parseInt(file, 10)]?.body.definitions[position];
      return found === undefined ? Promise.reject(new Error(file)) : Promise.resolve(found);
    },
  );
  const newNote = (): { record_id: string; timestamp: string } => ({ record_id: "note", timestamp: noon });
  const onWarning = (message: string): never => {
    throw new Error(message);
  };
  const world: CheckWorld = {
    definitions,
    clock: () => here.now,
    newId: (timestamp) => newRecordId(microsecondsOf(timestamp), Math.random),
    records: new Records(store, { newNote, onWarning }),
    unknownTools,
  };
  const here: Place = {
    now: noon,
    store,
    check: (params = {}, asked = {}) =>
      check({ tool: "write_file", session_id: "s", ...asked, params: asked.params ?? params }, world),
    sessionless: (params = {}) => check({ tool: "write_file", params }, world),
    result: (tool, more = {}) => recordToolResult({ tool, session_id: "s", ok: true, ...more }, world),
    async log() {
      const records: (DecisionRecord & PolicyResult)[] = [];
      for await (const { record } of store.log.select({ kind: "decision" }))
        records.push(record as DecisionRecord & PolicyResult);
      return records;
    },
    uses: async (decision, policy) =>
      (await store.log.counter(overrideUseCounter({ decision, policy }))).count,
  };
  return here;
}

/** A decision on `write_file` with these policies, each a YAML map in one line. */
function decision(id: string, policies: readonly string[], more = ""): string {
  const listed = policies.map((each) => `\n    - ${each}`).join("");
  return `decision:\n  id: ${id}\n  type: policy\n  tool: write_file\n${more}  policies:${listed || " []"}\n`;
}

const denies = (name: string, reason = `denied by ${name}`): string =>
  `{ name: ${name}, conditions: [{ name: never, expression: "false" }], deny_reason: "${reason}" }`;

const allows = (name: string): string =>
  `{ name: ${name}, conditions: [{ name: always, expression: "true" }], reason: "allowed by ${name}" }`;

const flips = (name: string, policy: string, more = ""): string =>
  `{ name: ${name}, overrides: [${policy}], reason: "flipped by ${name}"${more && `, ${more}`} }`;

const sets = (name: string, policy: string, params: string, more = ""): string =>
  flips(name, policy, `action: modify_params, params: ${params}${more && `, ${more}`}`);

/** Checks a call and reports its result. */
async function called(
  world: Place,
  tool: string,
  more: Partial<ToolResultRequest> = {},
): Promise<ToolResult> {
  const { params = {}, session_id = "s" } = more;
  await world.check({}, { tool, params, session_id });
  return world.result(tool, more);
}

const codeOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => "none",
    (error: unknown) => (error as { code?: string }).code ?? error,
  );

describe("several decisions on one tool", () => {
  it("must all allow the call", async () => {
    const both = await place([decision("a", [allows("p")]), decision("b", [allows("q")])]).check();
    expect(both).toMatchObject({ allowed: true, outcome: "allowed", reason: "allowed by p" });
    const one = await place([decision("a", [allows("p")]), decision("b", [denies("q")])]).check();
    expect(one).toMatchObject({ allowed: false, outcome: "denied", reason: "denied by q" });
    expect(one.decisions.map(({ decision_id, outcome }) => [decision_id, outcome])).toEqual([
      ["a", "allowed"],
      ["b", "denied"],
    ]);
  });

  it("are asked by id, and the first denial gives the reason", async () => {
    const world = place([decision("z", [denies("last")]), decision("m", [denies("first")])]);
    const result = await world.check();
    expect(result.reason).toBe("denied by first");
    expect(result.decisions.map(({ decision_id }) => decision_id)).toEqual(["m", "z"]);
  });

  it("are allowed by exception where any of them is", async () => {
    const world = place([decision("a", [allows("p")]), decision("b", [denies("q"), flips("o", "q")])]);
    expect(await world.check()).toMatchObject({ outcome: "allowed_by_exception", reason: "flipped by o" });
  });

  it("have records that stand together under one id of the check", async () => {
    const world = place([decision("a", [allows("p")]), decision("b", [denies("q")])]);
    const [first, second] = [await world.check(), await world.check()];
    const log = await world.log();
    expect(log.map(({ decision_id }) => decision_id)).toEqual(["a", "b", "a", "b"]);
    const ids = log.map(({ check_id }) => check_id);
    expect([ids[0] === ids[1], ids[2] === ids[3], ids[0] === ids[2]]).toEqual([true, true, false]);
    expect(log.map(({ record_id }) => record_id)).toEqual(
      [first, second].flatMap(({ decisions }) => decisions.map(({ record_id }) => record_id)),
    );
    expect(new Set(log.map(({ timestamp }) => timestamp))).toEqual(new Set([noon]));
  });

  it("pass on the warnings of each", async () => {
    const warned = (name: string): readonly string[] => [
      denies("p"),
      flips(name, "p", "action: allow_with_warning"),
    ];
    const { warnings } = await place([decision("a", warned("o")), decision("b", warned("n"))]).check();
    expect(warnings).toEqual(["`o`: flipped by o", "`n`: flipped by n"]);
  });
});

describe("the params of a call", () => {
  const modifying = (id: string, params: string, more = ""): string =>
    decision(id, [denies("p"), sets(`o_${id}`, "p", params)], more);

  it("are changed by every decision that changes them", async () => {
    const world = place([modifying("a", "{ x: 1 }"), modifying("b", "{ y: 2 }")]);
    expect((await world.check({ z: 3 })).params).toEqual({ x: 1, y: 2, z: 3 });
  });

  it("stay changed where a later decision leaves them as they were asked about", async () => {
    const world = place([modifying("a", "{ path: /safe }"), decision("b", [allows("q")])]);
    expect((await world.check({ path: "/etc" })).params).toEqual({ path: "/safe" });
  });

  it("stay changed where the decision that changes them is asked last", async () => {
    const world = place([decision("a", [allows("q")]), modifying("b", "{ path: /safe }")]);
    expect((await world.check({ path: "/etc" })).params).toEqual({ path: "/safe" });
  });

  it("may be set alike by two decisions, objects too", async () => {
    const set = "{ options: { deep: [1] }, n: 1 }";
    const world = place([modifying("a", set), modifying("b", set)]);
    const result = await world.check({ options: { deep: [2] } });
    expect(result).toMatchObject({ allowed: true, params: { options: { deep: [1] }, n: 1 } });
  });

  it("may be set by one decision although they are an object that the other leaves alone", async () => {
    const world = place([decision("a", [allows("q")]), modifying("b", "{ filter: { tier: gold } }")]);
    const result = await world.check({ filter: { tier: "all" } });
    expect(result).toMatchObject({ allowed: true, params: { filter: { tier: "gold" } } });
  });

  it.each([
    { name: "two new values", a: "{ limit: 1 }", b: "{ limit: 2 }", params: {} },
    { name: "the first to what it was", a: "{ limit: 1 }", b: "{ limit: 2 }", params: { limit: 1 } },
    { name: "the second to what it was", a: "{ limit: 1 }", b: "{ limit: 2 }", params: { limit: 2 } },
    { name: "one to null", a: "{ limit: null }", b: "{ limit: 2 }", params: {} },
  ])("cannot be set differently by two decisions: $name", async ({ a, b, params }) => {
    const world = place([modifying("a", a), modifying("b", b)]);
    const reason = "another decision and `o_b` set `limit` differently";
    expect(await world.check(params)).toMatchObject({ allowed: false, outcome: "denied", reason, params });
    const [first, second] = await world.log();
    expect(first).toMatchObject({ decision_id: "a", outcome: "allowed_by_exception" });
    expect(second).toMatchObject({ decision_id: "b", outcome: "denied", reason, because: [reason] });
    expect([await world.uses("a", "o_a"), await world.uses("b", "o_b")]).toEqual([0, 0]);
  });

  it("are not in conflict with what every object inherits", async () => {
    const world = place([modifying("a", "{ x: 1 }"), modifying("b", "{ toString: 2, valueOf: 3 }")]);
    expect(await world.check()).toMatchObject({ allowed: true, params: { x: 1, toString: 2, valueOf: 3 } });
  });

  const cap = (name: string, expression: string): string =>
    `{ name: ${name}, conditions: [{ name: c, expression: "${expression}" }], deny_reason: "{{ params.n }} is too high" }`;

  it("must pass the policies of every decision after they were changed, also of an earlier one", async () => {
    for (const ids of ["ab", "ba"]) {
      const [first = "", second = ""] = ids;
      const world = place([decision(first, [cap("cap", "params.n <= 5")]), modifying(second, "{ n: 9 }")]);
      const reason = `the params set by \`o_${second}\` of \`${second}\` do not pass \`cap\`: 9 is too high`;
      expect(await world.check({ n: 1 })).toMatchObject({ allowed: false, reason, params: { n: 1 } });
      const record = (await world.log()).find(({ decision_id }) => decision_id === first);
      expect(record).toMatchObject({ outcome: "denied", reason });
      expect(await world.log()).toHaveLength(2);
      expect(await world.uses(second, `o_${second}`)).toBe(0);
    }
  });

  it("are checked as all decisions together have changed them", async () => {
    const together = cap("together", "not exists(params.x) or exists(params.y)");
    const world = place([modifying("a", "{ x: 1 }"), decision("b", [together]), modifying("c", "{ y: 2 }")]);
    expect(await world.check({})).toMatchObject({ allowed: true, params: { x: 1, y: 2 } });
    const both = place([modifying("a", "{ x: 1 }"), decision("b", [together])]);
    expect(await both.check({})).toMatchObject({ allowed: false });
  });

  it("must pass a policy that another override flipped for the original ones only", async () => {
    const inside = `{ name: inside, conditions: [{ name: c, expression: "path_within(params.path, '/repo')" }] }`;
    const scratch = flips("scratch", "inside", `when: "path_within(params.path, '/tmp')"`);
    const move = sets("move", "p", '{ path: "{{ params.to }}" }');
    for (const files of [
      [decision("a", [denies("p"), inside, move, scratch])],
      [decision("a", [denies("p"), move]), decision("b", [inside, scratch])],
    ]) {
      const world = place(files);
      expect(await world.check({ path: "/tmp/a", to: "/tmp/b" })).toMatchObject({ allowed: true });
      expect(await world.check({ path: "/tmp/a", to: "/etc/passwd" })).toMatchObject({ allowed: false });
      for (const { facts } of await world.log())
        expect(facts).toMatchObject({ recheck: { overridden: true } });
    }
  });

  it("must name a path that was read, where an override changes the path", async () => {
    const looked =
      "{ name: looked, read_before_write: { read_tools: [read_file], write_tools: [write_file], path: params.path } }";
    const world = place([decision("a", [denies("p"), looked, sets("move", "p", "{ path: b }")])]);
    const read = (path: string): Promise<ToolResult> => called(world, "read_file", { params: { path } });
    await read("a");
    expect(await world.check({ path: "a" })).toMatchObject({
      allowed: false,
      reason: "the params set by `move` do not pass `looked`: `b` must be read with `read_file` first",
    });
    await read("b");
    expect(await world.check({ path: "a" })).toMatchObject({ allowed: true, params: { path: "b" } });
  });

  it("are checked again with the override that is left where the first was used up in between", async () => {
    const policies = [
      denies("p"),
      sets("o", "p", "{ n: 1 }", "max_applications: 1, priority: 2"),
      sets("n", "p", "{ n: 9 }", "priority: 1"),
      cap("cap", "params.n <= 5"),
    ];
    const world = place([decision("a", policies)]);
    const all = await Promise.all([world.check({ n: 0 }), world.check({ n: 0 })]);
    expect(all.map(({ allowed }) => allowed).toSorted()).toEqual([false, true]);
  });

  it("are checked again in a dry run, which keeps nothing", async () => {
    const world = place([
      decision("a", [denies("p"), cap("cap", "params.n <= 5"), sets("o", "p", "{ n: 9 }")]),
    ]);
    expect(await world.check({ n: 1 }, { dry_run: true })).toMatchObject({ allowed: false });
    expect(await world.log()).toEqual([]);
  });

  it("are those that were asked about where the call is denied", async () => {
    const world = place([modifying("a", "{ path: /safe }"), decision("b", [denies("q")])]);
    expect((await world.check({ path: "/etc" })).params).toEqual({ path: "/etc" });
  });

  it.each([
    ["null", null],
    ["a list", [1]],
    ["text", "x"],
  ])("must be an object, not %s", async (_kind, params) => {
    expect(await codeOf(place([]).check({}, { params: params ?? "null" }))).toBe("input_invalid");
    expect(await codeOf(place([]).check(params as unknown as JsonObject))).toBe("input_invalid");
  });

  it.each(["tool", "params", "context"])("cannot be passed off as those of the context: %s", async (key) => {
    expect(await codeOf(place([]).check({}, { context: { [key]: {} } }))).toBe("input_invalid");
  });
});

describe("a call that no policy is about", () => {
  it("is allowed, and the record says that nothing was asked", async () => {
    const world = place([decision("a", [denies("p")])]);
    const result = await world.check({ x: 1 }, { tool: "read_file" });
    expect(result).toMatchObject({ allowed: true, outcome: "allowed", reason: "No policy constraints" });
    expect(await world.log()).toMatchObject([{ decision_id: "none", tool: "read_file", params: { x: 1 } }]);
  });

  it("is denied with `unknown_tools: deny`, and the record replays", async () => {
    const store = openMemoryStore();
    const world = place([decision("a", [allows("p")])], store, "deny");
    const reason = "No policy matches the tool read_file";
    expect(await world.check({ x: 1 }, { tool: "read_file" })).toMatchObject({ allowed: false, reason });
    expect(await world.check()).toMatchObject({ allowed: true });
    const line = await store.log.find({ seq: 1 });
    if (!("record" in line) || line.record.kind !== "decision") throw new Error("there is no record");
    const { record } = line;
    expect(record).toMatchObject({ decision_id: "none", tool: "read_file", allowed: false, reason });
    const replayed = replayRecord({ ...line, record }, await new ReplayableDefinitions(store).get(record));
    expect(replayed).toEqual({ status: "matched" });
  });

  it.each([undefined, "allow", "deny"] as const)(
    "has a decision without policies, which is made too (unknown_tools: %s)",
    async (setting) => {
      const files = [decision("a", [allows("p")]), decision("b", []).replace("write_file", "rm")];
      const world = place(files, openMemoryStore(), setting);
      const allowed = setting !== "deny";
      expect(await world.check({}, { tool: "rm" })).toMatchObject({ allowed });
      const made = allowed ? ["b"] : ["b", "none"];
      expect((await world.log()).map((each) => each.decision_id)).toEqual(made);
    },
  );

  it.each([undefined, "deny"] as const)(
    "is refused without any policy (unknown_tools: %s)",
    async (setting) => {
      const route =
        "decision: { id: r, type: switch, cases: [{ condition: 'true', target: t }], default: { target: z } }";
      const world = place([route], openMemoryStore(), setting);
      expect(await codeOf(world.check())).toBe("definition_invalid");
      expect(await world.log()).toEqual([]);
    },
  );
});

describe("a policy that may be broken", () => {
  const sound = decision("a", [allows("p")]);

  it.each([
    { name: "one that does not compile", files: [decision("b", [denies("q").replace("false", "1 +")])] },
    { name: "one that is no YAML", files: ["decision: { type: policy"] },
    { name: "one with an unknown key", files: [decision("b", ["{ name: q, condtions: [] }"])] },
    { name: "one that is cut off before it says what it is", files: ["decision:\n  id: files\n  type: "] },
    { name: "a file that declares nothing that is known", files: ["decisionn: { id: b }"] },
    {
      name: "one with an entity of the name of another type",
      files: [
        "decision:\n  id: b\n  type: policy\n  tool: t\n  entities: [{ type: switch, id: s }]\n  polices: []\n",
      ],
    },
    {
      name: "one that is no YAML, with the name of another type in a comment",
      files: ["decision:\n  id: b\n  type: policy # files of type: binary are refused\n  tool: [t\n"],
    },
    { name: "an empty file", files: [""] },
    { name: "a file of white space", files: [" \n\t\n"] },
    { name: "a file of comments", files: ["# decision:\n#   id: b\n---\n# nothing\n"] },
    { name: "a file of braces", files: ["{}"] },
    { name: "a file with an empty document", files: [`${decision("b", [allows("p")])}\n---\n{}\n`] },
    {
      name: "one of another type",
      files: [decision("b", [denies("p")]).replace("type: policy", "type: switch")],
    },
    {
      name: "one of another type that has a tool only",
      files: ["decision: { id: b, type: binary, tool: write_file }"],
    },
    {
      name: "one of another type that is no YAML",
      files: ["decision:\n  id: b\n  type: gate\n  policies: [\n"],
    },
    { name: "a file of bytes that are no text", files: [Uint8Array.of(0xff, 0xfe, 0x00, 0xc0)] },
    { name: "two with one id", files: [decision("b", [allows("p")]), decision("b", [denies("p")])] },
    {
      name: "an id that a routing decision has too",
      files: [
        decision("b", [allows("p")]),
        "decision: { id: b, type: switch, cases: [{ condition: 'true', target: t }], default: { target: z } }",
      ],
    },
  ])("refuses every check, also of other tools: $name", async ({ files }) => {
    const world = place([sound, ...files]);
    expect(await codeOf(world.check())).toBe("definition_invalid");
    expect(await codeOf(world.check({}, { tool: "read_file" }))).toBe("definition_invalid");
    expect(await world.log()).toEqual([]);
  });

  it.each([
    ["that does not compile", "decision: { id: r, type: switch, cases: [{ condition: '1 +', target: t }] }"],
    ["of two with one id", "decision: { id: r, type: switch }\n---\ndecision: { id: r, type: swich }"],
  ])("is not meant by a routing decision %s", async (_what, file) => {
    expect(await place([sound, file]).check()).toMatchObject({ allowed: true });
  });
});

describe("a dry run", () => {
  it("keeps and counts nothing, but knows what was counted", async () => {
    const world = place([
      decision("a", [
        "{ name: few, max_calls: { count: 1, per: session } }",
        denies("p"),
        flips("o", "p", "max_applications: 5"),
      ]),
    ]);
    for (let times = 0; times < 3; times++) {
      const result = await world.check({}, { dry_run: true });
      expect(result).toMatchObject({ allowed: true, decisions: [{ dry_run: true }] });
      expect(result.decisions[0]).not.toHaveProperty("record_id");
    }
    expect([await world.log(), await world.uses("a", "o")]).toEqual([[], 0]);
    await world.check();
    expect(await world.check({}, { dry_run: true })).toMatchObject({
      allowed: false,
      reason: "1 of 1 calls were made in the session",
    });
    expect((await world.store.log.state()).size).toBe(1);
  });
});

describe("requires", () => {
  const files = [decision("a", ["{ name: metric_first, requires: [select_metric] }"])];
  const denial = "`select_metric` must succeed in the session first";

  it("wants the tool to have succeeded in the session", async () => {
    const world = place(files);
    expect(await world.check()).toMatchObject({ allowed: false, reason: denial });
    await called(world, "select_metric", { ok: false });
    expect(await world.check()).toMatchObject({ allowed: false, reason: denial });
    await world.result("select_metric");
    expect(await world.check()).toMatchObject({ allowed: false, reason: denial });
    await called(world, "select_metric");
    expect(await world.check()).toMatchObject({ allowed: true });
  });

  it("knows nothing of other sessions", async () => {
    const world = place(files);
    await called(world, "select_metric", { session_id: "other" });
    expect(await world.check()).toMatchObject({ allowed: false, reason: denial });
    expect(await world.check({}, { session_id: "other" })).toMatchObject({ allowed: true });
  });
});

describe("read_before_write", () => {
  const policy =
    "{ name: looked, read_before_write: { read_tools: [read_*], write_tools: [write_file], path: params.path } }";
  const files = [decision("a", [policy])];
  const read = (world: Place, path: string): Promise<ToolResult> =>
    called(world, "read_file", { params: { path } });

  it("wants the very path to have been read, however it is written", async () => {
    const world = place(files);
    const denial = { allowed: false, reason: "`notes/a.txt` must be read with `read_*` first" };
    expect(await world.check({ path: "notes/a.txt" })).toMatchObject(denial);
    await read(world, "notes/b.txt");
    expect(await world.check({ path: "notes/a.txt" })).toMatchObject(denial);
    await read(world, "./notes//x/../a.txt");
    expect(await world.check({ path: "notes/./a.txt" })).toMatchObject({ allowed: true });
  });

  it("does not take a path below `~` for one in the current directory", async () => {
    const world = place(files);
    await read(world, "repo/x");
    expect(await world.check({ path: "~/../repo/x" })).toMatchObject({ allowed: false });
    expect(await world.check({ path: "~root/../repo/x" })).toMatchObject({ allowed: false });
    await read(world, "~/x");
    expect(await world.check({ path: "~/a/../x" })).toMatchObject({ allowed: true });
  });

  it("takes the path from the check where the result does not name it", async () => {
    const world = place(files);
    await world.check({ path: "a.txt" }, { tool: "read_file" });
    await world.result("read_file");
    expect(await world.check({ path: "a.txt" })).toMatchObject({ allowed: true });
  });

  it("does not take a failed read for a read, nor that of another session", async () => {
    const world = place(files);
    await called(world, "read_file", { params: { path: "a" }, ok: false });
    await called(world, "read_file", { params: { path: "a" }, session_id: "other" });
    await called(world, "list_files", { params: { path: "a" } });
    await world.result("read_file", { params: { path: "a" } });
    expect(await world.check({ path: "a" })).toMatchObject({ allowed: false });
  });

  it.each([
    ["is missing", {}],
    ["is no text", { path: 7 }],
    ["is empty", { path: "" }],
    ["is a URL", { path: "https://evil/../api/x" }],
    ["has backslashes", { path: "repo/a\\..\\b/../x" }],
  ])("denies where the path %s", async (_claim, params) => {
    expect(await place(files).check(params)).toMatchObject({
      allowed: false,
      reason: "`params.path` is not a path",
    });
  });

  it("denies where the path is masked, as it could not be remembered", async () => {
    const masking = decision("a", [policy], "  logging: { mask: [/params/path] }\n");
    const world = place([masking.replace("tool: write_file", "tool: [read_file, write_file]")]);
    await read(world, "a.txt");
    const result = await world.check({ path: "a.txt" });
    expect(result).toMatchObject({ allowed: false });
    expect(result.reason).toBe("`params.path` is masked and cannot be recorded");
    expect(JSON.stringify(await world.log())).not.toContain("a.txt");
  });

  it("asks nothing of tools that do not write", async () => {
    const any = files[0]?.replace("tool: write_file", 'tool: "*"') ?? "";
    expect(await place([any]).check({}, { tool: "list_files" })).toMatchObject({ allowed: true });
  });
});

describe("max_calls", () => {
  const most = (per: string): readonly string[] => [
    decision("a", [`{ name: few, max_calls: { count: 2, per: "${per}" } }`]),
  ];

  it("lets so many calls of a session pass, and counts each session for itself", async () => {
    const world = place(most("session"));
    const allowed: boolean[] = [];
    for (let times = 0; times < 4; times++) allowed.push((await world.check()).allowed);
    expect(allowed).toEqual([true, true, false, false]);
    expect(await world.check()).toMatchObject({ reason: "2 of 2 calls were made in the session" });
    expect(await world.check({}, { session_id: "other" })).toMatchObject({ allowed: true });
    world.now = later(1000 * hour);
    expect(await world.check()).toMatchObject({ allowed: false });
  });

  it("slides its window to the microsecond", async () => {
    const world = place(most("1h"));
    const at = async (time: number): Promise<boolean> => {
      world.now = later(time);
      return (await world.check()).allowed;
    };
    expect(await at(0)).toBe(true);
    expect(await at(10)).toBe(true);
    expect(await at(hour - 1)).toBe(false);
    expect(await at(hour)).toBe(true);
    expect(await at(hour + 9)).toBe(false);
    expect(await at(hour + 10)).toBe(true);
    expect(await at(2 * hour - 1)).toBe(false);
    expect(await at(2 * hour)).toBe(true);
  });

  it("does not count calls that were denied", async () => {
    const world = place([
      decision("a", [
        "{ name: few, max_calls: { count: 1, per: session } }",
        '{ name: ok, conditions: [{ name: c, expression: "params.ok" }] }',
      ]),
    ]);
    for (let times = 0; times < 3; times++) await world.check({ ok: false });
    expect(await world.check({ ok: true })).toMatchObject({ allowed: true });
    expect(await world.check({ ok: true })).toMatchObject({ allowed: false });
  });

  it("counts a call that an override let pass, and never holds it back", async () => {
    const world = place([
      decision("a", [
        "{ name: few, max_calls: { count: 1, per: session } }",
        flips("urgent", "few", 'when: "params.urgent"'),
      ]),
    ]);
    for (let times = 0; times < 3; times++)
      expect(await world.check({ urgent: true })).toMatchObject({ allowed: true });
    expect(await world.check({ urgent: false })).toMatchObject({
      reason: "3 of 1 calls were made in the session",
    });
  });

  it("cannot count where nothing is recorded, and denies", async () => {
    const world = place([
      decision(
        "a",
        ["{ name: few, max_calls: { count: 9, per: session } }"],
        "  logging: { log_decision: false }\n",
      ),
    ]);
    expect(await world.check()).toMatchObject({ allowed: false });
  });

  it("is not outrun by a call that was recorded in between", async () => {
    const store = openMemoryStore();
    const world = place(
      most("session"),
      growing(store, allowedCallCounter({ decision: "a", policy: "few" }, "s"), 2),
    );
    expect(await world.check()).toMatchObject({
      allowed: false,
      reason: "2 of 2 calls were made in the session",
    });
  });
});

describe("without a session", () => {
  it.each([
    ["requires", "{ name: p, requires: [x] }"],
    [
      "read_before_write",
      "{ name: p, read_before_write: { read_tools: [r], write_tools: [write_*], path: params.p } }",
    ],
    ["max_calls", "{ name: p, max_calls: { count: 5, per: session } }"],
    ["max_calls in a window", "{ name: p, max_calls: { count: 5, per: 1h } }"],
    ["max_sum", "{ name: p, max_sum: { of: params.p, most: 5, per: session } }"],
  ])("a call is refused, and nothing recorded, if a policy needs one: %s", async (_name, policy) => {
    const world = place([decision("a", [allows("o"), policy])]);
    await expect(world.sessionless({ p: 1 })).rejects.toMatchObject({
      code: "usage",
      message: "policy `p` of `a` needs a session",
    });
    expect(await world.log()).toEqual([]);
  });

  it.each([
    ["a policy that is no longer in effect", "{ name: p, requires: [x], expires_at: 2026-01-01T00:00:00Z }"],
    [
      "a path that another tool writes",
      "{ name: p, read_before_write: { read_tools: [r], write_tools: [other], path: params.p } }",
    ],
  ])("is needed by no policy of this kind: %s", async (_name, policy) => {
    expect(await place([decision("a", [policy])]).sessionless()).toMatchObject({ allowed: true });
  });

  it("limits per caller deny, because their callers are unknown", async () => {
    const world = place([decision("a", ["{ name: p, max_calls: { count: 5, per: caller } }"])]);
    expect(await world.sessionless()).toMatchObject({ allowed: false });
  });

  it("everything else is decided all the same", async () => {
    const world = place([decision("a", [denies("p"), flips("o", "p", "max_applications: 1")])]);
    expect(await world.sessionless()).toMatchObject({ allowed: true });
    expect(await world.sessionless()).toMatchObject({ allowed: false });
  });
});

async function replayOf({ store }: Place, seq: number): Promise<unknown> {
  const line = await store.log.find({ seq });
  if (!("record" in line) || line.record.kind !== "decision") throw new Error("no decision");
  const { record } = line;
  return replayRecord({ ...line, record }, await new ReplayableDefinitions(store).get(record));
}

describe("the state of a session", () => {
  const alices = "{ name: p, conditions: [{ name: c, expression: \"session.user == 'alice'\" }] }";
  const alice = { context: { session: { user: "alice" } } };

  it("is kept, and later calls of the session are decided with it", async () => {
    const world = place([decision("a", [alices])]);
    expect(await world.check()).toMatchObject({ allowed: false });
    await world.check({}, alice);
    expect(await world.check({ n: 1 })).toMatchObject({ allowed: true });
    expect(await world.check({ n: 2 })).toMatchObject({ allowed: true });
    expect(await world.check({}, { session_id: "other" })).toMatchObject({ allowed: false });
    const facts = (await world.log()).map((record) => record.facts["session_state"]);
    expect(facts).toEqual([undefined, undefined, "kept", "kept", undefined]);
  });

  it("is part of the recorded context, so the record can be replayed on its own", async () => {
    const world = place([decision("a", [alices, "{ name: q, max_calls: { count: 9, per: session } }"])]);
    await world.check({}, alice);
    await world.check();
    const [, second] = await world.log();
    expect(second?.context).toEqual({ ...alice.context, tool: "write_file", params: {} });
    expect(await replayOf(world, 2)).toEqual({ status: "matched" });
  });

  it("is replaced as a whole by a later one", async () => {
    const world = place([
      decision("a", ['{ name: p, conditions: [{ name: c, expression: "exists(session.user)" }] }']),
    ]);
    await world.check({}, alice);
    await world.check({}, { context: { session: { role: "admin" } } });
    expect(await world.check()).toMatchObject({ allowed: false });
    expect((await world.log())[2]?.context?.["session"]).toEqual({ role: "admin" });
  });

  it("is kept from a call that is denied, and not from a dry run", async () => {
    const world = place([decision("a", [alices])]);
    await world.check({}, { ...alice, dry_run: true });
    expect(await world.check()).toMatchObject({ allowed: false });
    await world.check({}, { context: { session: { user: "bob" } } });
    await world.check();
    expect((await world.log())[2]?.context?.["session"]).toEqual({ user: "bob" });
  });

  it("is read by a dry run, too", async () => {
    const world = place([decision("a", [alices])]);
    await world.check({}, alice);
    expect(await world.check({}, { dry_run: true })).toMatchObject({ allowed: true });
  });

  it("belongs to the session of one organisation", async () => {
    const world = place([decision("a", [alices])]);
    const caller = (org_id?: string): CheckRequest["caller"] => ({
      subject: "s",
      issuer: "i",
      scopes: [],
      delegated: false,
      actors: [],
      ...(org_id !== undefined && { org_id }),
    });
    await world.check({}, { ...alice, caller: caller("acme") });
    expect(await world.check({}, { caller: caller("acme") })).toMatchObject({ allowed: true });
    for (const other of [caller("other"), caller(), undefined])
      expect(await world.check({}, { caller: other })).toMatchObject({ allowed: false });
  });

  const callerOf = (subject: string, ...scopes: readonly string[]): Asked => ({
    caller: { subject, issuer: "i", scopes, delegated: false, actors: [] },
  });
  const agent = callerOf("agent", "decide");
  const host = callerOf("host", "decide", "report");
  const limited: Asked = { may_report: false };

  it.each<{ name: string; from: Asked; to: Asked; isUsed: boolean }>([
    { name: "the command line sends is used for a hook", from: {}, to: host, isUsed: true },
    { name: "the command line sends is used for an agent", from: {}, to: agent, isUsed: true },
    { name: "who may report sends is used for all", from: host, to: {}, isUsed: true },
    { name: "who may report sends is used for an agent", from: host, to: agent, isUsed: true },
    { name: "an agent sends is used for itself", from: agent, to: agent, isUsed: true },
    { name: "an agent sends is not used for a hook", from: agent, to: host, isUsed: false },
    { name: "an agent sends is not used for the command line", from: agent, to: {}, isUsed: false },
    {
      name: "an agent sends is not used for another agent",
      from: agent,
      to: callerOf("other", "decide"),
      isUsed: false,
    },
    {
      name: "an agent sends is not used with more scopes",
      from: agent,
      to: callerOf("agent", "decide", "report"),
      isUsed: false,
    },
    { name: "a server without `report` gets is used for itself", from: limited, to: limited, isUsed: true },
    { name: "a server without `report` gets is not used for a hook", from: limited, to: {}, isUsed: false },
    {
      name: "a server without `report` gets is not used for an agent",
      from: limited,
      to: agent,
      isUsed: false,
    },
  ])("that $name", async ({ from, to, isUsed }) => {
    const world = place([decision("a", [alices])]);
    await world.check({}, { ...alice, ...from });
    expect(await world.check({}, to)).toMatchObject({ allowed: isUsed });
    expect(await world.check({}, { ...to, dry_run: true })).toMatchObject({ allowed: isUsed });
  });

  it("of an agent stays its own after others, and the newer one counts for it", async () => {
    const world = place([decision("a", [alices])]);
    const bob = { context: { session: { user: "bob" } } };
    await world.check({}, { ...alice, ...host });
    await world.check({}, { ...bob, ...agent });
    const isAllowed = async (asked: Asked): Promise<boolean> => (await world.check({}, asked)).allowed;
    expect([await isAllowed(agent), await isAllowed(host), await isAllowed({})]).toEqual([false, true, true]);
    await world.check({}, alice);
    expect([await isAllowed(agent), await isAllowed(host)]).toEqual([true, true]);
  });

  it("is taken from a record that has all of it", async () => {
    const world = place([
      decision("a", [alices], "  logging: { include_inputs: false }\n"),
      decision("b", [alices], "  logging: { mask: [/session/user] }\n"),
      decision("c", [alices]),
    ]);
    await world.check({}, alice);
    expect(await world.check()).toMatchObject({ allowed: true });
    const { decisions } = await world.check();
    expect(decisions[1]?.input_value).toMatchObject({ session: { user: "[masked]" } });
  });

  it.each([
    ["inputs are not logged", "include_inputs: false", "the inputs of that call were not logged"],
    ["a value is masked", "mask: [/session/user]", "it contains masked values"],
  ])("is missing where %s, so a policy that reads it cannot decide", async (_name, logging, why) => {
    const more = `  logging: { ${logging} }\n`;
    const world = place([decision("a", [alices], more)]);
    await world.check({}, alice);
    await expect(world.check()).rejects.toMatchObject({
      code: "usage",
      message: `the state of session \`s\` was not kept: ${why}`,
      hint: "send `session` with this call",
    });
    expect(await world.check({}, alice)).toMatchObject({ allowed: true });
    const others = place([decision("a", [allows("p")], more)]);
    await others.check({}, alice);
    expect(await others.check()).toMatchObject({ allowed: true });
  });

  it("is missing where its record was removed", async () => {
    const world = place([decision("a", [alices])]);
    await world.check({}, alice);
    await world.check({}, { session_id: "other" });
    const { through, ...bounds } = await world.store.log.prunable({ keep: 1 });
    await world.store.log.prune({ through, ...bounds }, () => '"kind":"note"');
    await expect(world.check()).rejects.toThrow("its record is no longer in the log");
  });

  it("is not taken from a record of another session", async () => {
    const store = openMemoryStore();
    const world = place([decision("a", [alices])], {
      ...store,
      log: { ...store.log, counter: () => Promise.resolve({ count: 1, seq: 1 }) },
    });
    await world.check({}, alice);
    await expect(world.check({}, { session_id: "other" })).rejects.toThrow("its record was changed");
  });

  it("that another call sends in the meantime is used instead", async () => {
    const store = openMemoryStore();
    const first = place([decision("a", [alices])], store);
    await first.check({}, alice);
    let isReplaced = false;
    const append: Store["log"]["append"] = async (...entries) => {
      if (!isReplaced) {
        isReplaced = true;
        await first.check({}, { context: { session: { user: "bob" } } });
      }
      return store.log.append(...entries);
    };
    const racing = place([decision("a", [alices])], { ...store, log: { ...store.log, append } });
    expect(await racing.check()).toMatchObject({ allowed: false });
    expect((await first.log()).map(({ outcome }) => outcome)).toEqual(["allowed", "denied", "denied"]);
  });
});

/** A store in which something is counted by others whenever a decision is about to be recorded for the first time. */
function growing(store: Store, counter: string, times: number): Store {
  let isGrown = false;
  const log: Store["log"] = {
    ...store.log,
    async append(...entries) {
      for (let count = 0; !isGrown && count < times; count++)
        await store.log.append({ body: '"kind":"note"', counts: [counter] });
      isGrown = true;
      return store.log.append(...entries);
    },
  };
  return { ...store, log };
}

describe("max_applications", () => {
  const limited = (most: number): string =>
    decision("a", [denies("p"), flips("o", "p", `max_applications: ${most}`)]);

  it("counts the calls that were finally allowed", async () => {
    const world = place([limited(2)]);
    const outcomes: string[] = [];
    for (let times = 0; times < 3; times++) outcomes.push((await world.check()).outcome);
    expect(outcomes).toEqual(["allowed_by_exception", "allowed_by_exception", "denied"]);
    expect(await world.uses("a", "o")).toBe(2);
    expect((await world.log())[2]?.evaluation_details).toMatchObject({
      o: { result: false, left_out: "used up: 2 of 2 applications" },
    });
  });

  it("is not used up by a call that another decision denies", async () => {
    const gate = decision("b", ['{ name: q, conditions: [{ name: c, expression: "params.ok" }] }']);
    const world = place([limited(1), gate]);
    for (let times = 0; times < 3; times++) {
      const result = await world.check({ ok: false });
      expect(result).toMatchObject({ allowed: false });
      expect(result.decisions[0]).toMatchObject({ outcome: "allowed_by_exception" });
    }
    expect(await world.uses("a", "o")).toBe(0);
    expect(await world.check({ ok: true })).toMatchObject({ outcome: "allowed_by_exception" });
    expect(await world.uses("a", "o")).toBe(1);
  });

  it("is not used up by a call that another policy of the decision denies", async () => {
    const world = place([decision("a", [denies("p"), denies("q"), flips("o", "p", "max_applications: 1")])]);
    await world.check();
    expect(await world.uses("a", "o")).toBe(0);
  });

  it("counts once where it flips several denials", async () => {
    const world = place([
      decision("a", [denies("p"), denies("q"), flips("o", "p, q", "max_applications: 1")]),
    ]);
    expect(await world.check()).toMatchObject({ allowed: true });
    expect(await world.uses("a", "o")).toBe(1);
  });

  it("evaluates again where the last use was taken between evaluating and recording", async () => {
    const counter = overrideUseCounter({ decision: "a", policy: "o" });
    const world = place([limited(1)], growing(openMemoryStore(), counter, 1));
    expect(await world.check()).toMatchObject({ allowed: false, reason: "denied by p" });
    expect(await world.log()).toMatchObject([{ outcome: "denied", facts: { uses: { o: 1 } } }]);
    expect(await world.uses("a", "o")).toBe(1);
  });

  it("falls to the next override where the first was used up in between", async () => {
    const counter = overrideUseCounter({ decision: "a", policy: "o" });
    const file = decision("a", [denies("p"), flips("o", "p", "max_applications: 1"), flips("n", "p")]);
    const world = place([file], growing(openMemoryStore(), counter, 1));
    expect(await world.check()).toMatchObject({ allowed: true, reason: "flipped by n" });
  });

  const caller = (org_id?: string): Asked => ({
    caller: {
      subject: "alice",
      issuer: "https://id.example",
      scopes: ["decide"],
      delegated: false,
      actors: [],
      ...(org_id !== undefined && { org_id }),
    },
  });

  it("is counted for each organisation that callers are bound to", async () => {
    const world = place([limited(2)]);
    const allowed = async (org: string): Promise<boolean> => (await world.check({}, caller(org))).allowed;
    expect([await allowed("acme"), await allowed("acme"), await allowed("acme")]).toEqual([
      true,
      true,
      false,
    ]);
    expect([await allowed("globex"), await allowed("globex"), await allowed("globex")]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await world.check({}, caller())).allowed).toBe(true);
  });

  it("is counted for every organisation where the caller is bound to none, as by earlier versions", async () => {
    const store = openMemoryStore();
    const counter = overrideUseCounter({ decision: "a", policy: "o" });
    await store.log.append({ body: '"kind":"note"', counts: [counter] });
    const world = place([limited(3)], store);
    expect((await world.check({}, caller("acme"))).allowed).toBe(true);
    expect((await world.check()).allowed).toBe(true);
    expect(await world.check({}, caller("acme"))).toMatchObject({ allowed: false });
    const [, , last] = await world.log();
    expect(last?.facts).toMatchObject({ uses: { o: 3 }, shared_uses: { o: 2 } });
    expect((await world.check({}, caller("globex"))).allowed).toBe(true);
  });

  it.each([
    { name: "the organisation", subject: ["org", "acme"] as const },
    { name: "a caller without organisation", subject: [] as const },
  ])("is not exceeded where $name took the last use before recording", async ({ subject }) => {
    const counter = overrideUseCounter({ decision: "a", policy: "o" }, ...subject);
    const world = place([limited(1)], growing(openMemoryStore(), counter, 1));
    expect(await world.check({}, caller("acme"))).toMatchObject({ allowed: false });
    expect(await world.log()).toMatchObject([{ outcome: "denied", facts: { uses: { o: 1 } } }]);
  });

  it("lets each organisation have as many uses as it says, however many ask at once", async () => {
    const world = place([limited(3)]);
    const orgs = Array.from({ length: 30 }, (_none, number) => ["acme", "globex"][number % 2] ?? "");
    const all = await Promise.all(orgs.map((org) => world.check({}, caller(org))));
    const allowed = orgs.filter((_org, index) => all[index]?.allowed);
    expect(allowed.toSorted()).toEqual(["acme", "acme", "acme", "globex", "globex", "globex"]);
  });

  it("gives up where others are faster time and again", async () => {
    const store = openMemoryStore();
    const refused = { counter: overrideUseCounter({ decision: "a", policy: "o" }), most: 1 };
    const log = { ...store.log, append: () => Promise.resolve({ refused, count: 1 }) };
    expect(await codeOf(place([limited(1)], { ...store, log }).check())).toBe("store_busy");
  });

  it("gives no use where uses cannot be counted, as nothing is recorded", async () => {
    const world = place([
      decision(
        "a",
        [denies("p"), flips("o", "p", "max_applications: 5")],
        "  logging: { log_decision: false }\n",
      ),
    ]);
    const result = await world.check();
    expect(result).toMatchObject({ allowed: false, reason: "denied by p" });
    expect(result.decisions[0]?.evaluation_details).toMatchObject({
      o: { left_out: "its uses cannot be counted here" },
    });
  });

  it("lets exactly as many pass as it says, however many ask at once", async () => {
    const world = place([limited(5)]);
    const all = await Promise.all(Array.from({ length: 40 }, () => world.check()));
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(5);
    expect([await world.uses("a", "o"), (await world.log()).length]).toEqual([5, 40]);
  });
});

describe("masked params", () => {
  const secret = "4111-1111";
  const masking = "  logging: { mask: [/params/card] }\n";
  const kept = async (world: Place): Promise<string> => {
    const entries: unknown[] = [await world.log()];
    for (const name of ["cache", "definitions", "environments"] as const)
      for await (const entry of world.store.shelf(name).entries()) entries.push(entry);
    return JSON.stringify(entries);
  };

  it("are real in the answer, and masked in all that is kept", async () => {
    const world = place([decision("a", [allows("p")], masking)]);
    const result = await world.check({ card: secret, amount: 5 });
    expect(result.params).toEqual({ card: secret, amount: 5 });
    expect(JSON.stringify(result.decisions)).not.toContain(secret);
    expect(await kept(world)).not.toContain(secret);
    expect((await world.log())[0]).toMatchObject({
      params: { card: "[masked]", amount: 5 },
      context: { params: { card: "[masked]", amount: 5 } },
    });
  });

  it.each([
    [
      "a reason",
      `{ name: p, conditions: [{ name: c, expression: "false" }], deny_reason: "no {{ params.card }}" }`,
      "",
    ],
    ["an error", `{ name: p, conditions: [{ name: c, expression: "abs(params.card) > 1" }] }`, ""],
    [
      "the reason of an override",
      denies("p"),
      `{ name: o, overrides: [p], reason: "yes {{ params.card }}" }`,
    ],
    [
      "params that an override sets",
      denies("p"),
      sets("o", "p", '{ note: "for {{ params.card }}", list: [{ deep: "{{ params.card }}" }] }'),
    ],
  ])("are not told by %s", async (_what, base, override) => {
    const world = place([decision("a", override === "" ? [base] : [base, override], masking)]);
    const result = await world.check({ card: secret });
    expect(JSON.stringify({ ...result, params: undefined })).not.toContain(secret);
    expect(await kept(world)).not.toContain(secret);
  });

  it("are not told by params that are made of them, whatever characters they hold", async () => {
    const odd = 'say "4711"\n\\';
    const override = sets("o", "p", '{ note: "{{ params.card }}", more: "{{ [params.card] }}" }');
    const world = place([decision("a", [denies("p"), override], masking)]);
    const result = await world.check({ card: odd });
    expect(result.params).toEqual({ card: odd, note: odd, more: [odd] });
    expect(await kept(world)).not.toContain("4711");
  });

  it("are set for real by an override that copies them", async () => {
    const world = place([
      decision("a", [denies("p"), sets("o", "p", '{ note: "{{ params.card }}" }')], masking),
    ]);
    expect((await world.check({ card: secret })).params).toEqual({ card: secret, note: secret });
    expect((await world.log())[0]?.params).toEqual({ card: "[masked]", note: "[masked]" });
  });

  it("are not told by what other decisions know of the params that were set", async () => {
    const setting = decision("a", [denies("p"), sets("o", "p", '{ note: "{{ params.card }}" }')], masking);
    const other = decision("b", [denies("p"), sets("o", "p", "{ more: 1 }")], masking);
    const world = place([setting, other]);
    const result = await world.check({ card: secret });
    expect(result.params).toEqual({ card: secret, note: secret, more: 1 });
    expect(await kept(world)).not.toContain(secret);
    expect((await world.log())[1]?.facts).toMatchObject({ set_params: { note: "[masked]" } });
  });

  it("are not told by params that another decision sets, nor by the denial of those", async () => {
    const setting = decision("a", [denies("p"), sets("o", "p", '{ card: "{{ session.card }}" }')]);
    const cap = `{ name: cap, conditions: [{ name: c, expression: "params.card == 'x'" }], deny_reason: "no {{ params.card }}" }`;
    const world = place([setting, decision("b", [cap], masking)]);
    const context = { session: { card: secret } };
    const result = await world.check({ card: "x" }, { context });
    expect(result).toMatchObject({ allowed: false });
    const record = (await world.log()).find(({ decision_id }) => decision_id === "b");
    const { facts, reason, because } = record ?? {};
    expect(JSON.stringify({ facts, reason, because })).not.toContain(secret);
    expect(facts).toMatchObject({ recheck: { changes: [{ set_params: { card: "[masked]" } }] } });
  });

  it("still decide", async () => {
    const policy = `{ name: p, conditions: [{ name: c, expression: "params.card == '${secret}'" }] }`;
    const world = place([decision("a", [policy], masking)]);
    expect(await world.check({ card: secret })).toMatchObject({ allowed: true });
    expect(await world.check({ card: "other" })).toMatchObject({ allowed: false });
  });
});

describe("strict", () => {
  it("ends the check in an error where a condition cannot be evaluated", async () => {
    const world = place([
      decision("a", ['{ name: p, conditions: [{ name: c, expression: "params.x > 1" }] }']),
    ]);
    expect(await codeOf(world.check({}, { strict: true }))).toBe("condition_errored");
    expect(await world.log()).toEqual([]);
    expect(await world.check()).toMatchObject({ allowed: false });
  });
});

describe("a caller that cannot change the params", () => {
  const safe = sets("safe", "p", "{ path: /safe }");

  it("is denied what would be allowed with other params only", async () => {
    const world = place([decision("a", [denies("p"), safe])]);
    expect(await world.check({ path: "/etc" })).toMatchObject({ allowed: true, params: { path: "/safe" } });
    const fixed = await world.check({ path: "/etc" }, { fixed_params: true });
    expect(fixed).toMatchObject({ allowed: false, reason: "denied by p", params: { path: "/etc" } });
    const [, record] = await world.log();
    expect(record?.facts).toMatchObject({ fixed_params: true });
    expect(record?.evaluation_details).toMatchObject({
      safe: { left_out: "the params of this call cannot be changed" },
    });
  });

  it("may be helped by an override that leaves them alone", async () => {
    const world = place([decision("a", [denies("p"), safe, flips("f", "p")])]);
    expect(await world.check({}, { fixed_params: true })).toMatchObject({ allowed: true, params: {} });
  });
});

describe("a decision on several tools", () => {
  const several = decision("a", [denies("p")]).replace("tool: write_file", "tool: [write_*, edit]");

  it.each([
    ["write_file", false],
    ["edit", false],
    ["read", true],
  ])("is about %s: allowed %s", async (tool, allowed) => {
    expect(await place([several]).check({}, { tool })).toMatchObject({ allowed });
  });
});

describe("a policy that is asked by its id", () => {
  const files = { id: "files", type: "policy", tool: ["read_*", "write_file"], policies: [] };
  const world = deciding({ decision: files });

  it.each([{ tool: "read_x" }, { tool: "write_file" }, {}])(
    "answers about its own tools: %j",
    async (context) => {
      expect(await world.decide("files", context, { dry_run: true })).toMatchObject({ allowed: true });
    },
  );

  it.each([
    { name: "a tool that it does not match", tool: "send_mail", asked: "the tool `send_mail`" },
    { name: "a longer name", tool: "write_files", asked: "the tool `write_files`" },
    { name: "no text", tool: 7, asked: "a tool that is not text" },
  ])("does not answer about other tools: $name", async ({ tool, asked }) => {
    for (const dry_run of [true, false])
      await expect(world.decide("files", { tool, params: {} }, { dry_run })).rejects.toMatchObject({
        code: "input_invalid",
        message: `\`files\` is not about ${asked}`,
        hint: "it is about `read_*`, `write_file`; to ask all policies for a tool, use `agent-33 decision check`",
      });
    expect(await world.records()).toEqual([]);
  });
});

describe("what speaks against nothing", () => {
  it.each([
    ["wirte_file", ["no policy matches `wirte_file`; did you mean `write_file`?"]],
    ["send_mail", []],
    ["write_file", []],
  ])("warns where the name of a tool may be misspelt: %s", async (tool, expected) => {
    const policy = "decision: { id: p, type: policy, tool: [write_file, 'web_*'], policies: [] }";
    const { warnings, decisions } = await place([policy]).check({}, { tool });
    expect(warnings).toEqual(expected);
    expect(decisions.flatMap((each) => each.warnings)).toEqual([]);
  });

  it("warns where no policy is defined at all, and unknown tools are allowed", async () => {
    const { allowed, warnings } = await place([], openMemoryStore(), "allow").check();
    expect({ allowed, warnings }).toEqual({
      allowed: true,
      warnings: ["no policy is defined: every call is allowed"],
    });
  });

  it("warns where every policy is out of its window", async () => {
    const gone = denies("p").replace("name: p,", "name: p, expires_at: 2020-01-01,");
    const { allowed, warnings } = await place([decision("a", [gone])]).check();
    expect({ allowed, warnings }).toEqual({
      allowed: true,
      warnings: ["`p` does not apply: expired on 2020-01-01"],
    });
  });
});

describe("a check without a name", () => {
  it.each([{ tool: "" }, { tool: 7 }, { session_id: "" }])("is refused: %j", async (asked) => {
    expect(await codeOf(place([]).check({}, asked as unknown as Asked))).toBe("input_invalid");
  });
});

describe("calls that are on their way at the same time", () => {
  it("are told apart by their params, also where an override has changed them", async () => {
    const world = place([decision("a", [denies("p"), sets("safe", "p", "{ safe: true }")])]);
    for (const path of ["a", "b"]) await world.check({ path });
    const [first, second] = await world.log();
    const told = await world.result("write_file", { params: { path: "a" } });
    expect(told.decision_records).toEqual([first?.record_id]);
    const changed = await world.result("write_file", { params: { path: "b", safe: true }, ok: false });
    expect(changed.decision_records).toEqual([second?.record_id]);
    expect((await world.result("write_file", { params: { path: "a" } })).decision_records).toEqual([]);
    expect((await world.result("write_file", { params: { path: "c" } })).decision_records).toEqual([]);
  });

  it("are not told apart by what is masked", async () => {
    const masks = '  logging: { mask: ["/params/path"] }\n';
    const world = place([decision("a", [allows("p")], masks)]);
    await world.check({ path: "secret-4711" });
    expect((await world.result("write_file", { params: { path: "other" } })).decision_records).toHaveLength(
      1,
    );
  });
});
