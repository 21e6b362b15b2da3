import { describe, expect, it } from "vitest";
import { prepare } from "../../src/evaluate/prepare.js";
import type { Definition } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { RecordedOutcome, BacktestOutcome } from "../../src/replay/backtest.js";
import { transitionText, transitionRisk } from "../../src/replay/backtest.js";
import { readsMaskedValues, describeMissingFacts, reevaluate } from "../../src/replay/reevaluate.js";
import type { ReplayableDefinition } from "../../src/replay/replayable-definitions.js";

const masked = "[masked]";

const recordWith = (fields: object): DecisionRecord =>
  ({ context: {}, facts: {}, definition_hash: "then", ...fields }) as unknown as DecisionRecord;

const routed = (fields: object): Definition =>
  ({
    id: "d",
    type: "switch",
    cases: [{ condition: "a.b > 1", target: "x" }],
    default: { target: "y" },
    ...fields,
  }) as unknown as Definition;

const changedBy = (decision: string): JsonObject => ({
  recheck: { changes: [{ decision, overrides: ["o"], set_params: { note: masked } }] },
});

describe("masked values", () => {
  it.each<{ name: string; of: object; context?: JsonObject; facts?: JsonObject; read: boolean }>([
    { name: "that are read", of: {}, context: { a: { b: masked } }, read: true },
    { name: "on the way to what is read", of: {}, context: { a: masked }, read: true },
    { name: "under what is read", of: {}, context: { a: { b: [{ c: masked }] } }, read: true },
    { name: "beside what is read", of: {}, context: { a: { b: 2, c: masked } }, read: false },
    { name: "where what is read is missing", of: {}, context: { a: 1, c: masked }, read: false },
    { name: "where null is read", of: {}, context: { a: null, c: masked }, read: false },
    {
      name: "in an input that is worked out",
      of: { input: "{{ c + 1 }}" },
      context: { c: masked, a: { b: 2 } },
      read: true,
    },
    {
      name: "in an input that nobody asks for",
      of: { input: "{{ c }}" },
      context: { c: masked, a: { b: 2 } },
      read: true,
    },
    {
      name: "under such an input",
      of: { input: "{{ c }}" },
      context: { c: { d: masked }, a: { b: 2 } },
      read: false,
    },
    {
      name: "in the whole context as the input",
      of: { input: "{{ context }}" },
      context: { c: masked, a: { b: 2 } },
      read: false,
    },
    {
      name: "in what is rolled for",
      of: { type: "weighted", input: "{{ u }}", cases: [{ target: "x", weight: 1 }] },
      context: { u: { id: masked } },
      read: true,
    },
    {
      name: "beside what is rolled for",
      of: { type: "weighted", input: "{{ u }}", cases: [{ target: "x", weight: 1 }] },
      context: { u: 1, c: masked },
      read: false,
    },
    {
      name: "anywhere, where all is rolled for",
      of: { type: "weighted", cases: [{ target: "x", weight: 1 }] },
      context: { u: 1, c: masked },
      read: true,
    },
    {
      name: "where `context` is a key",
      of: { input: "{{ context }}" },
      context: { context: { c: masked }, a: { b: 2 } },
      read: true,
    },
    { name: "that another decision has set", of: {}, facts: { set_params: { note: masked } }, read: true },
    { name: "in changed params of another decision", of: {}, facts: changedBy("other"), read: true },
    {
      name: "in changed params of its own, which are made again",
      of: {},
      facts: changedBy("d"),
      read: false,
    },
  ])("$name: $read", ({ of, context = {}, facts = {}, read }) => {
    const record = recordWith({ decision_id: "d", context, facts });
    expect(readsMaskedValues(prepare(routed(of)), record)).toBe(read);
  });

  it("count anywhere where a schema validates the whole context", () => {
    const gate = {
      id: "g",
      type: "gate",
      action: { org: "o", domain: "d", name: "n" },
      context_schema: { type: "object" },
      rules: [{ id: "r", tier: "T3", severity: 1, when: "true", status: "GREEN" }],
    } as unknown as Definition;
    expect(readsMaskedValues(prepare(gate), recordWith({ context: { any: [masked] } }))).toBe(true);
  });

  it("are none where there is no context", () => {
    expect(readsMaskedValues(prepare(routed({})), recordWith({ context: undefined }))).toBe(false);
  });
});

