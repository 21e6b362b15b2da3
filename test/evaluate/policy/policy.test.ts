import { describe, expect, it } from "vitest";
import type { Evaluated, EvaluatedWithErrors } from "../../../src/evaluate/evaluate.js";
import type { DetailedPolicyOutcome } from "../../../src/evaluate/policy/policy-outcome.js";
import { preparePolicy } from "../../../src/evaluate/policy/policy.js";
import { compileInput } from "../../../src/expression/template.js";
import type { OverridePolicy, Policy, PolicyDefinition } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";

const system = { request_time: "2026-03-02T12:00:00.000000Z" };

interface Asked {
  readonly context?: JsonObject;
  readonly facts?: JsonObject;
  readonly system?: JsonObject;
  readonly input?: string;
}

function judge(policies: readonly Policy[] | undefined, asked: Asked = {}): EvaluatedWithErrors {
  const { context = { tool: "t", params: {} }, facts = {}, input } = asked;
  const definition: PolicyDefinition = {
    id: "d",
    type: "policy",
    tool: "t_*",
    ...(policies && { policies }),
  };
  const prepared = preparePolicy(definition, input === undefined ? undefined : compileInput(input));
  return prepared.evaluate({ context, input: undefined, facts, system: asked.system ?? system });
}

function outcomeOf({ outcome }: EvaluatedWithErrors): DetailedPolicyOutcome {
  if (outcome?.type !== "policy") throw new Error("the answer is not that of policies");
  return outcome;
}

const ask = (policies: readonly Policy[], asked: Asked = {}): DetailedPolicyOutcome =>
  outcomeOf(judge(policies, asked));

const base = (name: string, expression: string, more: Partial<Policy> = {}): Policy => ({
  name,
  conditions: [{ name: `${name}_holds`, expression }],
  deny_reason: `${name} denies`,
  ...more,
});

const flip = (
  name: string,
  overrides: readonly string[],
  more: Partial<OverridePolicy> = {},
): OverridePolicy => ({
  name,
  overrides,
  reason: `${name} flips`,
  ...more,
});

const namesOf = ({ policies }: DetailedPolicyOutcome): readonly string[] => policies.map(({ name }) => name);

describe("base policies", () => {
  it("report which of their conditions failed, each once, and not those that held", () => {
    const several = (name: string): Policy => ({
      name,
      conditions: ["true", "1 > 2", "params.n == 1"].map((expression) => ({ name: expression, expression })),
    });
    const { failed_conditions } = judge([several("a"), several("b"), base("c", "true")]);
    expect(failed_conditions).toEqual(["1 > 2", "params.n == 1"]);
  });

  it("are asked by priority, and in the order of the file if that is equal", () => {
    const policies = [
      base("a", "true"),
      base("b", "true", { priority: -1 }),
      base("c", "true", { priority: 5 }),
      base("d", "true", { priority: 0 }),
    ];
    expect(namesOf(ask(policies))).toEqual(["c", "a", "d", "b"]);
  });

  it("give the reason of the first that says one, else name the first", () => {
    const silent = base("a", "true", { version: "1.0.0" });
    expect(ask([silent, base("b", "true", { reason: "b says so" })]).reason).toBe("b says so");
    expect(ask([silent, base("b", "true")]).reason).toBe("Allowed by a v1.0.0");
  });

  it("are left out of account while they are not in effect", () => {
    const later = base("later", "false", { effective_from: "2027-01-01" });
    const over = base("over", "false", { expires_at: "2026-01-01" });
    const judged = judge([later, over]);
    expect(outcomeOf(judged)).toMatchObject({ allowed: true, reason: "No policy constraints" });
    expect(judged.evaluation_details).toEqual({
      later: { version: "0.0.0", result: true, left_out: "not in effect before 2027-01-01", conditions: [] },
      over: { version: "0.0.0", result: true, left_out: "expired on 2026-01-01", conditions: [] },
    });
    expect(namesOf(outcomeOf(judged))).toEqual(["none"]);
  });

  it("are in effect if the time is not known, and overrides with a window are not", () => {
    const policies = [
      base("p", "false", { expires_at: "2020-01-01" }),
      flip("o", ["p"], { expires_at: "2030-01-01" }),
    ];
    for (const odd of [{}, { request_time: 5 }, { request_time: "noon" }])
      expect(ask(policies, { system: odd })).toMatchObject({ allowed: false, reason: "p denies" });
  });
});

