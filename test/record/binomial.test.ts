import { describe, expect, it } from "vitest";
import { binomialTail } from "../../src/record/statistics.js";

describe("the binomial tail", () => {
  it.each([
    { successes: 5, trials: 5, chance: 0.1, tail: 1e-5 },
    { successes: 9, trials: 9, chance: 0.5, tail: 1 / 512 },
    { successes: 2, trials: 3, chance: 0.5, tail: 0.5 },
    { successes: 2, trials: 4, chance: 0.25, tail: 67 / 256 },
    { successes: 60, trials: 100, chance: 0.5, tail: 0.02844396682049039 },
  ])("is $tail for $successes of $trials at $chance", ({ successes, trials, chance, tail }) => {
    expect(binomialTail(successes, trials, chance)).toBeCloseTo(tail, 10);
  });

  it.each([
    { name: "no more is asked for than is to be expected", given: [3, 10, 0.3], tail: 1 },
    { name: "more is asked for than was tried", given: [11, 10, 0.3], tail: 0 },
    { name: "there is no chance", given: [1, 10, 0], tail: 0 },
    { name: "it is certain", given: [10, 10, 1], tail: 1 },
  ])("is $tail where $name", ({ given: [successes = 0, trials = 0, chance = 0], tail }) => {
    expect(binomialTail(successes, trials, chance)).toBe(tail);
  });

  it("is a probability for very many trials too", () => {
    const tail = binomialTail(600, 100_000, 0.005);
    expect(tail).toBeGreaterThan(0);
    expect(tail).toBeLessThan(0.001);
  });
});
