import { describe, expect, it } from "vitest";
import { ruleTracesOf } from "../../../src/evaluate/scored/rule-traces.js";
import { ask, detailsOf, ifRule, ruleset, says, scoredOf, whenRule } from "./votes.js";

describe("the traces of the rules", () => {
  it("are those of every rule that was evaluated, one evaluator after the other", () => {
    const definition = scoredOf([
      ruleset("b", [ifRule("b1", { field: "n", op: "lt", value: 0 }), whenRule("b2", "n > 0")]),
      says("s", "approve", 1),
      ruleset("a", [whenRule("a1", "true"), whenRule("not evaluated", "true")]),
    ]);
    expect(ruleTracesOf(detailsOf(ask(definition, { n: 1 })))).toEqual([
      {
        evaluator: "b",
        rule_id: "b1",
        result: false,
        conditions: [{ field: "n", operator: "lt", expected: 0, actual: 1, result: false }],
      },
      { evaluator: "b", rule_id: "b2", result: true, conditions: [{ expression: "n > 0", result: true }] },
      { evaluator: "a", rule_id: "a1", result: true, conditions: [{ expression: "true", result: true }] },
    ]);
  });

  it("are none if there are no rules", () => {
    expect(ruleTracesOf(detailsOf(ask(scoredOf([says("s", "approve", 1)]))))).toEqual([]);
  });
});
