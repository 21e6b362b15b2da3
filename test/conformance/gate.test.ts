import { describe, expect, it } from "vitest";
import { checkGate } from "../../src/definition/checks/check-gate.js";
import { DecisionError } from "../../src/errors.js";
import type { GateDefinition, Status } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import { answerOf, ask, gateOf, rule, system, wireTransfer } from "../evaluate/gate/gates.js";

interface Clause {
  readonly clause: string;
  readonly gate: GateDefinition;
  readonly context: JsonObject;
  /** What the outcome holds among other things. */
  readonly outcome: object;
}

const retry = { mode: "review", next_action: "gather_evidence_and_retry" };
const green = rule("green", { tier: "T3", severity: 1, when: "true", status: "GREEN" });
const payee = { country: "DE" };

const check = (clauses: readonly Clause[]): void => {
  it.each(clauses)("$clause", ({ gate, context, outcome }) => {
    expect(checkGate(gate)).toEqual([]);
    expect(answerOf(gate, context)).toMatchObject(outcome);
  });
};

describe("spec 5, phase 3: the three sources of context", () => {
  check([
    {
      clause: "supplied context that fits its schema is decided on",
      gate: wireTransfer,
      context: { amount: 1, payee },
      outcome: { status: "GREEN", work_frame: { mode: "execute", next_action: null } },
    },
    {
      clause: "supplied context that fails its schema is YELLOW, to gather evidence and retry",
      gate: wireTransfer,
      context: { amount: -5, payee },
      outcome: {
        status: "YELLOW",
        work_frame: retry,
        decision_metadata: {
          errored_predicates: [{ source: "context_schema", error: "`amount` must be at least 0 (got -5)" }],
        },
      },
    },
    {
      clause: "what the schema finds missing is missing evidence",
      gate: wireTransfer,
      context: { amount: 20_000 },
      outcome: { status: "YELLOW", work_frame: { ...retry, missing_evidence: ["second_approval", "payee"] } },
    },
    {
      clause: "missing data is named in the aggregation, which says that it made GREEN YELLOW",
      gate: wireTransfer,
      context: { amount: 1 },
      outcome: {
        status: "YELLOW",
        work_frame: { ...retry, missing_evidence: ["payee"] },
        decision_metadata: {
          aggregation: {
            winner: "routine",
            raised: {
              from: "GREEN",
              to: "YELLOW",
              reason: "the context does not match the schema: `payee` is missing",
            },
          },
          errored_predicates: [{ source: "context_schema", missing: "payee" }],
        },
      },
    },
    {
      clause: "system-generated context is there for the rules",
      gate: gateOf([rule("r", { when: `system.request_time == '${system.request_time}'`, status: "GREEN" })]),
      context: {},
      outcome: { status: "GREEN", decision_metadata: system },
    },
    {
      clause: "computed context is derived from supplied and system-generated context",
      gate: gateOf([rule("r", { when: "late", status: "RED" }), green], {
        computed: { late: "before(due, system.request_time)" },
      }),
      context: { due: "2026-03-01" },
      outcome: { status: "RED" },
    },
    {
      clause: "a derivation that throws is YELLOW with the diagnostic in the trace",
      gate: gateOf([green], { computed: { large: "amount > 10" } }),
      context: {},
      outcome: {
        status: "YELLOW",
        work_frame: retry,
        decision_metadata: {
          errored_predicates: [
            { source: "computed", name: "large", expression: "amount > 10", error: "`amount` is missing" },
          ],
        },
      },
    },
  ]);
});

