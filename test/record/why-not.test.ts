import { describe, expect, it } from "vitest";
import { decide } from "../../src/decide/decide.js";
import type { DecisionRequest, World } from "../../src/decide/decide.js";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import type { DecisionError } from "../../src/errors.js";
import type { Case, Definition, GateRule } from "../../src/model/definition.js";
import type { Fetched } from "../../src/model/endpoint.js";
import type { JsonObject } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import { Records } from "../../src/record/records.js";
import type { WhyNot } from "../../src/record/why-not.js";
import { explainWhyNot } from "../../src/record/why-not.js";
import { ReplayableDefinitions } from "../../src/replay/replayable-definitions.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { switchOn, tableOf, weightedOf } from "../evaluate/definitions.js";
import { noon, worldWith } from "../properties/worlds.js";

interface Made {
  readonly definition: object;
  readonly context?: JsonObject;
  readonly environment?: object;
  readonly request?: Partial<DecisionRequest>;
  readonly world?: Partial<World>;
}

/** Records a decision, and explains why it did not choose a label. */
async function whyNot(label: string, made: Made): Promise<WhyNot> {
  const { line, definitions } = await recorded(made);
  return explainWhyNot(line, await definitions.get(line.record), label);
}

async function recorded({ definition, context = {}, environment = {}, request, world }: Made): Promise<{
  readonly line: { readonly record: DecisionRecord; readonly text: string };
  readonly definitions: ReplayableDefinitions;
}> {
  const store = openMemoryStore();
  const records = new Records(store, {
    newNote: () => ({ record_id: "", timestamp: noon }),
    onWarning: () => undefined,
  });
  const plain = worldWith(definition as Definition);
  const loaded = await plain.definitions.find("");
  const found = {
    ...loaded,
    environment: environment as JsonObject,
    environment_hash: sha256Hex(canonicalJson(environment as JsonObject)),
  };
  const definitions = { find: () => Promise.resolve(found) };
  const { id } = definition as Definition;
  await decide({ decision_id: id, context, ...request }, { ...plain, definitions, records, ...world });
  const line = await store.log.find({ latest: true });
  if (!("record" in line) || line.record.kind !== "decision") throw new Error("nothing was recorded");
  return { line: { ...line, record: line.record }, definitions: new ReplayableDefinitions(store) };
}

/** The parts of an answer that the tables below compare. */
const shortened = ({ summary, change, reason }: WhyNot): object => ({
  summary,
  ...(change && { change: change.paths.map(({ path, to }) => `${path} = ${JSON.stringify(to)}`).join(", ") }),
  ...(reason && {
    reason: reason.message.replace(/^no change of the input was found that selects `.*?`: /, ""),
  }),
});

interface Row {
  readonly name: string;
  readonly made: Made;
  readonly label: string;
  readonly summary: string;
  readonly change?: string;
  readonly reason?: string;
}

const quality = switchOn(
  [
    { condition: "input >= 0.8 and not blocked", target: "stage-deploy", label: "Pass" },
    { condition: "input < 0.8", target: "stage-rework", label: "Fail" },
    { condition: "input < 0.5", target: "stage-stop", label: "Stop" },
  ],
  { input: "{{ artifact.score }}" },
);
const tiers = (hit_policy: "priority" | "unique" | "any" | "collect"): Definition =>
  tableOf(
    [
      { condition: "a > 1", label: "A", target: "t", priority: 5 },
      { condition: "b > 1", label: "B", target: "t", priority: 1 },
    ],
    { hit_policy },
  );
const split = (cases: readonly Case[]): Definition => weightedOf(cases, { input: "{{ user }}" });
const halves = split([
  { label: "A", target: "a", weight: 90 },
  { condition: "plan == 'pro'", label: "B", target: "b", weight: 10 },
  { label: "Zero", target: "z", weight: 0 },
]);

