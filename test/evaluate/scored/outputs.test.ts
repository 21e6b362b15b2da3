import { describe, expect, it } from "vitest";
import { evaluate } from "../../../src/evaluate/evaluate.js";
import { prepare } from "../../../src/evaluate/prepare.js";
import type { EvaluatorDefinition, Vote } from "../../../src/model/definition.js";
import type { Json } from "../../../src/model/json.js";
import { scopeOf } from "../definitions.js";
import { ask, outcomeOf, ruleset, says, scoredOf, threshold, thrownBy, whenRule } from "./votes.js";

const voteFor = (name: string, then: Vote): EvaluatorDefinition =>
  ruleset(name, [whenRule(name, "true", then)]);

describe("the output of a scored decision", () => {
  it.each<[string, readonly EvaluatorDefinition[], Json]>([
    [
      "is that of the strongest vote for the decision",
      [
        voteFor("a", { decision: "approve", weight: 0.3, output: "weak" }),
        voteFor("b", { decision: "approve", weight: 0.9, output: "strong" }),
        voteFor("c", { decision: "reject", weight: 1, output: "other" }),
      ],
      "strong",
    ],
    [
      "is that of the first of equally strong votes",
      [
        voteFor("a", { decision: "approve", weight: 0.5, output: "first" }),
        voteFor("b", { decision: "approve", weight: 0.5, output: "second" }),
      ],
      "first",
    ],
    [
      "comes from a weaker vote where the strongest has none",
      [
        voteFor("a", { decision: "approve", weight: 0.9 }),
        { name: "b", static: { decision: "approve", weight: 0.2, output: { limit: 100 } } },
      ],
      { limit: 100 },
    ],
    [
      "is null where no vote for the decision has one",
      [says("a", "approve", 0.9), voteFor("b", { decision: "reject", weight: 0.1, output: 1 })],
      null,
    ],
    ["is filled in", [voteFor("a", { decision: "approve", output: "{{ n * 2 }}" })], 6],
    ["counts a vote without a weight as 1", [voteFor("a", { decision: "approve", output: 1 })], 1],
  ])("%s", (_what, evaluators, output) => {
    const evaluated = ask(scoredOf(evaluators), { n: 3 });
    expect(evaluated).toMatchObject({ selected_labels: ["approve"], outputs: [output] });
  });

  it("is absent where no evaluator declares one", () => {
    expect(ask(scoredOf([says("a", "approve", 0.9)]))).not.toHaveProperty("outputs");
  });

  it("is null where the fallback decides", () => {
    const weak = voteFor("a", { decision: "approve", weight: 0.2, output: "{{ fee }}" });
    const prepared = prepare(scoredOf([weak], { scoring: threshold(0.8) }));
    const evaluated = evaluate(prepared, scopeOf({ fee: 1 }));
    expect(evaluated.outputs).toEqual([null]);
    expect(prepared.inputsRead(evaluated).flat()).toEqual([]);
  });

  it("comes from another evaluator where a custom one has the strongest vote", () => {
    const definition = scoredOf([
      { name: "agent", custom: "review" },
      voteFor("a", { decision: "approve", weight: 0.2, output: "standard" }),
    ]);
    const review = { decision: "approve", weight: 0.9, reason: "", metadata: {} };
    const scope = { ...scopeOf({}), facts: { votes: { review } } };
    expect(evaluate(prepare(definition), scope)).toMatchObject({
      selected_labels: ["approve"],
      outputs: ["standard"],
    });
  });

  it("is no part of the votes, whose hash the specification defines", () => {
    const { evaluations } = outcomeOf(ask(scoredOf([voteFor("a", { decision: "approve", output: 1 })])));
    expect(evaluations.map((each) => Object.keys(each))).toEqual([
      ["decision", "weight", "reason", "evaluator_name", "metadata"],
    ]);
  });

  it("ends the decision where it cannot be evaluated", () => {
    const missing = scoredOf([voteFor("a", { decision: "approve", output: { x: "{{ gone }}" } })]);
    expect(thrownBy(() => ask(missing))).toMatchObject({
      code: "output_errored",
      message:
        "`scored-under-test`: `/x` in the output of `approve` could not be evaluated: `gone` is missing",
    });
  });

  it("does not show a masked value", () => {
    const definition = scoredOf([voteFor("a", { decision: "approve", output: "{{ input }}" })], {
      input: "{{ secret }}",
      logging: { mask: ["/secret"] },
    });
    expect(ask(definition, { secret: "s" }).outputs).toEqual(["[masked]"]);
  });

  it("is read, and listed for the lineage where it is the answer", () => {
    const prepared = prepare(
      scoredOf([
        ruleset("a", [
          whenRule("low", "n < 0", { decision: "approve", output: "{{ low }}" }),
          whenRule("high", "n > 0", { decision: "approve", output: "{{ high }}" }),
        ]),
        { name: "b", static: { decision: "approve", weight: 0.1, output: "{{ weak }}" } },
      ]),
    );
    expect(prepared.reads).toEqual(expect.arrayContaining(["n", "low", "high", "weak"]));
    const evaluated = evaluate(prepared, scopeOf({ n: 1, high: 2, weak: 3 }));
    expect(prepared.inputsRead(evaluated).flat()).toEqual(["n", "n", "high"]);
  });
});