describe("a decision without policies", () => {
  it.each([
    ["an empty list", []],
    ["no list", undefined],
  ])("allows the call: %s", (_what, policies) => {
    expect(outcomeOf(judge(policies))).toMatchObject({
      allowed: true,
      outcome: "allowed",
      reason: "No policy constraints",
      policies: [
        {
          name: "none",
          version: "0.0.0",
          hash: "",
          base_decision: "allow",
          denial_reason: null,
          override: null,
        },
      ],
    });
  });
});

describe("the outcome", () => {
  it("names the tool of the context, else that of the definition", () => {
    expect(ask([]).tool).toBe("t");
    expect(ask([], { context: {} })).toMatchObject({ tool: "t_*", params: null });
    expect(ask([], { context: { tool: 7 } }).tool).toBe("t_*");
  });

  it("is the label, and has no targets", () => {
    expect(judge([base("p", "false")])).toMatchObject({ selected_targets: [], selected_labels: ["denied"] });
  });

  it("names every standing denial, and what failed", () => {
    const judged = judge([base("a", "false"), base("b", "false"), base("c", "1 == 2"), flip("o", ["c"])]);
    expect(judged).toMatchObject({
      because: ["a denies", "b denies"],
      failed_conditions: ["false", "1 == 2"],
    });
  });

  it("names the rationale of every override that was applied", () => {
    const judged = judge([base("a", "false"), base("b", "false"), flip("o", ["a"]), flip("n", ["b"])]);
    expect(judged.because).toEqual(["o flips", "n flips"]);
    expect(outcomeOf(judged).reason).toBe("o flips");
  });

  it("names a conflict in addition to a denial that stands, whose reason comes first", () => {
    const overrides = [1, 2].map((x) => flip(`o${x}`, [`p${x}`], { action: "modify_params", params: { x } }));
    const denied = [base("p1", "false"), base("p2", "false")];
    const conflict = "`o1` and `o2` set `x` differently";
    expect(judge([...denied, ...overrides]).because).toEqual([conflict]);
    const both = judge([...denied, base("p3", "false"), ...overrides]);
    expect(both.because).toEqual(["p3 denies", conflict]);
    expect(outcomeOf(both)).toMatchObject({ reason: "p3 denies", set_params: {} });
  });

  it("has the params with what was set, whatever they were", () => {
    const policies = [base("p", "false"), flip("o", ["p"], { action: "modify_params", params: { x: 1 } })];
    const paramsFor = (params: JsonObject[string]): unknown => ask(policies, { context: { params } }).params;
    expect(paramsFor({ x: 0, y: 2 })).toEqual({ x: 1, y: 2 });
    expect(paramsFor("text")).toEqual({ x: 1 });
    expect(ask(policies, { context: {} })).toMatchObject({ params: { x: 1 }, set_params: { x: 1 } });
    expect(ask([base("p", "false"), flip("o", ["p"])], { context: { params: "text" } }).params).toBe("text");
  });

  it("warns if an override is applied with a warning, and only if the call is allowed", () => {
    const warning = flip("o", ["p"], { action: "allow_with_warning" });
    expect(judge([base("p", "false"), warning]).warnings).toEqual(["`o`: o flips"]);
    expect(judge([base("p", "false"), base("q", "false"), warning]).warnings).toEqual([]);
  });

  it("lists the limits that count the call, and those that are not reached", () => {
    const counting = (name: string): Policy => ({ name, max_calls: { count: 2, per: "session" } });
    const policies = [counting("a"), counting("b"), base("c", "true"), flip("o", ["b"])];
    expect(ask(policies, { facts: { calls: { a: 1, b: 2 } } })).toMatchObject({
      allowed: true,
      counted: [
        { name: "max_calls", owner: "a", limited: true },
        { name: "max_calls", owner: "b", limited: false },
      ],
    });
  });
});

