import { describe, expect, it } from "vitest";
import { InvalidConfidenceError } from "../../../src/errors.js";
import { roundedConfidence, strategyFor } from "../../../src/evaluate/scored/scoring.js";
import type { Scoring } from "../../../src/model/definition.js";
import { threshold, thrownBy, votes } from "./votes.js";

type Votes = readonly (readonly [string, number])[];

interface Case {
  readonly name: string;
  readonly votes: Votes;
  readonly decision: string;
  readonly confidence: number;
}

const check = (scoring: Scoring | undefined, cases: readonly Case[]): void => {
  it.each(cases)("$name", ({ votes: given, decision, confidence }) => {
    const scored = strategyFor(scoring).score(votes(...given));
    expect(scored.decision).toBe(decision);
    expect(roundedConfidence(scored.confidence)).toBe(confidence);
  });
};

describe("weighted_average", () => {
  check({ strategy: "weighted_average" }, [
    {
      name: "is sure where all agree",
      votes: [
        ["a", 0.8],
        ["a", 0.7],
      ],
      decision: "a",
      confidence: 1,
    },
    { name: "is sure of a single vote, however light", votes: [["a", 0.01]], decision: "a", confidence: 1 },
    {
      name: "takes the greatest sum, not the greatest weight",
      votes: [
        ["a", 0.9],
        ["b", 0.5],
        ["b", 0.6],
      ],
      decision: "b",
      confidence: 0.55,
    },
    {
      name: "takes the decision seen first where sums are equal",
      votes: [
        ["b", 0.5],
        ["a", 0.5],
      ],
      decision: "b",
      confidence: 0.5,
    },
    {
      name: "takes 0.1 and 0.2 for as much as 0.3",
      votes: [
        ["a", 0.3],
        ["b", 0.1],
        ["b", 0.2],
      ],
      decision: "a",
      confidence: 0.5,
    },
    {
      name: "takes 0.3 for as much as 0.1 and 0.2",
      votes: [
        ["b", 0.1],
        ["a", 0.3],
        ["b", 0.2],
      ],
      decision: "b",
      confidence: 0.5,
    },
    {
      name: "has no confidence where nothing weighs anything",
      votes: [
        ["a", 0],
        ["b", 0],
      ],
      decision: "a",
      confidence: 0,
    },
    {
      name: "compares weights that are next to nothing",
      votes: [
        ["a", 1e-14],
        ["b", 3e-14],
      ],
      decision: "b",
      confidence: 0.75,
    },
    {
      name: "is sure of a single vote of the least weight",
      votes: [["a", 5e-324]],
      decision: "a",
      confidence: 1,
    },
    {
      name: "rounds to four decimals",
      votes: [
        ["a", 1],
        ["b", 0.5],
        ["a", 1],
        ["b", 0.5],
      ],
      decision: "a",
      confidence: 0.6667,
    },
  ]);

  it("is the default strategy", () => {
    expect(strategyFor()).toMatchObject({ name: "weighted_average", parameters: {} });
    expect(strategyFor().score(votes(["a", 0.5], ["b", 0.25], ["b", 0.75]))).toEqual({
      decision: "b",
      confidence: 1 / 1.5,
    });
  });
});

describe("max_weight", () => {
  check({ strategy: "max_weight" }, [
    {
      name: "takes the greatest weight as it is",
      votes: [
        ["a", 0.9],
        ["b", 0.5],
        ["b", 0.6],
      ],
      decision: "a",
      confidence: 0.9,
    },
    {
      name: "takes the first of equals",
      votes: [
        ["b", 0.4],
        ["a", 0.4],
      ],
      decision: "b",
      confidence: 0.4,
    },
    { name: "does not mind weights of 0", votes: [["a", 0]], decision: "a", confidence: 0 },
  ]);
});

