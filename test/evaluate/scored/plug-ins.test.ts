import { describe, expect, it } from "vitest";
import {
  InvalidEvaluatorError,
  InvalidRuleDslError,
  InvalidScoringStrategyError,
  InvalidWeightError,
} from "../../../src/errors.js";
import type { Evaluator, ScoringPlugIn } from "../../../src/evaluate/scored/plug-ins.js";
import { toStrategy, prepareVoter } from "../../../src/evaluate/scored/plug-ins.js";
import type { EvaluatorDefinition, Scoring } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";
import { scopeOf } from "../definitions.js";
import { ifRule, ruleset, says, threshold, thrownBy, votes, whenRule } from "./votes.js";

const ask = (
  evaluator: Evaluator | EvaluatorDefinition,
  context: JsonObject = {},
  feedback: JsonObject = {},
) => prepareVoter(evaluator).vote(scopeOf(context), feedback);

const vote = { decision: "approve", weight: 0.5, reason: "" };

describe("a custom evaluator", () => {
  it("gets the context and the feedback", () => {
    const evaluator: Evaluator = {
      name: "echo",
      evaluate: ({ user }, { feedback }) => ({ ...vote, reason: JSON.stringify([user, feedback]) }),
    };
    expect(ask(evaluator, { user: "alice" }, { source: "retry" }).evaluation?.reason).toBe(
      '["alice",{"source":"retry"}]',
    );
  });

  it("is called as a method", () => {
    class Fixed implements Evaluator {
      readonly name = "fixed";
      readonly decision = "approve";
      evaluate() {
        return { ...vote, decision: this.decision };
      }
    }
    expect(ask(new Fixed())).toMatchObject({
      name: "fixed",
      evaluation: { ...vote, evaluator_name: "fixed", metadata: {} },
      detail: { result: true, decision: "approve", weight: 0.5, rules: [] },
    });
  });

  it.each([null, undefined])("has no vote if it gives %s", (nothing) => {
    const { evaluation, detail } = ask({ name: "mute", evaluate: () => nothing });
    expect({ evaluation, detail }).toEqual({ evaluation: undefined, detail: { result: false, rules: [] } });
  });

  it.each<[string, () => never, string]>([
    [
      "throws an error",
      () => {
        throw new Error("broken");
      },
      "broken",
    ],
    [
      "throws something else",
      () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- others may do so
        throw "a text";
      },
      "a text",
    ],
  ])("has no vote but a reason for it if it %s", (_what, evaluate, error) => {
    const { evaluation, detail } = ask({ name: "faulty", evaluate });
    expect({ evaluation, detail }).toEqual({
      evaluation: undefined,
      detail: { result: false, rules: [], error },
    });
  });

  it.each<[string, unknown, string]>([
    ["weight", { ...vote, weight: 1.5 }, "Weight must be between 0.0 and 1.0, got: 1.5"],
    ["decision", { ...vote, decision: "" }, "the evaluator `odd` returned no decision"],
    [
      "promise",
      Promise.resolve(vote),
      "the evaluator `odd` returned a promise, for which only `decideAsync` waits",
    ],
    ["text", "approve", "the evaluator `odd` must return an evaluation, null or undefined"],
  ])("has no vote if it breaks the contract: %s", (_what, given, error) => {
    const { evaluation, detail } = ask({ name: "odd", evaluate: () => given as typeof vote });
    expect({ evaluation, detail }).toEqual({
      evaluation: undefined,
      detail: { result: false, rules: [], error },
    });
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "an evaluator needs a name"],
    ["null", null, "an evaluator needs a name"],
    ["a text", "credit", "an evaluator needs a name"],
    ["without a name", { evaluate: () => vote }, "an evaluator needs a name"],
    ["with an empty name", { name: "", evaluate: () => vote }, "an evaluator needs a name"],
    ["with a name that is no text", { name: 7, evaluate: () => vote }, "an evaluator needs a name"],
    ["without a function", { name: "odd" }, "the evaluator `odd` has no function `evaluate`"],
    [
      "with something else for it",
      { name: "odd", evaluate: 1 },
      "the evaluator `odd` has no function `evaluate`",
    ],
  ])("is not %s", (_what, given, message) => {
    const error = thrownBy(() => prepareVoter(given as Evaluator));
    expect(error).toBeInstanceOf(InvalidEvaluatorError);
    expect((error as Error).message).toBe(message);
  });
});

