import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isoPrefix, systemClock } from "../src/clock.js";

describe("the time of a record", () => {
  it("has the date that `Date` returns, from the year 0 to 9999", () => {
    const [first, last] = [
      Date.parse("0000-01-01T00:00:00Z") / 1000,
      Date.parse("9999-12-31T23:59:59Z") / 1000,
    ];
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), (second) => {
        expect(isoPrefix(second)).toBe(new Date(second * 1000).toISOString().slice(0, 20));
      }),
      { numRuns: 2_000, examples: [[first], [last], [0], [-1], [951_782_400], [951_868_800]] },
    );
  });

  it("is the current time with six decimals", () => {
    const before = Date.now();
    const text = systemClock();
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Date.parse(text)).toBeGreaterThanOrEqual(before - 2);
    expect(Date.parse(text)).toBeLessThanOrEqual(Date.now() + 2);
  });
});