describe("an evaluation error", () => {
  it("is a warning with its consequence, and an error under strict", () => {
    const judged = judge([base("p", "nothing.there"), flip("o", ["p"], { when: "missing > 1" })]);
    expect(outcomeOf(judged).allowed).toBe(false);
    expect(judged.warnings).toEqual([
      "`p_holds` of `p` could not be evaluated: `nothing.there` is missing (so it denies)",
      "`o` could not be evaluated: `missing` is missing (so it was not applied)",
    ]);
    expect(judged.errors).toEqual([
      "`p_holds` of `p` could not be evaluated: `nothing.there` is missing",
      "`o` could not be evaluated: `missing` is missing",
    ]);
  });

  it("ignores overrides that were not evaluated", () => {
    const policies = [
      base("p", "true"),
      flip("o", ["p"], { when: "missing" }),
      flip("n", ["p"], { when: "false" }),
    ];
    expect(judge(policies)).toMatchObject({ warnings: [], errors: [] });
  });

  it("can be the input, which then is null", () => {
    const judged = judge([base("p", "exists(input)")], { input: "{{ nowhere }}" });
    const problem = "the input could not be evaluated: `nowhere` is missing";
    expect(judged).toMatchObject({ input_value: null, warnings: [problem], errors: [problem] });
    expect(outcomeOf(judged)).toMatchObject({ allowed: false, reason: "p denies" });
  });
});

describe("the input", () => {
  it("is the whole context if none is written", () => {
    expect(judge([]).input_value).toEqual({ tool: "t", params: {} });
  });

  it("is what conditions see", () => {
    const judged = judge([base("p", "input > 1")], {
      input: "{{ params.n }}",
      context: { params: { n: 2 } },
    });
    expect([judged.input_value, outcomeOf(judged).allowed]).toEqual([2, true]);
  });
});

describe("the details", () => {
  it("describe the verdict of every policy and every override", () => {
    const policies = [
      base("a", "true", { reason: "fine", version: "1.0.0" }),
      base("b", "false", { priority: 1 }),
      base("c", "true"),
      flip("used", ["b"], { when: "params.n == 1", version: "2.0.0" }),
      flip("idle", ["a"]),
      flip("second", ["b"]),
    ];
    const { evaluation_details } = judge(policies, { context: { params: { n: 1 } } });
    expect(Object.keys(evaluation_details)).toEqual(["b", "a", "c", "used", "idle", "second"]);
    const when = { name: "when", expression: "params.n == 1", result: true };
    expect(evaluation_details).toEqual({
      a: {
        version: "1.0.0",
        result: true,
        reason: "fine",
        conditions: [{ name: "a_holds", expression: "true", result: true }],
      },
      b: {
        version: "0.0.0",
        result: false,
        reason: "b denies",
        overridden_by: "used",
        conditions: [{ name: "b_holds", expression: "false", result: false }],
      },
      c: {
        version: "0.0.0",
        result: true,
        conditions: [{ name: "c_holds", expression: "true", result: true }],
      },
      used: { version: "2.0.0", result: true, reason: "used flips", overrides: ["b"], conditions: [when] },
      idle: {
        version: "0.0.0",
        result: false,
        left_out: "there was no denial to override",
        conditions: [],
      },
      second: {
        version: "0.0.0",
        result: false,
        left_out: "there was no denial to override",
        conditions: [],
      },
    });
  });

  const whenOf = (more: Partial<OverridePolicy>, context: JsonObject = {}): unknown => {
    const judged = judge([base("p", "false"), flip("o", ["p"], more)], { context });
    const detail = (judged.evaluation_details as Record<string, { conditions: unknown }>)["o"];
    return [detail?.conditions, outcomeOf(judged).conditions.slice(1)];
  };
  const expression = "n == 1";

  it.each<[string, Partial<OverridePolicy>, JsonObject, boolean, string | undefined]>([
    ["that it held", {}, { n: 1 }, true, undefined],
    ["that it did not hold", {}, { n: 2 }, false, undefined],
    ["that it could not be evaluated", {}, {}, false, "`n` is missing"],
    [
      "that it held although the params could not be filled in",
      { params: { x: "{{ m }}" } },
      { n: 1 },
      true,
      undefined,
    ],
  ])("describe the condition of an override %s", (_claim, more, context, result, error) => {
    const told = { name: "when", expression, result, ...(error !== undefined && { error }) };
    const lineage = { policy: "o", name: "o", expression, result, inputs_used: ["n"] };
    expect(whenOf({ when: expression, ...more }, context)).toEqual([[told], [lineage]]);
  });

  it.each<[string, Partial<OverridePolicy>]>([
    ["it has expired", { expires_at: "2020-01-01" }],
    ["it is not yet in effect", { effective_from: "2030-01-01" }],
    ["its uses cannot be counted", { max_applications: 1 }],
  ])("do not claim that the condition of an override was false if %s", (_why, more) => {
    expect(whenOf({ when: expression, ...more }, { n: 1 })).toEqual([[], []]);
  });
});