const readyFor = (policies: readonly object[], definition_hash = "now"): ReplayableDefinition => {
  const definition = { id: "p", type: "policy", tool: "*", policies } as unknown as Definition;
  const loaded = { definition, definition_hash, environment: {}, environment_hash: "", file: "", line: 0 };
  return { loaded, prepared: prepare(definition), fetches: [] };
};

describe("params that only the new definition changes", () => {
  it.each<JsonObject>([{}, { read: {} }])("are checked again by it: %j", (facts) => {
    const made = readyFor([], "then");
    const denying = readyFor([
      { name: "given", conditions: [{ name: "c", expression: "exists(params.filter)" }] },
      { name: "cap", conditions: [{ name: "c", expression: "params.n < 5" }] },
      { name: "widen", overrides: ["given"], action: "modify_params", params: { n: 9 } },
    ]);
    const record = recordWith({ context: { tool: "t", params: { n: 1 } }, facts, timestamp: "" });
    const again = reevaluate({ record, text: "" }, denying, made);
    expect(again).toMatchObject({ guarded: { evaluated: { selected_labels: ["denied"] } } });
  });
});

describe("votes that a record lacks", () => {
  const scored = (custom: string): ReplayableDefinition => ({
    ...readyFor([]),
    prepared: prepare({ id: "d", type: "scored", evaluators: [{ name: "e", custom }] }),
  });
  const record = recordWith({ facts: { votes: { model: null } } });

  it("are those of custom evaluators that were not asked", () => {
    const made = readyFor([], "then");
    expect(describeMissingFacts(scored("model"), record, made)).toBeUndefined();
    expect(describeMissingFacts(scored("other"), record, made)).toBe(
      "it has no facts about the vote of `other`",
    );
  });
});

describe("facts that a record lacks", () => {
  const calls = { name: "calls", max_calls: { count: 1, per: "session" } };
  const reads = {
    name: "reads",
    read_before_write: { read_tools: ["read"], write_tools: ["write"], path: "params.path" },
  };
  const spent = { name: "spent", max_sum: { of: "params.amount", most: 5, per: "caller", window: "1h" } };
  const orgCalls = { name: "org-calls", max_calls: { count: 1, per: "org" } };
  const by = (caller: object, facts: object = {}): object => ({
    facts: { ...facts, authenticated_caller: { subject: "alice", issuer: "i", ...caller } },
  });
  const uses = { name: "uses", overrides: ["calls"], max_applications: 3 };
  const counted = { calls: { calls: 1 }, read: { reads: { path: "p", read: true } }, uses: { uses: 1 } };

  it.each<{
    name: string;
    policies: readonly object[];
    record: object;
    made?: ReplayableDefinition | "gone";
    missing?: string;
  }>([
    { name: "none are needed", policies: [], record: {} },
    { name: "the session is not known", policies: [calls], record: {} },
    { name: "uses are counted without a session", policies: [calls, uses], record: {}, missing: "uses" },
    { name: "the caller is not known", policies: [spent, orgCalls], record: { session_id: "s" } },
    { name: "sums were not counted", policies: [spent], record: by({}), missing: "spent" },
    { name: "the caller has no organisation", policies: [orgCalls], record: by({}) },
    {
      name: "calls of the organisation were not counted",
      policies: [orgCalls],
      record: by({ org_id: "acme" }),
      missing: "org-calls",
    },
    {
      name: "sums were counted like this",
      policies: [{ ...spent, max_sum: { ...spent.max_sum, most: 9 } }],
      record: by({}, { sums: { spent: 2 } }),
      made: readyFor([spent], "then"),
    },
    ...[{ of: "params.price" }, { per: "org" }, { window: "2h" }].map((change) => ({
      name: `sums were counted differently: ${JSON.stringify(change)}`,
      policies: [{ ...spent, max_sum: { ...spent.max_sum, ...change } }],
      record: by({ org_id: "acme" }, { sums: { spent: 2 } }),
      made: readyFor([spent], "then"),
      missing: "spent",
    })),
    {
      name: "nobody knows how calls were counted",
      policies: [calls],
      record: { session_id: "s", facts: counted },
      made: "gone",
      missing: "calls",
    },
    {
      name: "calls were counted like this",
      policies: [calls, uses],
      record: { session_id: "s", facts: counted },
    },
    {
      name: "what was read was found out like this",
      policies: [reads],
      record: { session_id: "s", facts: counted, context: { tool: "write" } },
    },
    {
      name: "nobody knows how that was found out",
      policies: [reads],
      record: { session_id: "s", facts: counted, context: { tool: "write" } },
      made: "gone",
      missing: "reads",
    },
    { name: "nothing is written", policies: [reads], record: { session_id: "s", context: { tool: "read" } } },
    { name: "there is no tool", policies: [reads], record: { session_id: "s", context: {} } },
    { name: "inputs were not logged", policies: [reads], record: { session_id: "s", context: undefined } },
  ])(
    "where $name: $missing",
    ({ policies, record, made = readyFor([calls, reads, uses], "then"), missing }) => {
      const found = describeMissingFacts(
        readyFor(policies),
        recordWith(record),
        made === "gone" ? { unavailable: "it is gone" } : made,
      );
      expect(found).toBe(missing && `it has no facts about ${missing}`);
    },
  );

  it("are those of the organisation of a gate, whoever asks", () => {
    const readyGate = (limits: object, definition_hash = "now"): ReplayableDefinition => {
      const action = { org: "acme", domain: "d", name: "n" };
      const definition = { id: "g", type: "gate", action, rules: [], ...limits } as unknown as Definition;
      const loaded = {
        definition,
        definition_hash,
        environment: {},
        environment_hash: "",
        file: "",
        line: 0,
      };
      return { loaded, prepared: prepare(definition), fetches: [] };
    };
    const limited = readyGate({ max_calls: { count: 1, per: "org" } });
    const found = describeMissingFacts(limited, recordWith({ type: "gate" }), readyGate({}, "then"));
    expect(found).toBe("it has no facts about g");
  });

  it("are none for the definition that the record was made with", () => {
    const ready = readyFor([calls, uses], "then");
    expect(describeMissingFacts(ready, recordWith({ session_id: "s" }), ready)).toBeUndefined();
    expect(describeMissingFacts({ ...ready }, recordWith({ session_id: "s" }), ready)).toBeUndefined();
  });
});

