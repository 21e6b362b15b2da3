import { describe, expect, it } from "vitest";
import { NoEvaluationsError } from "../../../src/errors.js";
import { prepare } from "../../../src/evaluate/prepare.js";
import {
  answerOf,
  ask,
  detailsOf,
  ifRule,
  ruleset,
  says,
  scoredOf,
  threshold,
  thrownBy,
  whenRule,
} from "./votes.js";

const large = ruleset("size", [whenRule("large", "input > 10", { decision: "review", weight: 0.9 })]);
const house = says("house", "approve", 0.5);

describe("a scored decision", () => {
  it("routes to the target of its decision", () => {
    const definition = scoredOf([house], { targets: { approve: "stage-approve", reject: "stage-reject" } });
    const { selected_targets, selected_labels } = ask(definition);
    expect({ selected_targets, selected_labels }).toEqual({
      selected_targets: ["stage-approve"],
      selected_labels: ["approve"],
    });
  });

  it.each([
    ["there are no targets", undefined],
    ["its decision has none", { reject: "stage-reject" }],
  ])("has no target if %s", (_when, targets) => {
    expect(ask(scoredOf([house], targets && { targets })).selected_targets).toEqual([]);
  });

  it("has read nothing as far as an answer without details shows", () => {
    const definition = scoredOf([large, house]);
    const answer = ask(definition, { amount: 20 });
    const prepared = prepare(definition);
    expect(prepared.inputsRead(answer)).toHaveLength(1);
    expect(prepared.inputsRead({ ...answer, evaluation_details: {} })).toEqual([]);
  });

  it("has no target if only the prototype of the targets has its decision", () => {
    expect(ask(scoredOf([says("a", "toString", 1)], { targets: {} })).selected_targets).toEqual([]);
  });

  it.each([
    ["half", {}],
    ["0.9", { minimum_agreement: 0.9 }],
  ])("warns if fewer than %s of the votes agree", (least, parameters) => {
    const voters = [says("a", "yes", 1), says("b", "no", 1), says("c", "maybe", 1)];
    const { warnings } = ask(scoredOf(voters, { scoring: { strategy: "consensus", ...parameters } }));
    expect(warnings).toEqual([
      `the votes do not agree enough (at least ${least} of them must), so the confidence is 0`,
    ]);
  });

  it("warns about values of the wrong type, and of missing ones that must not be there", () => {
    const over = { field: "n", op: "gt", value: 1 };
    const voters = [ruleset("r", [ifRule("plain", over), ifRule("none", { none: [over] })]), house];
    const errorsFor = (context: { n?: string | number }): readonly string[] =>
      ask(scoredOf(voters), context).warnings;
    expect(errorsFor({ n: 5 })).toEqual([]);
    expect(errorsFor({})).toEqual(["`none` of `r` could not be tested: `n` is missing"]);
    expect(errorsFor({ n: "5" })).toHaveLength(2);
    expect(errorsFor({ n: "5" })[0]).toMatch(/^`plain` of `r` could not be tested: /);
  });

  it("routes to the target of the fallback", () => {
    const targets = { approve: "stage-approve", manual_review: "stage-review" };
    const { selected_targets } = ask(scoredOf([house], { scoring: threshold(0.8), targets }));
    expect(selected_targets).toEqual(["stage-review"]);
  });

  it("asks its evaluators about the whole context unless it has an input", () => {
    const { input_value } = ask(scoredOf([house]), { n: 1 });
    expect(input_value).toEqual({ n: 1 });
  });

  it("gives its rules the input, and reads it", () => {
    const definition = scoredOf([large, house], { input: "{{ order.amount }}" });
    const evaluated = ask(definition, { order: { amount: 11 } });
    expect(evaluated).toMatchObject({ input_value: 11, selected_labels: ["review"], warnings: [] });
    expect(prepare(definition).reads).toContain("order.amount");
  });

  it("continues without an input that cannot be evaluated, with a warning", () => {
    const evaluated = ask(scoredOf([large, house], { input: "{{ order.amount }}" }), {});
    expect(evaluated).toMatchObject({
      input_value: null,
      selected_labels: ["approve"],
      warnings: [
        "the input could not be evaluated: `order.amount` is missing",
        "`large` of `size` could not be evaluated, so it did not match: `input` is missing",
      ],
    });
  });

  it("warns about expressions without an answer, and not of fields that are missing", () => {
    const definition = scoredOf([
      ruleset("r", [ifRule("field", { field: "n", op: "gt", value: 1 }), whenRule("when", "n > 1")]),
      house,
    ]);
    expect(ask(definition).warnings).toEqual([
      "`when` of `r` could not be evaluated, so it did not match: `n` is missing",
    ]);
  });

  it.each([
    ["under --strict", scoredOf([large, house]), true],
    ["with on_error: fail", scoredOf([large, house], { on_error: "fail" }), false],
  ])("ends in an error %s if an expression has no answer", (_how, definition, strict) => {
    expect(thrownBy(() => ask(definition, {}, strict))).toMatchObject({ code: "condition_errored" });
  });

  it("ends in no error under --strict if a field is only missing", () => {
    const definition = scoredOf([ruleset("r", [ifRule("f", { field: "n", op: "gt", value: 1 })]), house]);
    expect(ask(definition, {}, true).selected_labels).toEqual(["approve"]);
  });

  it("keeps the details of every evaluator by its name", () => {
    expect(detailsOf(ask(scoredOf([large, house], { input: "5" })))).toEqual({
      size: {
        result: false,
        rules: [
          { rule_id: "large", result: false, conditions: [{ expression: "input > 10", result: false }] },
        ],
      },
      house: { result: true, decision: "approve", weight: 0.5, rules: [] },
    });
  });

  it("fails if no evaluator votes", () => {
    expect(thrownBy(() => ask(scoredOf([large], { input: "5" })))).toBeInstanceOf(NoEvaluationsError);
  });

  it("uses the weighted average by default", () => {
    expect(answerOf(scoredOf([house]))).toMatchObject({
      scoring_strategy: "weighted_average",
      confidence: 1,
    });
  });
});
