import { describe, expect, it } from "vitest";
import { explainVotes } from "../../../src/evaluate/scored/tally-votes.js";
import type { Strategy } from "../../../src/evaluate/scored/scoring.js";
import { strategyFor } from "../../../src/evaluate/scored/scoring.js";
import type { Scoring } from "../../../src/model/definition.js";
import { threshold, votes } from "./votes.js";

const explained = (
  strategy: Strategy,
  ...given: readonly (readonly [string, number])[]
): readonly string[] => {
  const evaluations = votes(...given);
  return explainVotes({ ...strategy.score(evaluations), evaluations }, strategy);
};

const resolution = (scoring: Scoring, ...given: readonly (readonly [string, number])[]): string | undefined =>
  explained(strategyFor(scoring), ...given).at(-1);

describe("explanations", () => {
  it("lead with the decision, then those for it, then those against it, then why", () => {
    expect(explained(strategyFor({ strategy: "max_weight" }), ["a", 0.2], ["b", 0.9], ["a", 0.1])).toEqual([
      "Decision: b (confidence 0.9)",
      "e2 voted b with weight 0.9",
      "e1 voted a with weight 0.2 and was overruled",
      "e3 voted a with weight 0.1 and was overruled",
      "Resolved by max_weight: the greatest weight decides",
    ]);
  });

  it("report the reason of each vote that has one", () => {
    const evaluations = votes(["a", 1], ["b", 0.1]).map((each) => ({
      ...each,
      reason: `for ${each.decision}`,
    }));
    const lines = explainVotes({ decision: "a", confidence: 1, evaluations }, strategyFor());
    expect(lines.slice(1, 3)).toEqual([
      "e1 voted a with weight 1: for a",
      "e2 voted b with weight 0.1 and was overruled: for b",
    ]);
  });

  it.each<[string, Scoring, string]>([
    [
      "weighted_average",
      { strategy: "weighted_average" },
      "Resolved by weighted_average: the greatest sum of weights decides",
    ],
    ["max_weight", { strategy: "max_weight" }, "Resolved by max_weight: the greatest weight decides"],
    [
      "consensus",
      { strategy: "consensus", minimum_agreement: 0.6 },
      "Resolved by consensus: 2 of 3 votes agree, at least 0.6 of them must",
    ],
    ["consensus without a minimum", { strategy: "consensus" }, "Resolved by consensus: 2 of 3 votes agree"],
    [
      "a threshold that is reached",
      threshold(0.5),
      "Resolved by threshold: the greatest weight 0.5 reaches the threshold 0.5",
    ],
    [
      "a threshold that is not reached",
      threshold(0.8),
      "Resolved by threshold: the greatest weight 0.5 is below the threshold 0.8",
    ],
    [
      "a threshold that is not there",
      { strategy: "threshold" },
      "Resolved by threshold: the greatest weight 0.5 reaches the threshold 0",
    ],
  ])("say how a conflict was resolved by %s", (_name, scoring, line) => {
    expect(resolution(scoring, ["a", 0.5], ["b", 0.2], ["a", 0.1])).toBe(line);
  });

  it("give the number of votes for the decision of a custom strategy", () => {
    const own: Strategy = { name: "own", parameters: {}, score: () => ({ decision: "a", confidence: 1 }) };
    expect(explained(own, ["a", 0.5], ["b", 0.2]).at(-1)).toBe("Resolved by own: 1 of 2 votes were for it");
  });
});