describe("the text of a transition", () => {
  const answered = (label: string | undefined, more: Partial<RecordedOutcome> = {}): RecordedOutcome => ({
    selected_labels: label === undefined ? [] : [label],
    selected_targets: [],
    blocked: false,
    escalated: false,
    ...more,
  });
  const blocked = { blocked: true };
  const escalated = { escalated: true };
  const error: BacktestOutcome = { error: "no" };

  it.each<{ from: RecordedOutcome; to: BacktestOutcome; words: readonly [string, string]; risk: number }>([
    { from: answered("denied"), to: answered("allowed"), words: ["denied", "allowed"], risk: -3 },
    { from: answered("RED"), to: answered("GREEN"), words: ["RED", "GREEN"], risk: -3 },
    { from: answered("RED"), to: answered("YELLOW"), words: ["RED", "YELLOW"], risk: -1 },
    { from: answered("GREEN"), to: answered("RED"), words: ["GREEN", "RED"], risk: 1 },
    { from: answered("a"), to: answered("constructor"), words: ["a", "constructor"], risk: 1 },
    { from: answered(undefined, blocked), to: answered("a"), words: ["blocked", "a"], risk: -2 },
    { from: answered("a"), to: error, words: ["a", "error: no"], risk: 1 },
    {
      from: answered("denied", blocked),
      to: answered("denied"),
      words: ["denied (blocked)", "denied (as decided)"],
      risk: 1,
    },
    {
      from: answered("YELLOW", escalated),
      to: answered("YELLOW"),
      words: ["YELLOW (escalated)", "YELLOW (as decided)"],
      risk: 1,
    },
    {
      from: answered("a", { selected_targets: ["x", "y"] }),
      to: answered("a"),
      words: ["a (x y)", "a (no target)"],
      risk: 1,
    },
    {
      from: answered("a", { outputs: [{ b: 1, a: 2 }] }),
      to: answered("a", { outputs: [{ b: 1, a: 3 }] }),
      words: ['a ({"a":2,"b":1})', 'a ({"a":3,"b":1})'],
      risk: 1,
    },
    {
      from: answered("a"),
      to: answered("a", { outputs: [1, null] }),
      words: ["a (no output)", "a (1, null)"],
      risk: 1,
    },
  ])("$words.0 → $words.1", ({ from, to, words, risk }) => {
    expect(transitionText(from, to)).toEqual({ from: words[0], to: words[1] });
    expect(transitionRisk(from, to)).toBe(risk);
  });
});
