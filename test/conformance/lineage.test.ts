import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import canonicalize from "canonicalize";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { CheckRequest, CheckResult } from "../../src/decide/check.js";
import { check } from "../../src/decide/check.js";
import { createExplainer, explainSession } from "../../src/present/explain-records.js";
import type { ToolResult, ToolResultRequest } from "../../src/decide/tool-result.js";
import { recordToolResult } from "../../src/decide/tool-result.js";
import { buildLibrary } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import type { OverridePolicy, Policy, PolicyDefinition } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Lineage } from "../../src/model/lineage.js";
import type { DecisionRecord, LogRecord } from "../../src/model/record.js";
import type { PolicyDetail, PolicyResult } from "../../src/model/result.js";
import { sessionMethodology } from "../../src/present/session-view.js";
import { recordsOfSession } from "../../src/record/find-records.js";
import { microsecondsOf } from "../../src/record/timestamp.js";
import { newRecordId } from "../../src/record/record-id.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";

const noon = "2026-03-02T12:00:00.000000Z";

/** What a request changes; `session_id: undefined` leaves out the session. */
type Asked = Omit<Partial<CheckRequest>, "session_id"> & { readonly session_id?: string | undefined };

interface Place {
  ask(tool: string, params?: JsonObject, asked?: Asked): Promise<CheckResult>;
  result(tool: string, ok?: boolean, more?: Partial<ToolResultRequest>): Promise<ToolResult>;
  log(): Promise<readonly LogRecord[]>;
  /** What a report says of its method. */
  methodology(): Promise<string>;
}

/** A session in which tools are called; JSON is YAML too. */
function sessionWith(text: string): Place {
  const { summary, body } = readDefinitions("f.yaml", Buffer.from(text));
  expect(summary.diagnostics).toEqual([]);
  const store = openMemoryStore();
  const newNote = (): { record_id: string; timestamp: string } => ({ record_id: "note", timestamp: noon });
  const world = {
    definitions: buildLibrary([summary], (_file, position) => {
      const found = body.definitions[position];
      return found === undefined ? Promise.reject(new Error("it is not there")) : Promise.resolve(found);
    }),
    clock: () => noon,
    newId: (timestamp: string) => newRecordId(microsecondsOf(timestamp), Math.random),
    records: new Records(store, { newNote, onWarning: () => undefined }),
  };
  return {
    ask: (tool, params = {}, asked = {}) =>
      check({ tool, params, session_id: "s-1", ...asked } as CheckRequest, world),
    result: (tool, ok = true, more = {}) => recordToolResult({ tool, session_id: "s-1", ok, ...more }, world),
    async log() {
      const records: LogRecord[] = [];
      for await (const { record } of store.log.select({})) records.push(record);
      return records;
    },
    async methodology() {
      const found = await recordsOfSession("s-1", store.log);
      return sessionMethodology(await explainSession("s-1", found, createExplainer(store, false)));
    },
  };
}

const definitionOf = (policies: readonly Policy[], more: Partial<PolicyDefinition> = {}): string =>
  JSON.stringify({ decision: { id: "d", type: "policy", tool: "t", ...more, policies } });

type Base = Partial<Exclude<Policy, OverridePolicy>>;

const policy = (name: string, expression: string, more: Base = {}): Policy => ({
  name,
  version: "1.0.0",
  conditions: [{ name: `${name}_check`, expression }],
  deny_reason: `${name} denies`,
  ...more,
});

const override = (
  name: string,
  overrides: readonly string[],
  more: Partial<OverridePolicy> = {},
): Policy => ({
  name,
  version: "1.0.0",
  overrides,
  reason: `${name} applies`,
  ...more,
});

async function decisionOn(
  policies: readonly Policy[],
  params: JsonObject = {},
  context: JsonObject = {},
): Promise<PolicyResult> {
  const { decisions } = await sessionWith(definitionOf(policies)).ask("t", params, { context });
  const [decision] = decisions;
  if (decision === undefined) throw new Error("nothing was decided");
  return decision;
}

const detailsOf = ({ evaluation_details }: PolicyResult): Readonly<Record<string, PolicyDetail>> =>
  evaluation_details as Readonly<Record<string, PolicyDetail>>;

const sha256 = (value: unknown): string =>
  createHash("sha256")
    .update(canonicalize(value) ?? "")
    .digest("hex");

interface Clause {
  readonly clause: string;
  readonly policies: readonly Policy[];
  readonly params?: JsonObject;
  readonly context?: JsonObject;
  readonly outcome: PolicyResult["outcome"];
  readonly reason: string;
  readonly params_now?: JsonObject;
}