describe("spec 5, phase 4: predicates", () => {
  check([
    {
      clause: "applies_when filters the rules that are asked",
      gate: wireTransfer,
      context: { amount: 1, payee: {} },
      outcome: {
        status: "GREEN",
        decision_metadata: { predicate_traces: [{ applies: false, result: false }, {}, {}] },
      },
    },
    {
      clause: "predicates run in order of severity",
      gate: gateOf([rule("low", { severity: 1 }), rule("high", { severity: 2 })]),
      context: { low: true, high: true },
      outcome: { decision_metadata: { matched_rules: ["high", "low"] } },
    },
    {
      clause: "all predicates run, also below the one that decides",
      gate: wireTransfer,
      context: { amount: 20_000, payee: { country: "XX" } },
      outcome: {
        status: "RED",
        decision_metadata: { matched_rules: ["sanctioned-payee", "large-needs-review", "routine"] },
      },
    },
    {
      clause: "suppression chains are applied",
      gate: gateOf([
        rule("a", { severity: 3, suppresses: ["b"], status: "GREEN" }),
        rule("b", { severity: 9, suppresses: ["c"], status: "RED" }),
        rule("c", { severity: 5, status: "GREEN-SKIP" }),
      ]),
      context: { a: true, b: true, c: true },
      outcome: { status: "GREEN-SKIP", decision_metadata: { suppressed: [{ rule: "b", by: "a" }] } },
    },
    {
      clause: "an exception in a predicate is captured: YELLOW with the diagnostic",
      gate: gateOf([rule("large", { when: "n > 1" }), green]),
      context: { n: "many" },
      outcome: {
        status: "YELLOW",
        work_frame: retry,
        decision_metadata: {
          errored_predicates: [
            {
              source: "when",
              name: "large",
              error: "`>` needs two numbers or two texts, got text and a number",
            },
          ],
        },
      },
    },
    {
      clause: "an exception in a filter is captured too",
      gate: gateOf([rule("r", { applies_when: "n" }), green]),
      context: { r: true },
      outcome: {
        status: "YELLOW",
        work_frame: retry,
        decision_metadata: { errored_predicates: [{ source: "applies_when", name: "r", expression: "n" }] },
      },
    },
    {
      clause: "a predicate whose answer is neither true nor false is an exception",
      gate: gateOf([rule("r"), green]),
      context: { r: "yes" },
      outcome: { status: "YELLOW", work_frame: retry },
    },
  ]);

  it("a predicate is pure: it changes nothing of what it is given", () => {
    const context = Object.freeze({ amount: 20_000, payee: Object.freeze({ country: "DE" }) });
    expect(ask(wireTransfer, context)).toEqual(ask(wireTransfer, structuredClone(context)));
  });
});

describe("spec 5, phase 5: aggregation and the response", () => {
  check([
    {
      clause: "T1 is an unconditional floor",
      gate: gateOf([
        rule("floor", { tier: "T1", severity: -1, status: "YELLOW" }),
        green,
        rule("red", { status: "RED" }),
      ]),
      context: { floor: true, red: true },
      outcome: { status: "YELLOW", decision_metadata: { aggregation: { winner: "floor" } } },
    },
    {
      clause: "T2 and T3 combine by the mode of the action, winner_takes_all by default",
      gate: gateOf([
        rule("t2", { severity: 5, status: "RED" }),
        rule("t3", { tier: "T3", severity: 6, status: "GREEN" }),
      ]),
      context: { t2: true, t3: true },
      outcome: {
        status: "GREEN",
        decision_metadata: { aggregation: { mode: "winner_takes_all", winner: "t3" } },
      },
    },
    {
      clause: "the work frame holds mode, actions, output, evidence and owner",
      gate: gateOf([
        rule("r", {
          work_frame: {
            next_action: "call",
            allowed_actions: ["a"],
            forbidden_actions: ["b"],
            required_output: { form: "F-1" },
            missing_evidence: ["c"],
            next_human_owner: "treasury",
          },
        }),
      ]),
      context: { r: true },
      outcome: {
        work_frame: {
          mode: "review",
          next_action: "call",
          allowed_actions: ["a"],
          forbidden_actions: ["b"],
          required_output: { form: "F-1" },
          missing_evidence: ["c"],
          next_human_owner: "treasury",
        },
      },
    },
  ]);

  it("the metadata hold matches, suppression, aggregation, traces, errors and the request", () => {
    expect(Object.keys(answerOf(wireTransfer, { amount: 1, payee }).decision_metadata).sort()).toEqual([
      "aggregation",
      "errored_predicates",
      "matched_rules",
      "predicate_traces",
      "request_id",
      "request_time",
      "suppressed",
    ]);
  });
});

describe("spec 5, the status", () => {
  it.each<[Status, string]>([
    ["GREEN", "execute"],
    ["GREEN-SKIP", "skip"],
    ["YELLOW", "review"],
    ["RED", "stop"],
  ])("%s tells the agent to %s, and is the label", (status, mode) => {
    const gate = gateOf([rule("only", { status })]);
    expect(answerOf(gate, { only: true })).toMatchObject({ status, work_frame: { mode } });
    expect(ask(gate, { only: true }).selected_labels).toEqual([status]);
  });
});