describe("why a branch was not chosen", () => {
  it.each<Row>([
    {
      name: "a part of its condition is false",
      made: { definition: quality, context: { artifact: { score: 0.7 }, blocked: false } },
      label: "Pass",
      summary: "Pass was not chosen because `input >= 0.8` is false",
      change: "artifact.score = 0.8",
    },
    {
      name: "a part cannot be evaluated",
      made: { definition: quality, context: { artifact: { score: 0.9 } } },
      label: "Pass",
      summary: "Pass was not chosen because `not blocked` could not be evaluated: `blocked` is missing",
      change: "blocked = false",
    },
    {
      name: "an earlier case matches, always",
      made: { definition: quality, context: { artifact: { score: 0.3 } } },
      label: "Stop",
      summary: "Stop was not chosen because `Fail` matches before it",
      reason: "it is masked by `Fail`",
    },
    {
      name: "a case matches, so that the default is not taken",
      made: { definition: quality, context: { artifact: { score: 0.3 } } },
      label: "default",
      summary: "default was not chosen because `Fail` matches",
      change: "artifact.score = 0.8",
    },
    {
      name: "the input cannot be evaluated",
      made: { definition: quality, context: {} },
      label: "Fail",
      summary:
        "Fail was not chosen because `input < 0.8` could not be evaluated: `input` is missing; " +
        "the input could not be evaluated, so the default was taken: `artifact.score` is missing",
      change: "artifact.score = 0.5",
    },
    {
      name: "a rule with a lower priority number matches",
      made: { definition: tiers("priority"), context: { a: 2, b: 2 } },
      label: "A",
      summary: "A was not chosen because `B` matches with priority 1, which comes before priority 5",
      change: "b = 1",
    },
    {
      name: "another rule matches where one may",
      made: { definition: tiers("unique"), context: { a: 2, b: 0 } },
      label: "B",
      summary: "B was not chosen because `b > 1` is false; `A` matches, and no other rule may match then",
      change: "a = 1, b = 2",
    },
    {
      name: "an earlier rule gives the same answer",
      made: { definition: tiers("any"), context: { a: 2, b: 2 } },
      label: "B",
      summary: "B was not chosen because `A` matches before it",
      change: "a = 1",
    },
    {
      name: "its rule does not match among all that do",
      made: { definition: tiers("collect"), context: { a: 2, b: 0 } },
      label: "B",
      summary: "B was not chosen because `b > 1` is false",
      change: "b = 2",
    },
    {
      name: "the roll is in the interval of another branch",
      made: { definition: halves, context: { user: "u-17", plan: "pro" } },
      label: "B",
      summary:
        "B was not chosen because rolled 16.610721089386626 of 100, in the interval of `A` from 0 to 90; " +
        "that of `B` is from 90 to 100",
      change: 'user = "u-30"',
    },
    {
      name: "it takes no part in the draw",
      made: { definition: halves, context: { user: "u-17", plan: "free" } },
      label: "B",
      summary:
        "B was not chosen because `plan == 'pro'` is false; rolled 14.949648980447964 of 90, " +
        "in the interval of `A` from 0 to 90; `B` takes no part",
      change: 'plan = "pro", user = "u-30"',
    },
    {
      name: "its weight is 0",
      made: { definition: halves, context: { user: "u-17", plan: "free" } },
      label: "Zero",
      summary:
        "Zero was not chosen because rolled 14.949648980447964 of 90, in the interval of `A` from 0 to 90; " +
        "the weight of `Zero` is 0",
      reason: "its weight is 0",
    },
    {
      name: "a guardrail blocks it",
      made: {
        definition: switchOn([{ condition: "x == 1", target: "stage-old", label: "Old" }], {
          guardrails: [{ type: "no_disabled_targets", disabled_stages: ["stage-old"] }],
        }),
        context: { x: 1 },
      },
      label: "Old",
      summary:
        "Old was not chosen because the guardrail `no_disabled_targets` blocks it: Target 'stage-old' is disabled",
      reason: "the guardrail `no_disabled_targets` blocks it: Target 'stage-old' is disabled",
    },
    {
      name: "a guardrail would block it",
      made: {
        definition: switchOn([{ condition: "x == 1", target: "stage-old", label: "Old" }], {
          guardrails: [{ type: "no_disabled_targets", disabled_stages: ["stage-old"] }],
        }),
        context: { x: 2 },
      },
      label: "Old",
      summary: "Old was not chosen because `x == 1` is false",
      reason: "the guardrail `no_disabled_targets` blocks it: Target 'stage-old' is disabled",
    },
    {
      name: "it depends on the time",
      made: {
        definition: switchOn([{ condition: "starts_with(system.request_time, '1999')", label: "Old" }]),
      },
      label: "Old",
      summary: "Old was not chosen because `starts_with(system.request_time, '1999')` is false",
      reason: "`starts_with(system.request_time, '1999')` is false, whatever the input is",
    },
    {
      name: "a part that is not analysed is false for all values that are tried",
      made: { definition: switchOn([{ condition: "x * x == 2", label: "Root" }]), context: { x: 1 } },
      label: "Root",
      summary: "Root was not chosen because `x * x == 2` is false",
      reason: "`x * x == 2` is not analysed, so only some values were tried",
    },
  ])("$name", async ({ made, label, summary, change, reason }) => {
    const expected = { summary, ...(change && { change }), ...(reason && { reason }) };
    expect(shortened(await whyNot(label, made))).toEqual(expected);
  });

  it("is told part by part, with the values that each one read", async () => {
    const context = { artifact: { score: 0.7 } };
    expect(await whyNot("Pass", { definition: quality, context })).toEqual({
      record_id: "",
      decision_id: "decision-under-test",
      label: "Pass",
      selected: ["Fail"],
      chosen: false,
      summary:
        "Pass was not chosen because `input >= 0.8` is false; " +
        "`not blocked` could not be evaluated: `blocked` is missing",
      conditions: [
        { label: "Pass", text: "input >= 0.8", result: false, values: { "artifact.score": 0.7 } },
        {
          label: "Pass",
          text: "not blocked",
          result: null,
          error: "`blocked` is missing",
          values: {},
          missing: ["blocked"],
        },
      ],
      overruled_by: [],
      change: {
        paths: [
          { path: "artifact.score", from: 0.7, to: 0.8 },
          { path: "blocked", to: false },
        ],
        input: { artifact: { score: 0.8 }, blocked: false },
        result: { selected_labels: ["Pass"], selected_targets: ["stage-deploy"] },
        smallest: true,
        assumes: [],
      },
      reason: null,
    });
  });

  it("says that a label was chosen", async () => {
    const context = { artifact: { score: 0.7 } };
    expect(await whyNot("Fail", { definition: quality, context })).toMatchObject({
      summary: "Fail was chosen",
      chosen: true,
      conditions: [{ text: "input < 0.8", result: true }],
      overruled_by: [],
      change: null,
      reason: null,
    });
  });

  it("has the roll and the interval of the branch as numbers", async () => {
    const { overruled_by } = await whyNot("B", {
      definition: halves,
      context: { user: "u-17", plan: "pro" },
    });
    expect(overruled_by).toMatchObject([
      { type: "roll", name: "A", roll: 16.610721089386626, total_weight: 100, interval: [90, 100] },
    ]);
  });

  it("names the guardrail that escalated the answer", async () => {
    const definition = switchOn([{ condition: "x == 1", target: "stage-x", label: "X" }], {
      guardrails: [{ type: "requires_approval", approval_target: "stage-ok", on_fail: "escalate" }],
    });
    expect(await whyNot("X", { definition, context: { x: 1 } })).toMatchObject({
      selected: ["stage-ok"],
      overruled_by: [{ type: "guardrail", name: "requires_approval" }],
      reason: { code: "guardrail" },
    });
  });
});