describe("the conditions of the lineage", () => {
  it("stay separate if two have the same name, or that of a built-in", () => {
    const policy: Policy = {
      name: "p",
      conditions: [
        { name: "c", expression: "a == 1" },
        { name: "c", expression: "b == 1" },
        { name: "requires", expression: "c == 1" },
      ],
      requires: ["login"],
    };
    expect(ask([policy]).conditions.map(({ expression, inputs_used }) => [expression, inputs_used])).toEqual([
      ["a == 1", ["a"]],
      ["b == 1", ["b"]],
      ["c == 1", ["c"]],
      ["`login` has succeeded in the session", ["facts.succeeded.login"]],
    ]);
  });
});

describe("the paths that a decision depends on", () => {
  const definition = (policies: readonly Policy[]): PolicyDefinition => ({
    id: "d",
    type: "policy",
    tool: "t",
    policies,
  });

  it("is what its policies read, and the facts if it needs them", () => {
    const plain = preparePolicy(definition([base("p", "a.b == 1")]), compileInput("{{ c }}"));
    expect([plain.reads, plain.needs]).toEqual([["c", "a.b"], undefined]);
    const stateful = preparePolicy(
      definition([base("p", "a.b == 1"), flip("o", ["p"], { when: "d" })]),
      undefined,
    );
    expect(stateful.reads).toEqual(["context", "a.b", "d", "facts"]);
    expect(stateful.needs?.uses).toEqual([{ override: "o", most: undefined }]);
  });
});

