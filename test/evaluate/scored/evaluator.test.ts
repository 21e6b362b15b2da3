import { describe, expect, it } from "vitest";
import { InvalidEvaluatorError, InvalidWeightError } from "../../../src/errors.js";
import { prepareEvaluator } from "../../../src/evaluate/scored/evaluator.js";
import type { EvaluatorDefinition } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";
import { scopeOf } from "../definitions.js";
import { ifRule, ruleset, says, thrownBy, whenRule } from "./votes.js";

const ask = (definition: EvaluatorDefinition, context: JsonObject = {}) =>
  prepareEvaluator(definition).vote(scopeOf(context));

const gate = ruleset(
  "credit",
  [
    ifRule(
      "good",
      { field: "score", op: "gte", value: 700 },
      { decision: "approve", weight: 0.9, reason: "Good" },
    ),
    whenRule("poor", "score < 500", { decision: "reject", weight: 0.8 }),
  ],
  { ruleset: "credit_rules" },
);

describe("a custom evaluator", () => {
  const agent: EvaluatorDefinition = { name: "agent", custom: "review" };
  const voteWith = (facts: JsonObject) => prepareEvaluator(agent).vote({ ...scopeOf({}), facts });

  it("votes as the facts say", () => {
    const vote = { decision: "approve", weight: 0.4, reason: "seen", metadata: {} };
    expect(voteWith({ votes: { review: vote } })).toMatchObject({
      evaluation: { decision: "approve", weight: 0.4, reason: "seen" },
      detail: { result: true },
    });
  });

  it.each<[string, JsonObject, string | undefined]>([
    ["there are no votes", {}, "the vote of `review` is not known"],
    ["its vote is not among them", { votes: {} }, "the vote of `review` is not known"],
    ["it failed", { votes: { review: { error: "out of memory" } } }, "out of memory"],
    ["it did not vote", { votes: { review: null } }, undefined],
  ])("has no vote if %s", (_when, facts, error) => {
    const { evaluation, detail } = voteWith(facts);
    expect({ evaluation, error: detail.error }).toEqual({ evaluation: undefined, error });
  });
});

describe("an evaluator with rules", () => {
  it("votes as the first rule that matches, and names it", () => {
    expect(ask(gate, { score: 720 })).toMatchObject({
      name: "credit",
      evaluation: {
        decision: "approve",
        weight: 0.9,
        reason: "Good",
        evaluator_name: "credit",
        metadata: { rule_id: "good", ruleset: "credit_rules", type: "rule" },
      },
      detail: { result: true, decision: "approve", weight: 0.9, rule_id: "good" },
    });
  });

  it("has an empty reason if the rule has none", () => {
    expect(ask(gate, { score: 1 }).evaluation).toMatchObject({ decision: "reject", reason: "" });
  });

  it("does not ask the rules after the one that matches", () => {
    expect(ask(gate, { score: 720 }).detail.rules.map(({ rule_id }) => rule_id)).toEqual(["good"]);
    expect(ask(gate, { score: 1 }).detail.rules.map(({ rule_id }) => rule_id)).toEqual(["good", "poor"]);
  });

  it("traces every condition with the expected and the actual value", () => {
    expect(ask(gate, { score: 1 }).detail.rules).toEqual([
      {
        rule_id: "good",
        result: false,
        conditions: [{ field: "score", operator: "gte", expected: 700, actual: 1, result: false }],
      },
      { rule_id: "poor", result: true, conditions: [{ expression: "score < 500", result: true }] },
    ]);
  });

  it("has no vote if no rule matches", () => {
    const { evaluation, detail } = ask(gate, { score: 600 });
    expect(evaluation).toBeUndefined();
    expect(detail).toMatchObject({ result: false, rules: [{ result: false }, { result: false }] });
    expect(detail).not.toHaveProperty("decision");
  });

  it("has no vote if its condition cannot be evaluated, which the trace tells", () => {
    const { evaluation, detail } = ask(ruleset("r", [whenRule("w", "n > 1")]), {});
    expect(evaluation).toBeUndefined();
    expect(detail.rules).toMatchObject([
      { rule_id: "w", result: false, conditions: [{ result: false, error: "`n` is missing" }] },
    ]);
  });

  it("calls its set of rules after itself if that has no name", () => {
    const rules = [ifRule("r", { field: "a", op: "present" })];
    expect(ask(ruleset("me", rules), { a: 1 }).evaluation?.metadata).toEqual({
      rule_id: "r",
      ruleset: "me",
      type: "rule",
    });
  });

  it("reads what its rules ask for", () => {
    expect(prepareEvaluator(gate).reads).toEqual(["score", "score"]);
  });

  it("has the output of the rule that voted, which reads all of its context", () => {
    const voter = prepareEvaluator(
      ruleset("r", [
        whenRule("low", "n < 0", { decision: "a", output: "none" }),
        whenRule("high", "n > 0", { decision: "a", output: "{{ fee * 2 }}" }),
      ]),
    );
    expect(voter.reads).toEqual(["n", "n", "fee"]);
    const scope = scopeOf({ n: 1, fee: 4 });
    expect(voter.outputOf(voter.vote(scope).detail)?.evaluate(scope)).toBe(8);
  });

  it("is rejected with a weight out of bounds or without a condition", () => {
    const heavy = ifRule("r", { field: "a", op: "present" }, { decision: "a", weight: 2 });
    expect(thrownBy(() => prepareEvaluator(ruleset("r", [heavy])))).toBeInstanceOf(InvalidWeightError);
    expect(thrownBy(() => prepareEvaluator(ruleset("r", [{ id: "r", then: heavy.then }])))).toMatchObject({
      code: "expression_invalid",
    });
  });
});

describe("a static evaluator", () => {
  it("always votes the same", () => {
    const voter = prepareEvaluator(says("house", "approve", 0.3, "House rule"));
    const voted = voter.vote(scopeOf({}));
    expect(voted).toMatchObject({
      name: "house",
      evaluation: {
        decision: "approve",
        weight: 0.3,
        reason: "House rule",
        evaluator_name: "house",
        metadata: { type: "static" },
      },
      detail: { result: true, decision: "approve", weight: 0.3, rules: [] },
    });
    expect(voter.vote(scopeOf({ other: 1 }))).toEqual(voted);
    expect(voter.reads).toEqual([]);
  });

  it("has an empty reason if it has none", () => {
    expect(ask(says("house", "approve", 0.3)).evaluation?.reason).toBe("");
  });

  it("is rejected without a decision or with a weight out of bounds", () => {
    expect(thrownBy(() => prepareEvaluator(says("h", "", 0.3)))).toBeInstanceOf(InvalidEvaluatorError);
    expect(thrownBy(() => prepareEvaluator(says("h", "a", -0.3)))).toBeInstanceOf(InvalidWeightError);
  });
});
