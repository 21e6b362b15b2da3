import { describe, expect, it } from "vitest";
import { DecisionError } from "../../../src/errors.js";
import type { Evaluated } from "../../../src/evaluate/evaluate.js";
import { prepareGate } from "../../../src/evaluate/gate/gate.js";
import type { GateDefinition } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";
import { answerOf, ask, gateOf, outcomeOf, readsOf, rule, system, wireTransfer } from "./gates.js";

function refusalOf(definition: GateDefinition, context: JsonObject): DecisionError {
  try {
    ask(definition, context);
  } catch (error) {
    if (error instanceof DecisionError) return error;
    throw error;
  }
  throw new Error("the context was accepted");
}

const always = rule("always", { when: "true", status: "GREEN", severity: 1 });

describe("the answer of a gate", () => {
  it("has all fields", () => {
    const context = { amount: 20_000, payee: { country: "DE" } };
    expect(ask(wireTransfer, context)).toEqual({
      selected_targets: [],
      selected_labels: ["YELLOW"],
      input_value: context,
      evaluation_details: {
        "sanctioned-payee": { condition: "payee.country in ('XX', 'YY')", result: false },
        "large-needs-review": { condition: "is_large", result: true },
        routine: { condition: "true", result: true },
      },
      rules_total: undefined,
      because: ["is_large"],
      failed_conditions: ["payee.country in ('XX', 'YY')"],
      warnings: [],
      errors: [],
      outcome: {
        type: "gate",
        status: "YELLOW",
        work_frame: {
          mode: "review",
          next_action: "prepare_review_packet",
          allowed_actions: [],
          forbidden_actions: [],
          required_output: null,
          missing_evidence: ["second_approval"],
          next_human_owner: null,
        },
        decision_metadata: {
          matched_rules: ["large-needs-review", "routine"],
          suppressed: [{ rule: "routine", by: "large-needs-review" }],
          aggregation: {
            mode: "winner_takes_all",
            winner: "large-needs-review",
            deciding_rules: ["large-needs-review"],
          },
          predicate_traces: [
            {
              rule: "sanctioned-payee",
              tier: "T1",
              severity: 100,
              status: "RED",
              when: "payee.country in ('XX', 'YY')",
              applies: true,
              result: false,
            },
            {
              rule: "large-needs-review",
              tier: "T2",
              severity: 50,
              status: "YELLOW",
              when: "is_large",
              result: true,
            },
            { rule: "routine", tier: "T3", severity: 10, status: "GREEN", when: "true", result: true },
          ],
          errored_predicates: [],
          ...system,
        },
        counted: [],
      },
    });
  });

  it("reports only errors if nothing could be evaluated", () => {
    const answer = ask(wireTransfer, {});
    expect(answer).toMatchObject({
      selected_labels: ["YELLOW"],
      because: [
        "the context does not match the schema: `amount` and `payee` are missing, and the computed value `is_large` and 1 condition could not be evaluated",
        "true",
      ],
      warnings: [
        "the context does not match the schema: `amount` is missing",
        "the context does not match the schema: `payee` is missing",
        "the computed value `is_large` could not be evaluated: `amount` is missing",
        "`large-needs-review` could not be evaluated: computed value `is_large`: `amount` is missing",
      ],
      outcome: {
        status: "YELLOW",
        work_frame: {
          mode: "review",
          next_action: "gather_evidence_and_retry",
          missing_evidence: ["amount", "payee"],
        },
        decision_metadata: { aggregation: { winner: "routine", deciding_rules: ["routine"] } },
      },
    });
    expect(answer.errors).toEqual(answer.warnings);
    expect(outcomeOf(answer).decision_metadata.errored_predicates).toEqual([
      { source: "context_schema", missing: "amount", error: "`amount` is missing" },
      { source: "context_schema", missing: "payee", error: "`payee` is missing" },
      { source: "computed", name: "is_large", expression: "amount > 10000", error: "`amount` is missing" },
      {
        source: "when",
        name: "large-needs-review",
        expression: "is_large",
        error: "computed value `is_large`: `amount` is missing",
      },
    ]);
  });

  it("lists rules by severity and then in the order of the file in its metadata, else in the order of the file", () => {
    const rules = [
      rule("a", { severity: 1, when: "1 > 2" }),
      rule("b", { severity: 5, when: "2 > 3" }),
      rule("c", { severity: 1, when: "3 > 4" }),
      rule("d", { severity: 5, when: "4 > 5" }),
    ];
    const answer = ask(gateOf(rules));
    expect(outcomeOf(answer).decision_metadata.predicate_traces.map((trace) => trace.rule)).toEqual([
      "b",
      "d",
      "a",
      "c",
    ]);
    expect(Object.keys(answer.evaluation_details)).toEqual(["a", "b", "c", "d"]);
    expect(answer.failed_conditions).toEqual(["1 > 2", "2 > 3", "3 > 4", "4 > 5"]);
  });

  it("keeps the error of a rule in the details", () => {
    expect(ask(gateOf([rule("absent"), always])).evaluation_details).toEqual({
      absent: { condition: "absent", result: false, error: "`absent` is missing" },
      always: { condition: "true", result: true },
    });
  });

  it("is the same the second time, and does not share what it may change", () => {
    const judge = prepareGate(wireTransfer, undefined);
    const scopes = [{ amount: 1, payee: {} }, {}, { amount: 1, payee: {} }].map((context) => ({
      context,
      input: undefined,
      facts: {},
      system,
    }));
    const [first, , third] = scopes.map((scope) => judge.evaluate(scope));
    expect(third).toEqual(first);
    expect(third?.evaluation_details).not.toBe(first?.evaluation_details);
  });

  it.each<[string, JsonObject]>([
    ["nothing is known of the request", {}],
    ["what is known is no text", { request_id: 1, request_time: null }],
  ])("leaves the request empty if %s", (_what, known) => {
    const scope = { context: {}, input: undefined, facts: {}, system: known };
    expect(
      outcomeOf(prepareGate(gateOf([always]), undefined).evaluate(scope)).decision_metadata,
    ).toMatchObject({
      request_id: "",
      request_time: "",
    });
  });
});