describe("params that an override changed", () => {
  const recheck = { changes: [] };
  const needsFilter = base("filter", "exists(params.filter)");
  const cap = base("cap", "params.limit <= 100", { deny_reason: "limit {{ params.limit }} is too high" });
  const widen = flip("widen", ["filter"], { action: "modify_params", params: { limit: 500 } });
  const context = { tool: "t", params: { limit: 10 } };

  it("must pass every policy that no override flipped", () => {
    const { allowed, outcome, reason, params, set_params, policies } = ask([needsFilter, cap, widen], {
      context,
      facts: { recheck },
    });
    expect({ allowed, outcome, params, set_params }).toEqual({
      allowed: false,
      outcome: "denied",
      params: { limit: 10 },
      set_params: {},
    });
    expect(reason).toBe("the params set by `widen` do not pass `cap`: limit 500 is too high");
    expect(policies.find(({ name }) => name === "cap")).toMatchObject({
      base_decision: "deny",
      denial_reason: reason,
      override: null,
    });
  });

  it("are described with the conditions that they fail", () => {
    const { evaluation_details, because, failed_conditions } = judge([needsFilter, cap, widen], {
      context,
      facts: { recheck },
    });
    expect(evaluation_details).toMatchObject({
      cap: { result: false, changed_by: ["widen"], conditions: [{ name: "cap_holds", result: false }] },
      filter: { result: false, overridden_by: "widen" },
    });
    expect(because).toEqual(["the params set by `widen` do not pass `cap`: limit 500 is too high"]);
    expect(failed_conditions).toEqual(["exists(params.filter)", "params.limit <= 100"]);
  });

  it.each<[string, readonly Policy[]]>([
    ["they pass", [needsFilter, base("cap", "params.limit <= 1000"), widen]],
    [
      "an override flipped the policy",
      [needsFilter, base("cap", "params.limit <= 5"), widen, flip("o", ["cap"])],
    ],
    ["the policy is not in effect", [needsFilter, { ...cap, expires_at: "2026-01-01" }, widen]],
    ["no param is changed", [needsFilter, cap, flip("o", ["filter"])]],
  ])("are returned if %s", (_why, policies) => {
    expect(ask(policies, { context, facts: { recheck } })).toMatchObject({ allowed: true });
  });

  it("are not checked again in a record of an earlier version, which has no such fact", () => {
    expect(ask([needsFilter, cap, widen], { context })).toMatchObject({
      allowed: true,
      params: { limit: 500 },
    });
  });

  it("are checked by the decisions that do not change them, too", () => {
    const changes = [{ decision: "a", overrides: ["widen", "more"], set_params: { limit: 500 } }];
    expect(ask([cap], { context, facts: { recheck: { changes } } })).toMatchObject({
      allowed: false,
      reason: "the params set by `widen` of `a` and `more` of `a` do not pass `cap`: limit 500 is too high",
    });
  });

  it("are the whole params where the call has none", () => {
    expect(ask([needsFilter, cap, widen], { context: { tool: "t" }, facts: { recheck } }).allowed).toBe(
      false,
    );
    const withoutCap = ask([needsFilter, widen], { context: { tool: "t" }, facts: { recheck } });
    expect(withoutCap).toMatchObject({ allowed: true, params: { limit: 500 } });
  });

  it("are the input again if it is made of them", () => {
    const byInput = base("cap", "input <= 100");
    expect(
      ask([needsFilter, byInput, widen], { context, facts: { recheck }, input: "{{ params.limit }}" }),
    ).toMatchObject({ allowed: false });
  });

  it("must name a path that was read, if it is written", () => {
    const looked = {
      name: "looked",
      read_before_write: { read_tools: ["r"], write_tools: ["t"], path: "params.path" },
    };
    const move = flip("move", ["filter"], { action: "modify_params", params: { path: "b" } });
    const asked = (again: JsonObject): Asked => ({
      context: { tool: "t", params: { path: "a" } },
      facts: { read: { looked: { path: "a", read: true } }, recheck: { changes: [], ...again } },
    });
    const policies = [needsFilter, looked, move];
    expect(ask(policies, asked({ read: { looked: { path: "b", read: true } } })).allowed).toBe(true);
    expect(ask(policies, asked({ read: { looked: { path: "b", read: false } } })).reason).toBe(
      "the params set by `move` do not pass `looked`: `b` must be read with `r` first",
    );
    expect(ask(policies, asked({})).allowed).toBe(false);
  });

  it("do not pass where data was fetched for the original ones", () => {
    const fetched = (param: string): PolicyDefinition => ({
      id: "d",
      type: "policy",
      tool: "t",
      enrich: [
        { endpoint: "e", params: { id: `{{ params.${param} }}` }, into: "customer" },
        { endpoint: "e", into: "rates" },
      ],
      policies: [needsFilter, base("active", "customer.active"), widen],
    });
    const answer = (param: string): DetailedPolicyOutcome =>
      outcomeOf(
        preparePolicy(fetched(param), undefined).evaluate({
          context: { ...context, customer: { active: true } },
          input: undefined,
          facts: { recheck },
          system,
        }),
      );
    expect(answer("limit")).toMatchObject({
      allowed: false,
      reason: "the params set by `widen` do not pass `active`: data was fetched for the original params",
    });
    expect(answer("name")).toMatchObject({ allowed: true });
  });
});

describe("the inputs that conditions read", () => {
  it("are none where the answer is not that of a policy", () => {
    const definition: PolicyDefinition = { id: "d", type: "policy", tool: "t", policies: [base("p", "a")] };
    const answer = { ...judge([base("p", "a")]), outcome: undefined } as unknown as Evaluated;
    expect(preparePolicy(definition, undefined).inputsRead(answer)).toEqual([]);
  });
});