const loan = {
  id: "loan",
  type: "scored",
  evaluators: [
    {
      name: "credit",
      rules: [
        {
          id: "poor",
          if: {
            any: [{ field: "score", op: "lt", value: 500 }, { none: [{ field: "open", op: "present" }] }],
          },
          then: { decision: "reject", weight: 0.8 },
        },
        {
          id: "good",
          if: {
            all: [
              { field: "score", op: "gte", value: 700 },
              { field: "defaults", op: "eq", value: 0 },
            ],
          },
          then: { decision: "approve", weight: 0.9 },
        },
        { id: "old", when: "score >= 0 and age > 70", then: { decision: "reject", weight: 0.1 } },
      ],
    },
    { name: "house", static: { decision: "review", weight: 0.3 } },
  ],
  scoring: { strategy: "max_weight" },
};

describe("why a decision was not voted for", () => {
  it("lists the votes for others, and the parts of the rules that vote for it", async () => {
    const found = await whyNot("approve", { definition: loan, context: { score: 520, open: 1 } });
    expect(found.summary).toBe(
      "approve was not chosen because `score >= 700` is false; `defaults = 0` is false: `defaults` is missing; " +
        "`house` votes `review` with weight 0.3",
    );
    expect(found.conditions).toMatchObject([
      { label: "credit / good", text: "score >= 700", result: false, values: { score: 520 } },
      { label: "credit / good", text: "defaults = 0", result: false, missing: ["defaults"] },
    ]);
    expect(found.change?.paths).toEqual([
      { path: "score", from: 520, to: 700 },
      { path: "defaults", to: 0 },
    ]);
  });

  it("names a rule of the same evaluator that matches before, and how the votes were resolved", async () => {
    const poor = { definition: loan, context: { score: 300, defaults: 0, age: 80 } };
    expect((await whyNot("approve", poor)).overruled_by).toMatchObject([
      { type: "earlier_match", name: "credit / poor", message: "`poor` of `credit` matches before `good`" },
      { type: "vote", name: "credit" },
      { type: "vote", name: "house" },
    ]);
    const review = await whyNot("review", poor);
    expect(review.overruled_by).toMatchObject([
      { type: "vote", name: "credit", message: "`credit` votes `reject` with weight 0.8" },
      { type: "strategy", name: "max_weight" },
    ]);
    expect(review.change?.paths).toHaveLength(2);
  });

  it("writes nested conditions as one part", async () => {
    const { conditions } = await whyNot("reject", {
      definition: loan,
      context: { score: 600, open: 1, defaults: 3 },
    });
    expect(conditions.map(({ text, result }) => [text, result])).toEqual([
      ["score < 500 or (not (open present))", false],
      ["score >= 0", true],
      ["age > 70", null],
    ]);
  });

  it("can be asked for a decision that only a custom evaluator votes for", async () => {
    const definition = {
      id: "d",
      type: "scored",
      evaluators: [
        { name: "own", custom: "own" },
        { name: "house", static: { decision: "hold", weight: 1 } },
      ],
    };
    const vote = { decision: "go", weight: 0.5, reason: "", evaluator_name: "own", metadata: {} };
    const voters = new Map([["own", () => Promise.resolve(vote)]]);
    const found = await whyNot("go", { definition, context: { x: 1 }, world: { voters } });
    expect(found).toMatchObject({ chosen: false, change: null, reason: { code: "facts" } });
  });
});