describe("consensus", () => {
  check({ strategy: "consensus", minimum_agreement: 0.6 }, [
    {
      name: "takes the most votes, whatever they weigh",
      votes: [
        ["a", 1],
        ["b", 0.1],
        ["b", 0.1],
      ],
      decision: "b",
      confidence: 0.6667,
    },
    {
      name: "has no confidence below the minimum",
      votes: [
        ["a", 1],
        ["b", 1],
      ],
      decision: "a",
      confidence: 0,
    },
    {
      name: "includes the minimum",
      votes: [
        ["a", 1],
        ["a", 1],
        ["a", 1],
        ["b", 1],
        ["b", 1],
      ],
      decision: "a",
      confidence: 0.6,
    },
    {
      name: "takes the decision seen first where as many agree",
      votes: [
        ["b", 0.1],
        ["a", 0.9],
        ["c", 1],
      ],
      decision: "b",
      confidence: 0,
    },
  ]);

  describe("without a minimum asks for half of the votes", () => {
    check({ strategy: "consensus" }, [
      {
        name: "which two of four are",
        votes: [
          ["a", 1],
          ["b", 1],
          ["a", 1],
          ["c", 1],
        ],
        decision: "a",
        confidence: 0.5,
      },
      {
        name: "which one of three is not",
        votes: [
          ["a", 1],
          ["b", 1],
          ["c", 1],
        ],
        decision: "a",
        confidence: 0,
      },
    ]);
  });
});

describe("threshold", () => {
  check(threshold(0.8), [
    {
      name: "takes the greatest weight where it reaches the threshold",
      votes: [
        ["a", 0.5],
        ["b", 0.9],
      ],
      decision: "b",
      confidence: 0.9,
    },
    { name: "includes the threshold", votes: [["a", 0.8]], decision: "a", confidence: 0.8 },
    {
      name: "falls back with half of the greatest weight",
      votes: [["a", 0.5]],
      decision: "manual_review",
      confidence: 0.25,
    },
    {
      name: "does not add weights up",
      votes: [
        ["a", 0.5],
        ["a", 0.6],
      ],
      decision: "manual_review",
      confidence: 0.3,
    },
    {
      name: "takes the first of equals",
      votes: [
        ["b", 0.8],
        ["a", 0.8],
      ],
      decision: "b",
      confidence: 0.8,
    },
    {
      name: "rounds half of the weight up",
      votes: [["a", 0.1235]],
      decision: "manual_review",
      confidence: 0.0618,
    },
  ]);

  describe("without a fallback", () => {
    check({ strategy: "threshold", threshold: 0.8 }, [
      { name: "takes the greatest weight", votes: [["a", 0.5]], decision: "a", confidence: 0.5 },
    ]);
  });

  describe("without a threshold", () => {
    check({ strategy: "threshold", fallback_decision: "f" }, [
      { name: "is reached by any weight", votes: [["a", 0]], decision: "a", confidence: 0 },
    ]);
  });
});

describe("a strategy", () => {
  it("reports its name and its parameters", () => {
    const { name, parameters } = strategyFor(threshold(0.8));
    expect({ name, parameters }).toEqual({
      name: "threshold",
      parameters: { threshold: 0.8, fallback_decision: "manual_review" },
    });
  });
});

describe("a confidence", () => {
  it.each([
    [0, 0],
    [1, 1],
    [2 / 3, 0.6667],
    [0.12344, 0.1234],
    [0.99996, 1],
    [0.00004, 0],
  ])("of %d is rounded to %d", (confidence, rounded) => {
    expect(roundedConfidence(confidence)).toBe(rounded);
  });

  it.each([-0.1, 1.00001, NaN, Infinity, "1", null, undefined])("must not be %s", (confidence) => {
    const error = thrownBy(() => roundedConfidence(confidence));
    expect(error).toBeInstanceOf(InvalidConfidenceError);
    expect((error as Error).message).toBe(
      `Confidence must be between 0.0 and 1.0, got: ${String(confidence)}`,
    );
  });
});
