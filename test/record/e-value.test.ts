import { describe, expect, it } from "vitest";
import { multinomialEValue } from "../../src/record/statistics.js";
import { falseAlarms, foundDrifts } from "./split-streams.js";

describe("the e-value of a split", () => {
  it.each([
    { name: "no input", observed: [0, 0], shares: [0.5, 0.5], e: 1 },
    { name: "one branch alone", observed: [100], shares: [1], e: 1 },
    // A uniform prior: 2⁹ · 9! · 0! / 10!
    { name: "9 of 9 in one half", observed: [9, 0], shares: [0.5, 0.5], e: 51.2 },
    // 2⁴ · 2! · 2! · 1! / 5!
    { name: "2 of 4 in each half", observed: [2, 2], shares: [0.5, 0.5], e: 64 / 120 },
    // 0.5 · 1.5 / (2 · 3 · 0.25²), a prior of less than a half
    { name: "2 of 2 in a quarter", observed: [2, 0], shares: [0.25, 0.75], e: 2 },
    // The mean of 2.7 for all shares together and of 10/3, 35/24 and 35/24 for each against the others.
    { name: "3 of 3 in a third", observed: [3, 0, 0], shares: [1 / 3, 1 / 3, 1 / 3], e: 2.391666666666667 },
  ])("is $e for $name", ({ observed, shares, e }) => {
    expect(multinomialEValue(observed, shares)).toBeCloseTo(e, 10);
  });

  it("does not depend on the order of the branches", () => {
    const a = multinomialEValue([70, 25, 5], [0.6, 0.3, 0.1]);
    expect(multinomialEValue([5, 70, 25], [0.1, 0.6, 0.3])).toBeCloseTo(a, 10);
  });

  it("is expected to stay the same with the next input of a correct split", () => {
    const shares = [0.6, 0.3, 0.1];
    const counts = [9, 2, 4];
    const expected = shares.reduce((sum, share, next) => {
      const after = counts.map((count, index) => count + (index === next ? 1 : 0));
      return sum + share * multinomialEValue(after, shares);
    }, 0);
    expect(expected).toBeCloseTo(multinomialEValue(counts, shares), 10);
  });

  it("is capped, so that JSON can represent it", () => {
    expect(multinomialEValue([1e6, 0], [0.1, 0.9])).toBe(1e308);
  });

  it("raises no alarm on correct streams that are looked at after every input", () => {
    expect(falseAlarms({ shares: [0.7, 0.2, 0.1], streams: 200, inputs: 1000, seed: 33 })).toBe(0);
  });

  it("finds a share that is off by 3 percentage points within 20,000 inputs", () => {
    const off = { shares: [0.5, 0.5], actual: [0.53, 0.47] };
    expect(foundDrifts({ ...off, streams: 100, inputs: 20_000, seed: 33 })).toBeGreaterThanOrEqual(95);
  });
});