describe("an evaluator written as in a definition", () => {
  it("votes by its rules", () => {
    const rules = ruleset("r", [ifRule("a", { field: "n", op: "gt", value: 1 }), whenRule("b", "n < 0")]);
    expect(ask(rules, { n: 2 }).evaluation?.metadata).toMatchObject({ rule_id: "a" });
    expect(ask(rules, { n: -1 }).evaluation?.metadata).toMatchObject({ rule_id: "b" });
  });

  it("votes always if it is static", () => {
    expect(ask(says("s", "approve", 0.5)).evaluation).toMatchObject({ decision: "approve", weight: 0.5 });
  });

  it("is rejected if a weight is out of bounds", () => {
    expect(thrownBy(() => prepareVoter(says("s", "approve", 1.5)))).toBeInstanceOf(InvalidWeightError);
  });

  it.each<[string, EvaluatorDefinition, string]>([
    [
      "an unknown operator",
      ruleset("r", [ifRule("a", { field: "n", op: "greater_than", value: 1 })]),
      "the rule `a` of `r`: unknown operator `greater_than`",
    ],
    [
      "an empty group",
      ruleset("r", [ifRule("fine", { field: "n", op: "present" }), ifRule("a", { all: [] })]),
      "the rule `a` of `r`: `all` must not be empty",
    ],
    [
      "an expression that does not compile",
      ruleset("r", [whenRule("a", "n >")]),
      "the rule `a` of `r`: expected a value, got the end of the expression",
    ],
    [
      "neither `if` nor `when`",
      ruleset("r", [{ id: "a", then: vote }]),
      "the rule `a` of `r`: it needs either `if` or `when`, not both",
    ],
    [
      "both `if` and `when`",
      ruleset("r", [{ ...whenRule("a", "true"), if: { field: "n", op: "present" } }]),
      "the rule `a` of `r`: it needs either `if` or `when`, not both",
    ],
    [
      "a `when` that is no text",
      ruleset("r", [whenRule("a", 5 as unknown as string)]),
      "the rule `a` of `r`: `when` must be text",
    ],
    [
      "rules that are no list",
      { name: "r", rules: "n > 1" as unknown as [] },
      "the rules of `r` must be a list",
    ],
  ])("is malformed with %s", (_what, given, message) => {
    const error = thrownBy(() => prepareVoter(given));
    expect(error).toBeInstanceOf(InvalidRuleDslError);
    expect((error as Error).message).toBe(message);
  });

  it("is not called malformed if something else went wrong", () => {
    const condition = {
      op: "present",
      get field(): string {
        throw new RangeError("not the rule's fault");
      },
    };
    expect(thrownBy(() => prepareVoter(ruleset("r", [ifRule("a", condition)])))).toBeInstanceOf(RangeError);
  });

  it("gets a hint with the most similar operator", () => {
    const rules = ruleset("r", [ifRule("a", { field: "n", op: "greater_than", value: 1 })]);
    expect(thrownBy(() => prepareVoter(rules))).toMatchObject({ hint: "did you mean `gt`?" });
  });
});

const first: ScoringPlugIn = {
  name: "first",
  score: ([best]) => ({ decision: best?.decision ?? "", confidence: 1 }),
};

describe("a custom strategy", () => {
  it("is called as a method", () => {
    class Constant implements ScoringPlugIn {
      readonly name = "constant";
      readonly confidence = 0.25;
      score() {
        return { decision: "a", confidence: this.confidence };
      }
    }
    expect(toStrategy(new Constant()).score(votes(["b", 1]))).toEqual({ decision: "a", confidence: 0.25 });
  });

  it("has no parameters by default", () => {
    expect(toStrategy(first).parameters).toEqual({});
    expect(toStrategy({ ...first, parameters: { threshold: 0.5 } }).parameters).toEqual({ threshold: 0.5 });
  });

  it("has parameters that can no longer be changed, while those given can", () => {
    const parameters = { threshold: 0.5, bands: [0.1, 0.9] };
    const strategy = toStrategy({ ...first, parameters });
    expect(Object.isFrozen(parameters)).toBe(false);
    parameters.bands.push(1);
    expect(strategy.parameters).toEqual({ threshold: 0.5, bands: [0.1, 0.9] });
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["a text", "threshold"],
    ["a function", () => ({ decision: "a", confidence: 1 })],
    ["without a name", { score: () => ({ decision: "a", confidence: 1 }) }],
    ["with an empty name", { ...first, name: "" }],
    ["with a name that is no text", { ...first, name: 7 }],
    ["without a function", { name: "odd" }],
  ])("is not %s", (_what, given) => {
    const error = thrownBy(() => toStrategy(given as ScoringPlugIn));
    expect(error).toBeInstanceOf(InvalidScoringStrategyError);
    expect((error as Error).message).toBe("a scoring strategy needs a name and a function `score`");
  });
});

describe("a strategy by its name", () => {
  it("is a built-in one", () => {
    expect(toStrategy({ strategy: "max_weight" }).name).toBe("max_weight");
    expect(toStrategy(threshold(0.8)).parameters).toEqual({
      threshold: 0.8,
      fallback_decision: "manual_review",
    });
  });

  it("is weighted_average if there is none", () => {
    expect(toStrategy(undefined).name).toBe("weighted_average");
  });

  it.each(["treshold", "DecisionAgent::Scoring::Threshold", "toString", "", 7])("is not %s", (strategy) => {
    const error = thrownBy(() => toStrategy({ strategy } as Scoring));
    expect(error).toBeInstanceOf(InvalidScoringStrategyError);
    expect((error as Error).message).toBe(`unknown scoring strategy \`${strategy}\``);
  });

  it.each<[string, Scoring, string]>([
    [
      "`threshold` without a threshold",
      { strategy: "threshold", fallback_decision: "f" },
      "the strategy `threshold` needs a `threshold` from 0 to 1",
    ],
    [
      "`threshold` with one above 1",
      threshold(1.5),
      "the strategy `threshold` needs a `threshold` from 0 to 1",
    ],
    [
      "`threshold` without a fallback",
      { strategy: "threshold", threshold: 0.5 },
      "the strategy `threshold` needs a `fallback_decision`",
    ],
    ...[42, ""].map((fallback): [string, Scoring, string] => [
      `\`threshold\` with the fallback ${JSON.stringify(fallback)}`,
      threshold(0.5, fallback as string),
      "the strategy `threshold` needs a `fallback_decision`",
    ]),
    [
      "`consensus` with a minimum below 0",
      { strategy: "consensus", minimum_agreement: -1 },
      "the strategy `consensus` needs a `minimum_agreement` from 0 to 1",
    ],
  ])("is not %s", (_what, scoring, message) => {
    const error = thrownBy(() => toStrategy(scoring));
    expect(error).toBeInstanceOf(InvalidScoringStrategyError);
    expect((error as Error).message).toBe(message);
  });
});