const denied = policy("p", "false");

/** What comes of a call, by what the specifications say. */
const clauses: readonly Clause[] = [
  {
    clause: "a policy allows: recorded by name and version",
    policies: [policy("p", "params.n > 1", { version: "2.1.0" })],
    params: { n: 2 },
    outcome: "allowed",
    reason: "Allowed by p v2.1.0",
  },
  {
    clause: "a policy denies with its reason",
    policies: [policy("p", "params.n > 1")],
    params: { n: 1 },
    outcome: "denied",
    reason: "p denies",
  },
  {
    clause: "a policy that is not yet effective has no say",
    policies: [policy("p", "false", { effective_from: "2026-03-02T12:00:00.001Z" })],
    outcome: "allowed",
    reason: "No policy constraints",
  },
  {
    clause: "a policy is effective from its very moment",
    policies: [policy("p", "false", { effective_from: "2026-03-02T12:00:00Z" })],
    outcome: "denied",
    reason: "p denies",
  },
  {
    clause: "a policy that has expired has no say",
    policies: [policy("p", "false", { expires_at: "2026-03-02T12:00:00Z" })],
    outcome: "allowed",
    reason: "No policy constraints",
  },
  {
    clause: "no policies, allow by default",
    policies: [],
    outcome: "allowed",
    reason: "No policy constraints",
  },
  {
    clause: "a standing exception overrides the denial",
    policies: [denied, override("o", ["p"])],
    outcome: "allowed_by_exception",
    reason: "o applies",
  },
  {
    clause: "exceptions in order, first match wins",
    policies: [denied, override("o", ["p"]), override("n", ["p"])],
    outcome: "allowed_by_exception",
    reason: "o applies",
  },
  {
    clause: "an exception whose condition does not match is passed over",
    policies: [
      denied,
      override("o", ["p"], { when: "params.industry == 'healthcare'" }),
      override("n", ["p"]),
    ],
    params: { industry: "retail" },
    outcome: "allowed_by_exception",
    reason: "n applies",
  },
  {
    clause: "an exception that is not yet effective is passed over",
    policies: [denied, override("o", ["p"], { effective_from: "2027-01-01" }), override("n", ["p"])],
    outcome: "allowed_by_exception",
    reason: "n applies",
  },
  {
    clause: "an exception that has expired is passed over",
    policies: [denied, override("o", ["p"], { expires_at: "2026-01-01" }), override("n", ["p"])],
    outcome: "allowed_by_exception",
    reason: "n applies",
  },
  {
    clause: "an exception that names another policy does not apply",
    policies: [denied, policy("q", "true"), override("o", ["q"])],
    outcome: "denied",
    reason: "p denies",
  },
  {
    clause: "None lets the denial stand",
    policies: [denied, override("o", ["p"], { when: "false" })],
    outcome: "denied",
    reason: "p denies",
  },
  {
    clause: "the rationale template is rendered",
    policies: [denied, override("o", ["p"], { reason: "Extended for {{ session.customer.industry }}" })],
    context: { session: { customer: { industry: "healthcare" } } },
    outcome: "allowed_by_exception",
    reason: "Extended for healthcare",
  },
  {
    clause: "action allow leaves the params as they are",
    policies: [denied, override("o", ["p"], { action: "allow" })],
    params: { timeout: 1 },
    outcome: "allowed_by_exception",
    reason: "o applies",
    params_now: { timeout: 1 },
  },
  {
    clause: "action allow_with_warning leaves the params as they are",
    policies: [denied, override("o", ["p"], { action: "allow_with_warning" })],
    params: { timeout: 1 },
    outcome: "allowed_by_exception",
    reason: "o applies",
    params_now: { timeout: 1 },
  },
  {
    clause: "action modify_params sets params",
    policies: [
      denied,
      override("o", ["p"], { action: "modify_params", params: { timeout_multiplier: 1.5 } }),
    ],
    params: { timeout: 1 },
    outcome: "allowed_by_exception",
    reason: "o applies",
    params_now: { timeout: 1, timeout_multiplier: 1.5 },
  },
  {
    clause: "overrides run after base policies, whatever their priority",
    policies: [override("o", ["p"], { priority: 100 }), policy("p", "false", { priority: -100 })],
    outcome: "allowed_by_exception",
    reason: "o applies",
  },
  {
    clause: "override policies by priority, higher first",
    policies: [denied, override("low", ["p"], { priority: -1 }), override("high", ["p"])],
    outcome: "allowed_by_exception",
    reason: "high applies",
  },
  {
    clause: "an override does nothing where nothing is denied",
    policies: [policy("p", "true"), override("o", ["p"], { action: "modify_params", params: { x: 1 } })],
    params: { y: 2 },
    outcome: "allowed",
    reason: "Allowed by p v1.0.0",
    params_now: { y: 2 },
  },
];