describe("the reason of a rule", () => {
  it.each<[string, string | undefined, string]>([
    ["as it is written", "too large", "too large"],
    ["rendered", "{{ n }} of {{ input.n }}", "5 of 5"],
    ["of another type as JSON", "{{ [n, 'x'] }}", '[5,"x"]'],
    [
      "with the reason in place of what cannot be filled in",
      "{{ absent }} is too large",
      "(`absent` is missing) is too large",
    ],
    ["as the condition where there is none", undefined, "n == 5"],
  ])("is reported: %s", (_how, reason, expected) => {
    const only = rule("only", { when: "n == 5", ...(reason !== undefined && { reason }) });
    expect(ask(gateOf([only]), { n: 5 })).toMatchObject({ because: [expected], errors: [] });
  });

  it("is given for each of the deciding rules", () => {
    const rules = [rule("b", { reason: "second" }), rule("a"), rule("c", { severity: 1 })];
    expect(ask(gateOf(rules), { a: true, b: true, c: true }).because).toEqual(["second", "a"]);
  });
});

describe("the input of a gate", () => {
  it("is the whole context if none is written", () => {
    const gate = gateOf([rule("r", { when: "input.n == 1 and input == context" })]);
    expect(ask(gate, { n: 1 })).toMatchObject({
      input_value: { n: 1 },
      because: ["input.n == 1 and input == context"],
    });
  });

  it("is what its expression gives", () => {
    expect(
      ask(gateOf([rule("r", { when: "input == 3" })], { input: "{{ n + 1 }}" }), { n: 2 }),
    ).toMatchObject({
      input_value: 3,
      because: ["input == 3"],
    });
  });

  it("that is errored is null in the answer, missing to the rules, and keeps the gate from being GREEN", () => {
    const gate = gateOf([always, rule("r", { when: "input > 1" })], { input: "n" });
    const answer = ask(gate);
    expect(answer.input_value).toBeNull();
    expect(outcomeOf(answer).status).toBe("YELLOW");
    expect(outcomeOf(answer).decision_metadata.errored_predicates).toEqual([
      { source: "input", expression: "n", error: "`n` is missing" },
      { source: "when", name: "r", expression: "input > 1", error: "`input` is missing" },
    ]);
  });
});

describe("a supplied `system`", () => {
  it.each<[string, JsonObject]>([
    ["an object", { system: { request_time: "2000-01-01T00:00:00Z" } }],
    ["null", { system: null }],
  ])("is rejected: %s", (_what, context) => {
    const { code, message, hint } = refusalOf(gateOf([always]), context);
    expect({ code, message, hint }).toEqual({
      code: "input_invalid",
      message: "the context must not have the reserved key `system`",
      hint: "remove or rename the key `system`: it is filled with the time, the request and the caller",
    });
  });

  it("is rejected before anything else is looked at", () => {
    expect(refusalOf(wireTransfer, { system: {} }).code).toBe("input_invalid");
  });

  it("is one thing further in the context", () => {
    expect(answerOf(gateOf([always]), { order: { system: 1 } }).status).toBe("GREEN");
  });
});

describe("the paths that a gate reads", () => {
  const rules = [
    rule("a", { when: "large and input > n", applies_when: "exists(order.id)" }),
    rule("b", { when: "system.request_time > facts.since and input.x == largest" }),
  ];
  const computed = { large: "total > 5", larger: "large and context.extra" };

  it.each<[string, Partial<GateDefinition>, readonly string[]]>([
    [
      "with an input",
      { input: "{{ amount }}", computed },
      ["amount", "total", "context.extra", "order.id", "n", "system.request_time", "facts.since", "largest"],
    ],
    [
      "without an input",
      { computed },
      ["context", "total", "context.extra", "order.id", "n", "system.request_time", "facts.since", "largest"],
    ],
    [
      "with an input and a schema, which looks at all",
      { input: "amount", context_schema: {} },
      ["context", "amount", "order.id", "large", "n", "system.request_time", "facts.since", "largest"],
    ],
  ])("is reported: %s", (_how, extra, expected) => {
    expect(readsOf(gateOf(rules, extra))).toEqual(expected);
  });

  it("are, for an answer, those of the rules that it has", () => {
    const prepared = prepareGate(gateOf(rules), undefined);
    const answer = ask(gateOf(rules), { n: 1 });
    expect(prepared.inputsRead(answer)).toEqual([["order.id"], expect.arrayContaining(["facts.since"])]);
    expect(prepared.inputsRead(ask(gateOf([always]), {}))).toEqual([[]]);
    expect(prepared.inputsRead({ ...answer, outcome: undefined } as unknown as Evaluated)).toEqual([]);
  });
});