const gateOf = (rules: readonly Partial<GateRule>[], more: object = {}): object => ({
  id: "gate",
  type: "gate",
  action: { org: "o", domain: "d", name: "n" },
  rules: rules.map((each) => ({ tier: "T2", severity: 50, ...each })),
  ...more,
});
const wire = gateOf(
  [
    { id: "sanctioned", tier: "T1", when: "country in ('XX', 'YY')", status: "RED" },
    { id: "paid", applies_when: "exists(paid)", when: "paid", status: "GREEN-SKIP", severity: 60 },
    { id: "large", when: "is_large", status: "YELLOW", suppresses: ["routine"] },
    { id: "routine", tier: "T3", severity: 10, when: "true", status: "GREEN" },
  ],
  {
    computed: { is_large: "amount > 10000" },
    context_schema: {
      type: "object",
      required: ["amount", "country"],
      properties: { amount: { type: "number", minimum: 0 }, country: { type: "string" } },
    },
  },
);

describe("why a gate has another status", () => {
  it.each<Row>([
    {
      name: "a rule suppresses the one with the status",
      made: { definition: wire, context: { amount: 25000, country: "DE" } },
      label: "GREEN",
      summary:
        "GREEN was not chosen because `large` matches and suppresses `routine`; " +
        "`large` (T2, severity 50) decides YELLOW",
      change: "amount = 10000",
    },
    {
      name: "no rule with the status matches",
      made: { definition: wire, context: { amount: 25000, country: "DE" } },
      label: "RED",
      summary:
        "RED was not chosen because `country in ('XX', 'YY')` is false; `large` (T2, severity 50) decides YELLOW",
      change: 'country = "XX"',
    },
    {
      name: "required data is missing",
      made: { definition: wire, context: { amount: 5 } },
      label: "GREEN",
      summary:
        "GREEN was not chosen because the context does not match the schema: `country` is missing; " +
        "`sanctioned` could not be evaluated: `country` is missing",
      change: 'country = "text"',
    },
    {
      name: "the rule does not apply",
      made: { definition: wire, context: { amount: 5, country: "DE" } },
      label: "paid",
      summary:
        "paid was not chosen because `exists(paid)` is false; `paid` could not be evaluated: `paid` is missing; " +
        "`routine` (T3, severity 10) decides GREEN",
      change: "paid = true",
    },
    {
      name: "another rule outranks the one that matches",
      made: { definition: wire, context: { amount: 25000, country: "XX" } },
      label: "large",
      summary: "large was not chosen because `sanctioned` (T1, severity 50) decides RED and outranks `large`",
      change: 'country = "text"',
    },
    {
      name: "no rule decides",
      made: { definition: gateOf([{ id: "r", when: "a == 1", status: "RED" }]), context: { a: 0 } },
      label: "RED",
      summary: "RED was not chosen because `a == 1` is false; no rule decides, so the gate is YELLOW",
      change: "a = 1",
    },
    {
      name: "a limit is used up",
      made: {
        definition: gateOf([{ id: "g", when: "a == 1", status: "GREEN" }], {
          max_calls: { count: 1, per: "session" },
        }),
        context: { a: 1 },
      },
      label: "GREEN",
      summary: "GREEN was not chosen because there is no recorded session, so it is RED",
      reason: "it depends on the recorded facts or on the time, not on the input alone",
    },
    {
      name: "no rule has the status",
      made: { definition: gateOf([{ id: "g", when: "a == 1", status: "GREEN" }]), context: { a: 1 } },
      label: "RED",
      summary: "RED was not chosen because `g` (T2, severity 50) decides GREEN",
      reason: "no input does",
    },
  ])("$name", async ({ made, label, summary, change, reason }) => {
    const expected = { summary, ...(change && { change }), ...(reason && { reason }) };
    expect(shortened(await whyNot(label, made))).toEqual(expected);
  });

  it("takes a rule that decides as chosen", async () => {
    const made = { definition: wire, context: { amount: 25000, country: "DE" } };
    expect(await whyNot("large", made)).toMatchObject({ chosen: true, selected: ["YELLOW"] });
  });
});