describe("a call that is checked", () => {
  it.each(clauses)(
    "$clause",
    async ({ policies, params = {}, context = {}, outcome, reason, params_now }) => {
      const decision = await decisionOn(policies, params, context);
      const allowed = outcome !== "denied";
      expect(decision).toMatchObject({
        type: "policy",
        outcome,
        allowed,
        reason,
        selected_labels: [outcome],
      });
      expect(decision.params).toEqual(params_now ?? params);
    },
  );

  it("warns where an exception allows with a warning", async () => {
    const { warnings } = await decisionOn([denied, override("o", ["p"], { action: "allow_with_warning" })]);
    expect(warnings).toEqual(["`o`: o applies"]);
  });

  it("is decided the same for the same inputs and policy version", async () => {
    const policies = [policy("p", "params.n > 1"), override("o", ["p"], { when: "session.vip" })];
    const hash = async (n: number): Promise<string> =>
      (await decisionOn(policies, { n }, { session: { vip: true } })).deterministic_hash;
    expect(await hash(1)).toBe(await hash(1));
    expect(await hash(1)).not.toBe(await hash(2));
  });
});

describe("max_applications of a standing exception", () => {
  const limited = definitionOf([
    denied,
    override("o", ["p"], { max_applications: 2 }),
    override("n", ["p"], { when: "params.n" }),
  ]);

  it("None = unlimited; else so many, and then the next that applies", async () => {
    const session = sessionWith(limited);
    const reasons: string[] = [];
    for (const n of [false, false, false, true]) reasons.push((await session.ask("t", { n })).reason);
    expect(reasons).toEqual(["o applies", "o applies", "p denies", "n applies"]);
  });
});

