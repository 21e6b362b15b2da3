import { describe, expect, it } from "vitest";
import { chiSquareTail } from "../../src/record/statistics.js";

/** Statistic, degrees of freedom, and the tail worked out to 60 digits with Python's `decimal`. */
const known: readonly [number, number, number][] = [
  [3.841458820694124, 1, 0.05],
  [7.814727903251179, 3, 0.05],
  [13.815510557964274, 2, 0.001],
  [0.0001, 1, 9.9202128737073e-1],
  [1e-10, 1, 9.9999202115439e-1],
  [10, 1, 1.5654022580025e-3],
  [100, 1, 1.5239706048321e-23],
  [1000, 1, 1.7958327848007e-219],
  [1000, 3, 1.7994208765314e-216],
  [1400, 2, 9.8596765437597e-305],
  [0.5, 3, 9.1889141165467e-1],
  [5, 4, 2.8729749518364e-1],
  [5, 5, 4.158801869955e-1],
  [2, 7, 9.598403687301e-1],
  [20, 7, 5.5696830729455e-3],
  [29.588, 10, 1.0001119410634e-3],
  [9, 10, 5.3210357637471e-1],
  [10.5, 10, 3.9777368107622e-1],
  [100, 99, 4.5295851132093e-1],
  [50, 99, 9.9999005454681e-1],
  [148.23, 99, 1.0000659269003e-3],
  [400, 99, 8.3728937806646e-38],
  [999, 999, 4.9404987795852e-1],
  [1140, 999, 1.2150619797654e-3],
  [500, 1000, 1],
  [900, 1000, 9.8928276190871e-1],
  [1000, 1000, 4.9405285382923e-1],
  [1100, 1000, 1.4614408126295e-2],
  [1143.9, 1000, 1.0011777377376e-3],
  [2000, 1000, 4.1436785914549e-69],
  [9999, 9999, 4.9811927192721e-1],
  [10500, 10000, 2.4794736798936e-4],
];

describe("the tail of the chi-square distribution", () => {
  it.each(known)("beyond %f with %i degrees of freedom is exact to ten digits", (statistic, df, tail) => {
    expect(Math.abs(chiSquareTail(statistic, df) / tail - 1)).toBeLessThan(1e-10);
  });

  it.each([1, 2, 3, 10, 1000])("is 1 at 0, with %i degrees of freedom", (df) => {
    expect(chiSquareTail(0, df)).toBe(1);
  });

  it.each([
    [1e4, 3],
    [1e6, 1],
    [Number.MAX_VALUE, 1000],
    [Infinity, 2],
  ])("beyond %d is too small for a double, but still a probability", (statistic, df) => {
    expect(chiSquareTail(statistic, df)).toBe(0);
  });

  it("without degrees of freedom is 0 above 0", () => {
    expect(chiSquareTail(0, 0)).toBe(1);
    expect(chiSquareTail(1, 0)).toBe(0);
  });

  it.each([1, 2, 7, 100, 1000])("never grows with the statistic and stays a probability (%i)", (df) => {
    let last = 1;
    for (let statistic = 0; statistic < 4 * df + 50; statistic += df / 97) {
      const tail = chiSquareTail(statistic, df);
      expect(tail).toBeGreaterThanOrEqual(0);
      expect(tail).toBeLessThanOrEqual(last + 1e-12);
      last = tail;
    }
  });
});