const refunds = {
  id: "refunds",
  type: "policy",
  tool: "issue_refund",
  policies: [
    {
      name: "small",
      conditions: [{ name: "amount", expression: "params.amount <= 100 and not closed" }],
      deny_reason: "{{ params.amount }} is too much",
    },
    {
      name: "later",
      effective_from: "2999-01-01T00:00:00Z",
      conditions: [{ name: "never", expression: "false" }],
    },
    { name: "manager", overrides: ["small"], when: "session.role == 'manager' and denial.policy == 'small'" },
  ],
};
const call = (amount: number, more: JsonObject = {}): JsonObject => ({
  tool: "issue_refund",
  params: { amount },
  closed: false,
  ...more,
});
const withPolicy = (policy: object): object => ({ ...refunds, policies: [policy] });

describe("why a call has another outcome", () => {
  it.each<Row>([
    {
      name: "a policy denies",
      made: { definition: refunds, context: call(150) },
      label: "allowed",
      summary:
        "allowed was not chosen because `params.amount <= 100` is false; `small` denies: 150 is too much",
      change: "params.amount = 100",
    },
    {
      name: "no override applies to the denial",
      made: { definition: refunds, context: call(150, { session: { role: "agent" } }) },
      label: "allowed_by_exception",
      summary:
        "allowed_by_exception was not chosen because `session.role == 'manager'` is false; " +
        "`small` denies: 150 is too much; `manager` does not apply: its condition does not hold",
      change: 'session.role = "manager"',
    },
    {
      name: "no policy denies",
      made: { definition: refunds, context: call(50) },
      label: "denied",
      summary: "denied was not chosen because no policy denies the call",
      change: "params.amount = 101",
    },
    {
      name: "an override applies",
      made: { definition: refunds, context: call(150, { session: { role: "manager" } }) },
      label: "denied",
      summary: "denied was not chosen because `manager` overrides the denial of `small`",
      change: 'session.role = "another"',
    },
    {
      name: "a tool has not succeeded",
      made: { definition: withPolicy({ name: "verified", requires: ["verify"] }), context: call(1) },
      label: "allowed",
      summary:
        "allowed was not chosen because `verify` has succeeded in the session could not be evaluated: " +
        "there is no recorded session; `verified` denies: there is no recorded session",
      reason:
        "`verify` has succeeded in the session could not be evaluated: there is no recorded session, whatever the input is",
    },
    {
      name: "no policy can be denied by this tool",
      made: {
        definition: withPolicy({
          name: "own",
          conditions: [{ name: "t", expression: "tool == 'issue_refund'" }],
        }),
        context: call(1),
      },
      label: "denied",
      summary: "denied was not chosen because no policy denies the call",
      reason: "it depends on the recorded facts or on the time, not on the input alone",
    },
  ])("$name", async ({ made, label, summary, change, reason }) => {
    const expected = { summary, ...(change && { change }), ...(reason && { reason }) };
    expect(shortened(await whyNot(label, made))).toEqual(expected);
  });

  it("leaves room in a limit on a sum, and takes the earlier calls as recorded", async () => {
    const cap = withPolicy({ name: "cap", max_sum: { of: "params.amount", most: 100, per: "session" } });
    const { line, definitions } = await recorded({ definition: cap, context: call(150) });
    const facts = { ...line.record.facts, sums: { cap: 30 } };
    const record = { ...line.record, facts } as DecisionRecord;
    const found = explainWhyNot({ ...line, record }, await definitions.get(record), "allowed");
    expect(found.conditions).toMatchObject([
      { label: "cap", result: false, values: { "params.amount": 150 } },
    ]);
    expect(found.change?.paths).toEqual([{ path: "params.amount", from: 150, to: 70 }]);
  });

  it("knows the overrides of other decisions", async () => {
    const override = { name: "vip", overrides: ["refunds/small"], when: "vip" };
    const environment = {
      overrides: [{ decision: "other", tools: ["issue_*"], policies: ["small"], override }],
    };
    const made = { definition: refunds, context: call(150, { session: { role: "agent" } }), environment };
    const found = await whyNot("allowed_by_exception", made);
    expect(found.conditions).toMatchObject([
      { label: "manager", result: false },
      { label: "manager", result: true, values: { "denial.policy": "small" } },
      { label: "vip", text: "vip", result: null },
    ]);
    expect(found.change?.paths).toMatchObject([{ path: "session.role" }]);
  });
});