describe("the lineage of a decision", () => {
  const lineageOf = async (...asked: Parameters<typeof decisionOn>): Promise<Lineage> =>
    (await decisionOn(...asked)).lineage;

  it("policy_name, policy_version, policy_hash, base_decision and denial_reason of each policy", async () => {
    const policies = [policy("p", "params.a", { version: "1.2.0" }), policy("q", "params.b")];
    const { policies: recorded } = await lineageOf(policies, { a: true, b: false });
    expect(recorded).toEqual([
      {
        name: "p",
        version: "1.2.0",
        hash: sha256(policies[0]),
        base_decision: "allow",
        denial_reason: null,
        override: null,
      },
      {
        name: "q",
        version: "1.0.0",
        hash: sha256(policies[1]),
        base_decision: "deny",
        denial_reason: "q denies",
        override: null,
      },
    ]);
  });

  it("no policies: `none`, version 0.0.0, no hash", async () => {
    const { policies, override: applied } = await lineageOf([]);
    expect(policies).toEqual([
      {
        name: "none",
        version: "0.0.0",
        hash: "",
        base_decision: "allow",
        denial_reason: null,
        override: null,
      },
    ]);
    expect(applied).toBeNull();
  });

  it("the policy hash changes with the policy, not with the version alone", async () => {
    const hashOf = async (each: Policy): Promise<string | undefined> =>
      (await lineageOf([each])).policies[0]?.hash;
    const hashes = await Promise.all(
      [policy("p", "true"), policy("p", "not false"), policy("p", "true", { version: "1.0.1" })].map(hashOf),
    );
    expect(new Set(hashes).size).toBe(3);
    expect(await hashOf(policy("p", "true"))).toBe(hashes[0]);
  });

  it("conditions_checked: name, expression, result and the inputs that influenced them", async () => {
    const policies = [
      policy("p", "session.query.audience == 'ceo' and params.n > 1"),
      override("o", ["p"], { when: "resources.size < 5" }),
    ];
    const { conditions } = await lineageOf(
      policies,
      { n: 1 },
      { session: { query: { audience: "ceo" } }, resources: { size: 3 } },
    );
    expect(conditions).toEqual([
      {
        policy: "p",
        name: "p_check",
        expression: "session.query.audience == 'ceo' and params.n > 1",
        result: false,
        inputs_used: ["session.query.audience", "params.n"],
      },
      {
        policy: "o",
        name: "o",
        expression: "resources.size < 5",
        result: true,
        inputs_used: ["resources.size"],
      },
    ]);
  });

  it("inputs by source: what was read, with a digest for change detection", async () => {
    const policies = [policy("p", "params.a == 1 and params.b == 2 and session.tier == 'gold'")];
    const inputsFor = async (params: JsonObject): Promise<Lineage["inputs"]> =>
      (await lineageOf(policies, params, { session: { tier: "gold", other: 1 } })).inputs;
    const inputs = await inputsFor({ a: 1, b: 2, c: 3 });
    expect(inputs.map(({ source, keys }) => ({ source, keys }))).toEqual([
      { source: "params", keys: ["a", "b"] },
      { source: "session", keys: ["tier"] },
    ]);
    expect(inputs.map(({ digest }) => digest)).toEqual([
      sha256({ "params.a": 1, "params.b": 2 }),
      sha256({ "session.tier": "gold" }),
    ]);
    const others = await inputsFor({ a: 1, b: 2, c: 4 });
    expect(others).toEqual(inputs);
    expect((await inputsFor({ a: 1, b: 3 }))[0]?.digest).not.toBe(inputs[0]?.digest);
  });

  it("entity references are filled in, and left out where they cannot be", async () => {
    const entities = [
      { type: "customer", id: "{{ params.customer }}" },
      { type: "ticket", id: "{{ params.ticket }}" },
      { type: "file", id: "{{ params.n }}" },
    ];
    const session = sessionWith(definitionOf([], { entities, artifacts: ["report-{{ params.n }}"] }));
    const { decisions } = await session.ask("t", { customer: "acme", n: 7 });
    expect(decisions[0]?.lineage).toMatchObject({
      entities: [
        { type: "customer", id: "acme" },
        { type: "file", id: "7" },
      ],
      artifacts: ["report-7"],
    });
  });

  it("params_digest: a hash of the params to call with", async () => {
    const digestOf = async (params: JsonObject): Promise<string | null> =>
      (await lineageOf([], params)).params_digest;
    expect(await digestOf({ b: [1], a: 2 })).toBe(sha256({ a: 2, b: [1] }));
    expect(await digestOf({ a: 2 })).not.toBe(await digestOf({ a: 3 }));
    const modified = [denied, override("o", ["p"], { action: "modify_params", params: { x: 1 } })];
    expect((await lineageOf(modified, { y: 2 })).params_digest).toBe(sha256({ x: 1, y: 2 }));
  });

  it("the exception applied: name, version, condition matched, action, rationale, expiry", async () => {
    const applied = override("o", ["p"], {
      version: "2.0.0",
      when: "params.n > 0",
      action: "modify_params",
      params: { x: 1 },
      reason: "n is {{ params.n }}",
      expires_at: "2027-01-01T00:00:00Z",
    });
    const { override: recorded } = await lineageOf([denied, applied], { n: 5 });
    expect(recorded).toEqual({
      name: "o",
      version: "2.0.0",
      hash: sha256(applied),
      description: null,
      overrides: ["p"],
      condition: "params.n > 0",
      action: "modify_params",
      reason: "n is 5",
      expires_at: "2027-01-01T00:00:00Z",
    });
  });

  it("with_override keeps the original denial", async () => {
    const { policies } = await lineageOf([denied, override("o", ["p"])]);
    expect(policies).toMatchObject([
      { name: "p", base_decision: "deny", denial_reason: "p denies", override: "o" },
    ]);
  });

  it("precedent informs and does not decide: there is a place for it", async () => {
    expect((await lineageOf([denied])).precedents).toEqual([]);
  });
});