describe("a policy that an override flipped", () => {
  const inside = base("inside", "path_within(params.path, '/repo')", { deny_reason: "{{ params.path }}" });
  const ticket = base("ticket", "exists(params.ticket)");
  const move = flip("move", ["ticket"], { action: "modify_params", params: { path: "{{ params.to }}" } });
  const scratch = flip("scratch", ["inside"], { when: "path_within(params.path, '/tmp')" });
  const cache = flip("cache", ["inside"], { when: "path_within(params.path, '/var/cache')" });
  const facts = { recheck: { changes: [], overridden: true } };
  const moving = (to: string, known: JsonObject = facts): Asked => ({
    context: { tool: "t", params: { path: "/tmp/a", to } },
    facts: known,
  });

  it("denies changed params that the override would not have allowed", () => {
    const judged = judge([inside, ticket, move, scratch], moving("/etc/passwd"));
    const { allowed, reason, set_params, overrides } = outcomeOf(judged);
    expect({ allowed, reason, set_params }).toEqual({
      allowed: false,
      reason: "the params set by `move` do not pass `inside`: /etc/passwd",
      set_params: {},
    });
    expect(overrides.map(({ name }) => name)).toEqual(["move"]);
    expect(judged.evaluation_details).toMatchObject({
      inside: { result: false, changed_by: ["move"] },
      scratch: { result: false, left_out: "its condition does not hold for the changed params" },
    });
    expect(judged.evaluation_details).not.toHaveProperty("inside.overridden_by");
  });

  it.each<[string, string, readonly Policy[], readonly string[]]>([
    ["they pass", "/repo/a", [scratch], ["scratch", "move"]],
    ["the override applies to them too", "/tmp/b", [scratch], ["scratch", "move"]],
    ["another override applies to them", "/var/cache/b", [scratch, cache], ["scratch", "move", "cache"]],
  ])("allows changed params if %s", (_why, to, overrides, applied) => {
    const answer = ask([inside, ticket, move, ...overrides], moving(to));
    expect(answer).toMatchObject({ allowed: true, params: { path: to } });
    expect(answer.overrides.map(({ name }) => name)).toEqual(applied);
  });

  it("is not flipped again by an override that is used up, or whose own params are not part of the call", () => {
    const used = { ...cache, max_applications: 1 };
    const setting = { ...cache, action: "modify_params" as const, params: { extra: 1 } };
    for (const other of [used, setting])
      expect(
        ask([inside, ticket, move, scratch, other], moving("/var/cache/b", { ...facts, uses: { cache: 1 } })),
      ).toMatchObject({ allowed: false });
  });

  it("stays flipped by the override that changes the params, as long as its condition holds", () => {
    const pilots = (when: string): Policy =>
      flip("pilots", ["ticket"], { when, action: "modify_params", params: { exclude_pilots: true } });
    const context = { tool: "t", params: {}, session: { metric: "churn" } };
    expect(
      ask([ticket, pilots("session.metric in ('churn', 'retention')")], { context, facts }),
    ).toMatchObject({
      allowed: true,
      params: { exclude_pilots: true },
    });
    expect(ask([ticket, pilots("not exists(params.exclude_pilots)")], { context, facts })).toMatchObject({
      allowed: false,
      reason: "the params set by `pilots` do not pass `ticket`: ticket denies",
    });
  });

  it("is checked with the params that another decision sets", () => {
    const changes = [{ decision: "a", overrides: ["move"], set_params: { path: "/etc/passwd" } }];
    const known = { recheck: { changes, overridden: true } };
    expect(ask([inside, scratch], moving("", known))).toMatchObject({
      allowed: false,
      reason: "the params set by `move` of `a` do not pass `inside`: /etc/passwd",
    });
  });

  it.each([
    ["reads data that was fetched for the original params", "owner == 'us'", false],
    [
      "reads such data, though the policy allows the changed params",
      "owner == 'us'",
      false,
      "params.path == '/b'",
    ],
    [
      "reads other data, and the policy allows the changed params",
      "params.to == '/b'",
      true,
      "params.path == '/b'",
    ],
    ["reads the input, which may be such data", "input.owner == 'us'", false],
    ["reads such data from the facts", "exists(facts.fetched)", false],
    ["reads other data", "params.to == '/b'", true],
  ])("is not flipped again by an override that %s", (_what, when, allowed, expression = "owner == 'me'") => {
    const definition: PolicyDefinition = {
      id: "d",
      type: "policy",
      tool: "t",
      enrich: [{ endpoint: "e", params: { path: "{{ params.path }}" }, into: "owner" }],
      policies: [base("own", expression), flip("any", ["own"], { when }), ticket, move],
    };
    const scope = {
      context: { tool: "t", params: { path: "/a", to: "/b" }, owner: "us" },
      input: undefined,
      facts: { ...facts, fetched: {} },
      system,
    };
    expect(outcomeOf(preparePolicy(definition, undefined).evaluate(scope)).allowed).toBe(allowed);
  });

  it("is not checked again in a record of an earlier version, which has no such fact", () => {
    const known = { recheck: { changes: [] } };
    expect(ask([inside, ticket, move, scratch], moving("/etc/passwd", known))).toMatchObject({
      allowed: true,
    });
  });
});
