import { describe, expect, it } from "vitest";
import {
  InvalidConfidenceError,
  InvalidScoringStrategyError,
  NoEvaluationsError,
} from "../../../src/errors.js";
import { prepareEvaluator } from "../../../src/evaluate/scored/evaluator.js";
import { prepareVoter } from "../../../src/evaluate/scored/plug-ins.js";
import type { Scored, Strategy } from "../../../src/evaluate/scored/scoring.js";
import { strategyFor } from "../../../src/evaluate/scored/scoring.js";
import type { VoteTally } from "../../../src/evaluate/scored/tally-votes.js";
import { tallyVotes } from "../../../src/evaluate/scored/tally-votes.js";
import type { EvaluatorDefinition } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";
import { scopeOf } from "../definitions.js";
import { ifRule, ruleset, says, threshold, thrownBy, whenRule } from "./votes.js";

function tally(
  evaluators: readonly EvaluatorDefinition[],
  context: JsonObject = {},
  strategy: Strategy = strategyFor(),
): VoteTally {
  return tallyVotes(
    evaluators.map((each) => prepareEvaluator(each).vote(scopeOf(context))),
    strategy,
  );
}

const own = (score: () => unknown): Strategy => ({
  name: "own",
  parameters: {},
  score: score as () => Scored,
});
const present = (field: string) => ({ field, op: "present" });
const approve = { decision: "approve", weight: 0.9 };

describe("the votes", () => {
  it("make a decision with its details", () => {
    expect(tally([says("a", "approve", 0.9, "Good"), says("b", "reject", 0.3)])).toEqual({
      decision: "approve",
      confidence: 0.75,
      evaluations: [
        {
          decision: "approve",
          weight: 0.9,
          reason: "Good",
          evaluator_name: "a",
          metadata: { type: "static" },
        },
        { decision: "reject", weight: 0.3, reason: "", evaluator_name: "b", metadata: { type: "static" } },
      ],
      explanations: [
        "Decision: approve (confidence 0.75)",
        "a voted approve with weight 0.9: Good",
        "b voted reject with weight 0.3 and was overruled",
        "Resolved by weighted_average: the greatest sum of weights decides",
      ],
      scoring_strategy: "weighted_average",
      scoring_parameters: {},
      because: ["Good"],
      failed_conditions: [],
    });
  });

  it("are those of the evaluators that voted", () => {
    const mute = ruleset("mute", [ifRule("r", present("x"))]);
    expect(tally([mute, says("a", "approve", 1)]).evaluations.map((each) => each.evaluator_name)).toEqual([
      "a",
    ]);
  });

  it("cannot be changed by the strategy", () => {
    const greedy: Strategy = {
      name: "greedy",
      parameters: {},
      score: (evaluations) => {
        (evaluations as unknown[]).length = 1;
        return { decision: "approve", confidence: 1 };
      },
    };
    expect(
      thrownBy(() => tally([says("a", "approve", 1), says("b", "reject", 1)], {}, greedy)),
    ).toBeInstanceOf(TypeError);
  });
});

describe("because", () => {
  it("holds the conditions of those who voted for the decision", () => {
    const { because } = tally(
      [
        ruleset("a", [ifRule("r", { all: [present("x"), { field: "n", op: "gte", value: 1 }] }, approve)]),
        ruleset("b", [whenRule("r", "n > 0", approve)]),
        ruleset("c", [whenRule("r", "n == 1", { decision: "reject", weight: 0.1 })]),
      ],
      { x: 1, n: 1 },
    );
    expect(because).toEqual(["x present", "n >= 1", "n > 0"]);
  });

  it("leaves out the conditions of rules that did not match, and those of a group that were not needed", () => {
    const { because, failed_conditions } = tally(
      [
        ruleset("a", [
          ifRule("no", present("y")),
          ifRule("r", { any: [present("z"), present("x")] }, approve),
        ]),
      ],
      { x: 1 },
    );
    expect({ because, failed_conditions }).toEqual({
      because: ["x present"],
      failed_conditions: ["y present", "z present"],
    });
  });

  it("contains the conditions under `none` that are false", () => {
    const { because, failed_conditions } = tally(
      [ruleset("a", [ifRule("r", { none: [{ field: "fraud", op: "eq", value: true }] }, approve)])],
      { fraud: false },
    );
    expect({ because, failed_conditions }).toEqual({
      because: ["not (fraud = true)"],
      failed_conditions: [],
    });
  });

  it("says each condition once", () => {
    const same = [ifRule("r", present("x"), approve)];
    expect(tally([ruleset("a", same), ruleset("b", same)], { x: 1 }).because).toEqual(["x present"]);
  });

  it("is a static evaluator's reason, or what it says where it has none", () => {
    expect(tally([says("a", "approve", 1, "House rule")]).because).toEqual(["House rule"]);
    expect(tally([says("a", "approve", 1)]).because).toEqual(["a says approve"]);
  });

  it("is the reason of a custom evaluator", () => {
    const voter = prepareVoter({
      name: "own",
      evaluate: () => ({ ...approve, reason: "It feels right" }),
    });
    expect(tallyVotes([voter.vote(scopeOf({}), {})], strategyFor()).because).toEqual(["It feels right"]);
  });

  it("gives the reason for a fallback without votes", () => {
    const { because } = tally(
      [says("a", "approve", 0.5), says("b", "reject", 0.2)],
      {},
      strategyFor(threshold(0.8)),
    );
    expect(because).toEqual(["the highest weight 0.5 is below the threshold 0.8"]);
  });

  it("does not count those without a vote if it fell back", () => {
    const mute = ruleset("mute", [ifRule("r", present("x"))]);
    const { because } = tally([mute, says("a", "approve", 0.5)], {}, strategyFor(threshold(0.8)));
    expect(because).toEqual(["the highest weight 0.5 is below the threshold 0.8"]);
  });

  it("names the custom strategy that chose a decision without votes", () => {
    const odd = own(() => ({ decision: "other", confidence: 0 }));
    expect(tally([says("a", "approve", 0.5)], {}, odd).because).toEqual(["decided by `own`"]);
  });
});