describe("what is recorded", () => {
  it("decisions accumulate per session, append-only", async () => {
    const session = sessionWith(definitionOf([policy("p", "params.ok")]));
    for (const ok of [true, false, true]) await session.ask("t", { ok });
    await session.ask("t", { ok: true }, { session_id: "s-2" });
    const log = (await session.log()) as readonly (DecisionRecord & PolicyResult)[];
    expect(log.map(({ seq, session_id, outcome }) => [seq, session_id, outcome])).toEqual([
      [1, "s-1", "allowed"],
      [2, "s-1", "denied"],
      [3, "s-1", "allowed"],
      [4, "s-2", "allowed"],
    ]);
  });

  it("the record is the decision, with the lineage, the tool and the params", async () => {
    const session = sessionWith(definitionOf([denied, override("o", ["p"])]));
    const { decisions } = await session.ask("t", { x: 1 }, { context: { session: { y: 2 } } });
    const [record] = await session.log();
    expect(record).toMatchObject({
      ...decisions[0],
      kind: "decision",
      context: { tool: "t", params: { x: 1 }, session: { y: 2 } },
    });
  });

  it("a call without policies is recorded too", async () => {
    const session = sessionWith(definitionOf([denied]));
    await session.ask("elsewhere");
    expect(await session.log()).toMatchObject([
      {
        decision_id: "none",
        tool: "elsewhere",
        reason: "No policy constraints",
        lineage: { policies: [{ name: "none", version: "0.0.0" }] },
      },
    ]);
  });

  it("a tool invocation records its params and its result", async () => {
    const session = sessionWith(definitionOf([policy("p", "true")]));
    await session.ask("t", { path: "a.txt" });
    const value = { lines: 12, first: "# Notes" };
    const recorded = { params_digest: sha256({ path: "a.txt" }), value };
    expect(await session.result("t", true, { params: { path: "a.txt" }, value })).toMatchObject(recorded);
    expect((await session.log())[1]).toMatchObject({ kind: "tool_result", ...recorded });
  });

  it("session state is kept, so that later decisions of the session read it", async () => {
    const session = sessionWith(definitionOf([policy("p", "session.query.audience == 'ceo'")]));
    const context = { session: { query: { audience: "ceo" } } };
    await session.ask("t", {}, { context });
    expect(await session.ask("t")).toMatchObject({ allowed: true });
    expect((await session.log())[1]).toMatchObject({ context, facts: { session_state: "kept" } });
  });

  it("session_id is optional: a call without a session is decided where no policy depends on one", async () => {
    const session = sessionWith(definitionOf([policy("p", "true")]));
    expect(await session.ask("t", {}, { session_id: undefined })).toMatchObject({ allowed: true });
    const dependent = sessionWith(definitionOf([policy("p", "true", { requires: ["u"] })]));
    await expect(dependent.ask("t", {}, { session_id: undefined })).rejects.toThrow(
      "policy `p` of `d` needs a session",
    );
  });

  it("a tool invocation records its gating decision", async () => {
    const session = sessionWith(definitionOf([policy("p", "true")]));
    const { decisions } = await session.ask("t");
    const [id] = decisions.map(({ record_id }) => record_id);
    expect(await session.result("t", false)).toMatchObject({
      kind: "tool_result",
      tool: "t",
      ok: false,
      session_id: "s-1",
      parent_record_id: id,
      decision_records: [id],
    });
    expect((await session.log()).map(({ kind }) => kind)).toEqual(["decision", "tool_result"]);
  });
});