describe("a change", () => {
  const fetches = switchOn(
    [{ condition: "credit.score >= 700 and ssn == '1'", label: "Good", target: "t" }],
    {
      enrich: [{ endpoint: "bureau", params: { ssn: "{{ ssn }}" }, into: "credit" }],
    },
  );
  const data: Fetched = { ok: true, data: { score: 600 }, from: "endpoint", fetched_at: noon };
  const environment = { endpoints: { bureau: { url: "https://bureau.example/" } } };

  it("says which values were fetched, and what it takes as recorded", async () => {
    const world = { fetcher: () => Promise.resolve({ fetch: () => Promise.resolve(data) }) };
    const made = { definition: fetches, context: { ssn: "2" }, environment, world };
    expect((await whyNot("Good", made)).change).toMatchObject({
      paths: [
        { path: "credit.score", from: 600, to: 700, fetched: true },
        { path: "ssn", from: "2", to: "1" },
      ],
      assumes: ["the data of `bureau` is as recorded"],
    });
  });

  it("takes as recorded what was read in the session", async () => {
    const read_before_write = { read_tools: ["read"], write_tools: ["*"], path: "params.file" };
    const conditions = [{ name: "f", expression: "params.file == 'a'" }];
    const definition = withPolicy({ name: "rw", conditions, read_before_write });
    const context = { tool: "issue_refund", params: { file: "b" } };
    const { line, definitions } = await recorded({ definition, context });
    const facts = { ...line.record.facts, read: { rw: { path: "b", read: true } } };
    const record = { ...line.record, facts } as DecisionRecord;
    const found = explainWhyNot({ ...line, record }, await definitions.get(record), "allowed");
    expect(found.change).toMatchObject({
      paths: [{ path: "params.file", to: "a" }],
      assumes: ["what was read in the session, for `rw`, is as recorded"],
    });
  });
});