describe("DESIGN §6, the gate", () => {
  const t1 = rule("t1", { tier: "T1", severity: 1, status: "RED", work_frame: { next_action: "escalate" } });
  const twoOf = (...statuses: readonly [Status, Status]): GateDefinition =>
    gateOf(statuses.map((status, index) => rule(`r${index}`, { when: "true", status })));

  check([
    {
      clause: "errors never lower what rules say: RED stays RED, with its own next action",
      gate: gateOf([t1, rule("absent"), green], { context_schema: { required: ["amount"] } }),
      context: { t1: true },
      outcome: {
        status: "RED",
        work_frame: { mode: "stop", next_action: "escalate", missing_evidence: ["amount"] },
      },
    },
    {
      clause: "errors take the place of the next action of a YELLOW rule",
      gate: gateOf([rule("r", { work_frame: { next_action: "prepare" } }), rule("absent", { severity: 99 })]),
      context: { r: true },
      outcome: {
        status: "YELLOW",
        work_frame: retry,
        decision_metadata: { aggregation: { winner: "r" } },
      },
    },
    {
      clause: "GREEN-SKIP is raised by errors too",
      gate: gateOf([rule("r", { status: "GREEN-SKIP" }), rule("absent")]),
      context: { r: true },
      outcome: { status: "YELLOW", work_frame: retry },
    },
    {
      clause: "what would have let the agent go on is not allowed where errors raised the status",
      gate: gateOf([{ ...green, work_frame: { allowed_actions: ["wire.approve"] } }, rule("absent")]),
      context: {},
      outcome: { status: "YELLOW", work_frame: { ...retry, allowed_actions: [] } },
    },
    {
      clause: "a T1 rule is never suppressed, and any T1 match wins outright with the worst T1 status",
      gate: gateOf([
        rule("yellow", { tier: "T1", severity: 50, status: "YELLOW" }),
        t1,
        rule("loud", { severity: 1000, status: "GREEN" }),
      ]),
      context: { yellow: true, t1: true, loud: true },
      outcome: {
        status: "RED",
        decision_metadata: { aggregation: { winner: "t1", deciding_rules: ["t1"] } },
      },
    },
    {
      clause: "no match is YELLOW, with nothing to do next",
      gate: gateOf([rule("r")]),
      context: { r: false },
      outcome: {
        status: "YELLOW",
        work_frame: { mode: "review", next_action: null },
        decision_metadata: { aggregation: { winner: null, deciding_rules: [] } },
      },
    },
    {
      clause: "no match with an error is YELLOW, to gather evidence and retry",
      gate: gateOf([rule("r")]),
      context: {},
      outcome: { status: "YELLOW", work_frame: retry, decision_metadata: { aggregation: { winner: null } } },
    },
    { clause: "RED over YELLOW", gate: twoOf("YELLOW", "RED"), context: {}, outcome: { status: "RED" } },
    {
      clause: "YELLOW over GREEN-SKIP",
      gate: twoOf("GREEN-SKIP", "YELLOW"),
      context: {},
      outcome: { status: "YELLOW" },
    },
    {
      clause: "GREEN-SKIP over GREEN",
      gate: twoOf("GREEN", "GREEN-SKIP"),
      context: {},
      outcome: { status: "GREEN-SKIP" },
    },
    {
      clause: "deciding rules join the lists of their frames, and of scalars the first stands",
      gate: gateOf([
        rule("quiet", { severity: 1, work_frame: { missing_evidence: ["never"] } }),
        rule("b", { work_frame: { next_human_owner: "bob", missing_evidence: ["x", "y"] } }),
        rule("a", { work_frame: { next_human_owner: "ann", missing_evidence: ["y", "z"] } }),
      ]),
      context: { a: true, b: true, quiet: true },
      outcome: {
        work_frame: { next_human_owner: "bob", missing_evidence: ["x", "y", "z"] },
        decision_metadata: { aggregation: { winner: "b", deciding_rules: ["b", "a"] } },
      },
    },
  ]);

  it("the reasons of a gate that errors raised begin with them", () => {
    expect(ask(gateOf([green, rule("absent"), rule("gone")])).because).toEqual([
      "2 conditions could not be evaluated",
      "true",
    ]);
  });

  it("no match is its own reason", () => {
    expect(ask(gateOf([rule("r")]), { r: false }).because).toEqual(["no rule matched"]);
    expect(ask(gateOf([rule("r")])).because).toEqual(["no rule matched; 1 condition could not be evaluated"]);
  });

  it("a supplied `system` is refused", () => {
    expect(() => ask(wireTransfer, { amount: 1, payee, system: {} })).toThrow(DecisionError);
  });
});

describe("the wire transfer of DESIGN §3", () => {
  it.each<[string, JsonObject, Status, string]>([
    ["a small one", { amount: 10_000, payee }, "GREEN", "routine"],
    ["a large one", { amount: 10_001, payee }, "YELLOW", "large-needs-review"],
    ["a small one to a sanctioned payee", { amount: 1, payee: { country: "YY" } }, "RED", "sanctioned-payee"],
    ["one to a sanctioned payee without an amount", { payee: { country: "XX" } }, "RED", "sanctioned-payee"],
    [
      "a large one that claims not to be",
      { amount: 10_001, payee, is_large: false },
      "YELLOW",
      "large-needs-review",
    ],
    ["one without an amount that claims not to be large", { payee, is_large: false }, "YELLOW", "routine"],
  ])("%s", (_what, context, status, winner) => {
    expect(answerOf(wireTransfer, context)).toMatchObject({
      status,
      decision_metadata: { aggregation: { winner } },
    });
  });
});