describe("where we differ from the specifications on purpose", () => {
  it("all effective base policies must pass, highest priority first", async () => {
    const policies = [policy("a", "true"), policy("b", "false"), policy("c", "true", { priority: 5 })];
    const { allowed, reason, lineage } = await decisionOn(policies);
    expect({ allowed, reason }).toEqual({ allowed: false, reason: "b denies" });
    expect(lineage.policies.map(({ name }) => name)).toEqual(["c", "a", "b"]);
  });

  it("each denial may be flipped, by an override of its own", async () => {
    const policies = [policy("a", "false"), policy("b", "false"), override("o", ["a"]), override("n", ["b"])];
    const { outcome, lineage } = await decisionOn(policies);
    expect(outcome).toBe("allowed_by_exception");
    expect(lineage.policies.map(({ name, override: by }) => [name, by])).toEqual([
      ["a", "o"],
      ["b", "n"],
    ]);
    expect(lineage.override).toMatchObject({ name: "o" });
  });

  it("the rest are still consulted after a flip: one that stands denies", async () => {
    const policies = [
      policy("a", "false", { priority: 1 }),
      policy("b", "false"),
      policy("c", "true"),
      override("o", ["a"]),
    ];
    const { outcome, reason, lineage } = await decisionOn(policies);
    expect({ outcome, reason }).toEqual({ outcome: "denied", reason: "b denies" });
    expect(lineage.policies).toMatchObject([
      { name: "a", base_decision: "deny", override: "o" },
      { name: "b", base_decision: "deny", override: null },
      { name: "c", base_decision: "allow" },
    ]);
    expect(lineage.override).toBeNull();
  });

  it("an override cannot override an override", () => {
    const nested = definitionOf([denied, override("o", ["p"]), override("n", ["o"])]);
    const { summary } = readDefinitions("f.yaml", Buffer.from(nested));
    expect(summary.diagnostics.map(({ message }) => message)).toEqual([
      "`o` is an override, and overrides cannot be overridden",
    ]);
  });

  it("modify_params merges shallowly", async () => {
    const set = override("o", ["p"], { action: "modify_params", params: { filter: { pilots: false } } });
    const { params } = await decisionOn([denied, set], { filter: { region: "eu" }, limit: 5 });
    expect(params).toEqual({ filter: { pilots: false }, limit: 5 });
  });

  it("conditions see the original params, and then the changed ones", async () => {
    const policies = [
      policy("a", "params.limit < 5", { priority: 1 }),
      policy("b", "params.limit == 10"),
      override("o", ["a"], { action: "modify_params", params: { limit: 1 } }),
    ];
    const seen = (when: string): Policy => override("n", ["b"], { when, reason: "limit {{ params.limit }}" });
    expect(await decisionOn([...policies, seen("params.limit != 10")], { limit: 20 })).toMatchObject({
      allowed: true,
      because: ["o applies", "limit 20"],
      params: { limit: 1 },
    });
    expect(await decisionOn([...policies, seen("params.limit == 20")], { limit: 20 })).toMatchObject({
      allowed: false,
      because: ["the params set by `o` do not pass `b`: b denies"],
    });
  });

  it("a result counts only for a call that a check allowed, and once", async () => {
    const policies = [
      { ...policy("p", "params.ok"), name: "login_ok" },
      { name: "login_first", requires: ["login"] },
    ];
    const documents = [
      { id: "login", type: "policy", tool: "login", policies: policies.slice(0, 1) },
      { id: "later", type: "policy", tool: "later", policies: policies.slice(1) },
    ].map((each) => JSON.stringify({ decision: each }));
    const session = sessionWith(documents.join("\n---\n"));
    const later = async (): Promise<boolean> => (await session.ask("later")).allowed;
    expect((await session.ask("login", { ok: false })).allowed).toBe(false);
    expect(await session.result("login")).toMatchObject({ linked: false });
    expect(await later()).toBe(false);
    await session.ask("login", { ok: true });
    expect(await session.result("login", false)).toMatchObject({ linked: true });
    expect(await session.result("login")).toMatchObject({ linked: false });
    expect(await later()).toBe(false);
    await session.ask("login", { ok: true });
    expect(await session.result("login")).toMatchObject({ linked: true });
    expect(await later()).toBe(true);
  });

  it("changed params must pass every policy that no override flipped", async () => {
    const policies = [
      policy("a", "params.limit < 5", { priority: 1 }),
      policy("b", "params.limit == 10"),
      override("o", ["a"], { action: "modify_params", params: { limit: 1 } }),
    ];
    expect(await decisionOn(policies, { limit: 10 })).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/^the params set by `o` do not pass `b`: /) as string,
      params: { limit: 10 },
    });
  });

  it("two overrides that set one param differently deny", async () => {
    const sets = (name: string, overridden: string, limit: number): Policy =>
      override(name, [overridden], { action: "modify_params", params: { limit } });
    const both = [policy("a", "false"), policy("b", "false")];
    expect(await decisionOn([...both, sets("o", "a", 1), sets("n", "b", 2)], { limit: 9 })).toMatchObject({
      outcome: "denied",
      reason: "`o` and `n` set `limit` differently",
      params: { limit: 9 },
    });
    expect(await decisionOn([...both, sets("o", "a", 1), sets("n", "b", 1)])).toMatchObject({
      allowed: true,
      params: { limit: 1 },
    });
  });

  it("the reason of a denial is the first standing one's", async () => {
    const policies = [
      policy("a", "false", { priority: 3 }),
      policy("b", "false", { priority: 1 }),
      policy("c", "false", { priority: 2 }),
      override("o", ["a"]),
    ];
    expect(await decisionOn(policies)).toMatchObject({
      reason: "c denies",
      because: ["c denies", "b denies"],
    });
  });

  it("an error in a policy's condition denies", async () => {
    for (const expression of ["params.nowhere > 1", "params.n > 'a'", "params.n", "params.nowhere or true"]) {
      const decision = await decisionOn([policy("p", expression)], { n: 1 });
      expect([expression, decision.outcome, decision.warnings.length]).toEqual([expression, "denied", 1]);
    }
  });

  it("an error in an override's condition: it does not apply, and the next may", async () => {
    const failing = override("o", ["p"], { when: "params.nowhere > 1" });
    const alone = await decisionOn([denied, failing]);
    expect(alone).toMatchObject({ outcome: "denied", reason: "p denies" });
    expect(detailsOf(alone)["o"]?.left_out).toBe("it could not be evaluated: `params.nowhere` is missing");
    expect(await decisionOn([denied, failing, override("n", ["p"])])).toMatchObject({ reason: "n applies" });
  });

  it("max_applications counts calls that were finally allowed", async () => {
    const session = sessionWith(
      definitionOf([denied, policy("q", "params.ok"), override("o", ["p"], { max_applications: 1 })]),
    );
    const outcomes: string[] = [];
    for (const ok of [false, false, true, true]) outcomes.push((await session.ask("t", { ok })).outcome);
    expect(outcomes).toEqual(["denied", "denied", "allowed_by_exception", "denied"]);
  });
});