describe("failed_conditions", () => {
  it("contain the failed conditions of every evaluated rule once", () => {
    const { failed_conditions } = tally(
      [
        ruleset("a", [ifRule("r", present("x")), whenRule("w", "n > 5")]),
        ruleset("b", [whenRule("w", "n > 5"), whenRule("x", "n > 6")]),
        says("s", "approve", 1),
      ],
      { n: 1 },
    );
    expect(failed_conditions).toEqual(["x present", "n > 5", "n > 6"]);
  });

  it("hold what must not be and was", () => {
    const rule = ifRule("r", { none: [{ field: "fraud", op: "eq", value: true }] });
    const { failed_conditions } = tally([ruleset("a", [rule]), says("s", "approve", 1)], { fraud: true });
    expect(failed_conditions).toEqual(["not (fraud = true)"]);
  });
});

describe("no votes at all", () => {
  const mute = ruleset("mute", [ifRule("r", { field: "ssn", op: "eq", value: "1" }), whenRule("w", "n > 1")]);

  it("are an error", () => {
    const error = thrownBy(() => tally([mute], { ssn: "123-45-6789" }));
    expect(error).toBeInstanceOf(NoEvaluationsError);
    expect(error).toMatchObject({
      code: "no_evaluations",
      message: "No evaluators returned a decision; `w` of `mute` could not be evaluated: `n` is missing",
      hint: "add a rule that always matches, or a static evaluator",
    });
  });

  it("name the evaluators and the failed conditions, but no values, which may be masked", () => {
    const { details } = thrownBy(() => tally([mute], { ssn: "123-45-6789" })) as NoEvaluationsError;
    expect(details).toEqual({ evaluators: [{ name: "mute" }], failed_conditions: ['ssn = "1"', "n > 1"] });
  });

  it("report which evaluators failed and why", () => {
    const faulty = prepareVoter({
      name: "faulty",
      evaluate: () => {
        throw new Error("broken");
      },
    });
    const error = thrownBy(() =>
      tallyVotes([faulty.vote(scopeOf({}), {}), prepareEvaluator(mute).vote(scopeOf({}))], strategyFor()),
    );
    expect(error).toMatchObject({
      message:
        "No evaluators returned a decision; `faulty` failed: broken; `w` of `mute` could not be evaluated: `n` is missing",
      details: { evaluators: [{ name: "faulty", error: "broken" }, { name: "mute" }] },
    });
  });
});

describe("very many votes", () => {
  it.each([0.5, 0.9])("are as good as few, with a threshold of %s", (least) => {
    const voted = prepareEvaluator(says("a", "approve", 0.8)).vote(scopeOf({}));
    const { decision, evaluations } = tallyVotes(
      Array.from({ length: 200_000 }, () => voted),
      strategyFor(threshold(least)),
    );
    expect([decision, evaluations.length]).toEqual([least < 0.8 ? "approve" : "manual_review", 200_000]);
  });
});

describe("a strategy", () => {
  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "approve"],
    ["no decision", { confidence: 1 }],
    ["an empty decision", { decision: "", confidence: 1 }],
    ["a decision that is no text", { decision: 1, confidence: 1 }],
  ])("must not give %s", (_what, given) => {
    const error = thrownBy(() =>
      tally(
        [says("a", "approve", 1)],
        {},
        own(() => given),
      ),
    );
    expect(error).toBeInstanceOf(InvalidScoringStrategyError);
    expect((error as Error).message).toBe("the strategy `own` returned no decision");
  });

  it.each([-0.1, 1.5, NaN, undefined])("must not give a confidence of %s", (confidence) => {
    const error = thrownBy(() =>
      tally(
        [says("a", "approve", 1)],
        {},
        own(() => ({ decision: "a", confidence })),
      ),
    );
    expect(error).toBeInstanceOf(InvalidConfidenceError);
  });
});