describe("a record that cannot be evaluated again", () => {
  const thresholds = (mask: readonly string[]): Definition =>
    switchOn(
      [
        { condition: "ssn == '1' and age > 18", label: "A", target: "a" },
        { condition: "age > 65", label: "B", target: "b" },
      ],
      { logging: { mask } },
    );

  it("shows what is known where values are masked, and no change", async () => {
    const made = { definition: thresholds(["/ssn"]), context: { ssn: "2", age: 10 } };
    expect(await whyNot("A", made)).toMatchObject({
      selected: ["default"],
      conditions: [
        { result: null, error: "a value that it reads is masked", values: { ssn: "[masked]" } },
        { result: false, values: { age: 10 } },
      ],
      change: null,
      reason: { code: "masked_values" },
    });
    const chosen = { definition: thresholds(["/ssn"]), context: { ssn: "1", age: 30 } };
    expect((await whyNot("B", chosen)).overruled_by).toMatchObject([{ type: "earlier_match", name: "A" }]);
  });

  it.each<{ name: string; made: Made; label: string; type: string }>([
    {
      name: "a gate",
      made: {
        definition: { ...wire, logging: { mask: ["/iban"] } },
        context: { amount: 25000, country: "DE", iban: "1" },
      },
      label: "GREEN",
      type: "suppression",
    },
    {
      name: "a call",
      made: { definition: { ...refunds, logging: { mask: ["/params/amount"] } }, context: call(150) },
      label: "allowed",
      type: "policy",
    },
    {
      name: "votes",
      made: { definition: { ...loan, logging: { mask: ["/score"] } }, context: { score: 300 } },
      label: "review",
      type: "vote",
    },
    {
      name: "a draw",
      made: { definition: { ...halves, logging: { mask: ["/user"] } }, context: { user: "u", plan: "pro" } },
      label: "B",
      type: "roll",
    },
  ])("says what overruled the label where values of $name are masked", async ({ made, label, type }) => {
    const found = await whyNot(label, made);
    expect(found).toMatchObject({ chosen: false, reason: { code: "masked_values" } });
    expect(found.overruled_by[0]).toMatchObject({ type });
  });

  it("computes a change where the masked values do not matter", async () => {
    const made = { definition: thresholds(["/note"]), context: { ssn: "2", age: 10, note: "secret" } };
    expect((await whyNot("B", made)).change?.paths).toEqual([{ path: "age", from: 10, to: 66 }]);
  });

  it.each<{ name: string; change: (record: DecisionRecord) => object; message: string }>([
    {
      name: "its inputs are not recorded",
      change: (record) => ({ ...record, context: undefined }),
      message: "its inputs were not recorded",
    },
    {
      name: "its definition is not stored",
      change: (record) => ({ ...record, definition_hash: "0" }),
      message: "its definition is no longer stored",
    },
    {
      name: "the answer is another one now",
      change: (record) => ({ ...record, selected_labels: ["A"] }),
      message: "the answer is `default` now, and was `A`",
    },
  ])("is refused: $name", async ({ change, message }) => {
    const { line, definitions } = await recorded({
      definition: thresholds([]),
      context: { ssn: "2", age: 10 },
    });
    const record = change(line.record) as DecisionRecord;
    const definition = await definitions.get(record);
    const error = thrownBy(() => explainWhyNot({ ...line, record }, definition, "B"));
    expect(error).toMatchObject({ code: "not_replayable" });
    expect(error.message).toContain(message);
  });

  it("is refused if it now ends with an error", async () => {
    const definition = switchOn([{ condition: "age > 65", label: "B" }], { on_error: "fail" });
    const { line, definitions } = await recorded({ definition, context: { age: 10 } });
    const record = { ...line.record, context: {} } as DecisionRecord;
    const ready = await definitions.get(record);
    expect(thrownBy(() => explainWhyNot({ ...line, record }, ready, "B"))).toMatchObject({
      code: "not_replayable",
    });
  });

  it("is refused for a label that the decision does not have", async () => {
    const { line, definitions } = await recorded({
      definition: quality,
      context: { artifact: { score: 1 } },
    });
    const definition = await definitions.get(line.record);
    expect(thrownBy(() => explainWhyNot(line, definition, "fail"))).toMatchObject({
      code: "usage",
      message: "`decision-under-test` has no label `fail`",
      hint: "did you mean `Fail`? its labels are `Pass`, `Fail`, `Stop`, `default`",
    });
    expect(thrownBy(() => explainWhyNot(line, definition, "elsewhere")).hint).toBe(
      "its labels are `Pass`, `Fail`, `Stop`, `default`",
    );
  });
});

function thrownBy(run: () => unknown): DecisionError {
  try {
    run();
  } catch (error) {
    return error as DecisionError;
  }
  throw new Error("nothing was thrown");
}