const samplePath = fileURLToPath(new URL("../../decisions/data-science-agent.yaml", import.meta.url));

describe("the worked example: how did Enterprise segment retention change vs last quarter?", () => {
  const sample = readFileSync(samplePath, "utf8");
  const context = {
    session: { query: { audience: "ceo", metric_type: "retention", segment: "enterprise" } },
  };

  it("step 1, metric selection: revenue retention required for CEO audience", async () => {
    const session = sessionWith(sample);
    const { decisions, ...said } = await session.ask(
      "select_metric",
      { name: "revenue_retention" },
      { context },
    );
    expect(said).toMatchObject({
      allowed: true,
      outcome: "allowed",
      reason: "Revenue retention required for CEO audience",
    });
    expect(decisions[0]?.lineage).toMatchObject({
      inputs: [
        { source: "session", keys: ["query.audience"] },
        { source: "params", keys: ["name"] },
      ],
      entities: [{ type: "segment", id: "enterprise" }],
      policies: [{ name: "metric_selection", version: "2.1.0", base_decision: "allow" }],
      conditions: [
        { name: "audience_check", result: true, inputs_used: ["session.query.audience", "params.name"] },
      ],
      override: null,
    });
  });

  it("step 1, another metric: denied, and told which", async () => {
    const { allowed, reason } = await sessionWith(sample).ask(
      "select_metric",
      { name: "logo_retention" },
      { context },
    );
    expect([allowed, reason]).toEqual([
      false,
      "Reports for executives use revenue retention, not logo_retention",
    ]);
  });

  it("step 2, customer filter: denied for want of criteria, overridden by excluding pilots", async () => {
    const session = sessionWith(sample);
    await session.ask("select_metric", { name: "revenue_retention" }, { context });
    await session.result("select_metric");
    const { decisions, ...said } = await session.ask(
      "filter_customers",
      { segment: "enterprise" },
      { context },
    );
    expect(said).toMatchObject({
      allowed: true,
      outcome: "allowed_by_exception",
      reason: "Excluding pilot accounts (churn at 3x rate, excluded from board metrics since Q2 2024)",
      params: { segment: "enterprise", exclude_pilots: true },
    });
    expect(decisions[0]?.lineage).toMatchObject({
      policies: [
        { name: "metric_first", base_decision: "allow" },
        {
          name: "customer_inclusion",
          version: "3.0.0",
          base_decision: "deny",
          denial_reason: "Must specify customer filter criteria",
          override: "exclude_pilots_from_retention",
        },
      ],
      override: {
        name: "exclude_pilots_from_retention",
        version: "2.0.0",
        overrides: ["customer_inclusion"],
        action: "modify_params",
        condition: "session.query.metric_type in ('retention', 'churn')",
      },
    });
  });

  it.each([
    ["the criteria are given", { segment: "enterprise", filter: "active" }, context, "allowed"],
    [
      "the query is about something else, so the denial stands",
      { segment: "enterprise" },
      { session: { query: { metric_type: "revenue" } } },
      "denied",
    ],
    ["there is no query context, so the denial stands", { segment: "enterprise" }, { session: {} }, "denied"],
    [
      "the query context is that of the last call that sent one",
      { segment: "enterprise" },
      {},
      "allowed_by_exception",
    ],
  ])("step 2: %s", async (_case, params, given, outcome) => {
    const session = sessionWith(sample);
    await session.ask("select_metric", { name: "revenue_retention" }, { context });
    await session.result("select_metric");
    const result = await session.ask("filter_customers", params, { context: given });
    expect(result.outcome).toBe(outcome);
    if (outcome === "denied") expect(result.reason).toBe("Must specify customer filter criteria");
  });

  it("the acquired company override: the post-acquisition period", async () => {
    const session = sessionWith(sample);
    await session.ask("select_metric", { name: "revenue_retention" }, { context });
    await session.result("select_metric");
    const acquired = { session: { acquired: { name: "Initech", date: "2025-11-01" } } };
    const params = { period: "calendar_2025", from: "2025-01-01" };
    expect(await session.ask("select_period", params, { context: acquired })).toMatchObject({
      outcome: "allowed_by_exception",
      reason: "Using post-acquisition period for Initech (acquired 2025-11-01)",
      params: { period: "calendar_2025", from: "2025-11-01" },
    });
    expect(await session.ask("select_period", params, { context: { session: {} } })).toMatchObject({
      outcome: "denied",
      reason: "Board reports use fiscal periods",
    });
  });

  const steps: readonly [string, JsonObject][] = [
    ["select_metric", { name: "revenue_retention" }],
    ["select_period", { period: "fiscal_2025_q4" }],
    ["filter_customers", { segment: "enterprise" }],
    ["read_source", { source: "finance" }],
  ];

  it("4 decisions recorded in session", async () => {
    const session = sessionWith(sample);
    for (const [tool, params] of steps) {
      expect(await session.ask(tool, params, { context })).toMatchObject({ allowed: true });
      await session.result(tool);
    }
    const log = await session.log();
    expect(log.filter(({ kind }) => kind === "decision")).toHaveLength(4);
    expect(log.filter(({ kind }) => kind === "tool_result")).toMatchObject(
      steps.map(([tool]) => ({ tool, ok: true, decision_records: [expect.any(String)] })),
    );
  });

  it("the final output: the methodology, per which policy, consistent with what, and how many decisions", async () => {
    const session = sessionWith(sample);
    const [before] = (
      await session.ask("filter_customers", { segment: "enterprise" }, { context, session_id: "s-0" })
    ).decisions;
    const allowed: Record<string, string> = {};
    for (const [tool, params] of steps) {
      const { decisions } = await session.ask(tool, params, { context });
      await session.result(tool, tool !== "read_source");
      allowed[tool] = decisions[0]?.record_id ?? "";
    }
    const [after] = (await session.ask("filter_customers", { segment: "enterprise" }, { context })).decisions;
    expect((await session.methodology()).split("\n")).toEqual([
      "Session s-1, 2026-03-02 12:00:00 UTC",
      "",
      "Methodology:",
      "- select_metric: Revenue retention required for CEO audience",
      "  (per metric_selection v2.1.0; call succeeded)",
      '- select_period: period = "fiscal_2025_q4"',
      "  (per metric_first v1.0.0, time_period_selection v1.0.0; call succeeded)",
      "- filter_customers: Excluding pilot accounts (churn at 3x rate, excluded from board metrics since Q2 2024); sets exclude_pilots = true",
      `  (per exclude_pilots_from_retention v2.0.0, differs from ${before?.record_id ?? ""}; call succeeded)`,
      '- read_source: source = "finance" (per data_source v1.5.0; call failed)',
      "- filter_customers: Excluding pilot accounts (churn at 3x rate, excluded from board metrics since Q2 2024); sets exclude_pilots = true",
      `  (per exclude_pilots_from_retention v2.0.0, consistent with ${allowed["filter_customers"] ?? ""}, differs from ${before?.record_id ?? ""})`,
      "",
      "Sources: session (query.audience, query.metric_type), params (name, period, filter, source), facts (succeeded.select_metric, calls.data_source)",
      "",
      "[5 decisions recorded in session]",
      "",
    ]);
    expect(after?.outcome).toBe("allowed_by_exception");
  });

  it("the final output of the four steps alone: 4 decisions recorded in session", async () => {
    const session = sessionWith(sample);
    for (const [tool, params] of steps) {
      await session.ask(tool, params, { context });
      await session.result(tool);
    }
    const block = await session.methodology();
    expect(block.split("\n").filter((line) => line.startsWith("- "))).toHaveLength(4);
    expect(block).not.toContain("Not done:");
    expect(block).toMatch(/\n\n\[4 decisions recorded in session\]\n$/);
  });

  it("its policies are recorded by the hash of what the file says", async () => {
    const written = parseAllDocuments(sample)[0]?.toJS() as { decision: { policies: readonly unknown[] } };
    const { decisions } = await sessionWith(sample).ask("select_metric", { name: "x" }, { context });
    expect(decisions[0]?.lineage.policies[0]?.hash).toBe(sha256(written.decision.policies[0]));
  });
});
