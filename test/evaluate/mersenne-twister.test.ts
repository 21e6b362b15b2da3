import { describe, expect, it } from "vitest";
import { firstRandom } from "../../src/evaluate/mersenne-twister.js";

describe("firstRandom", () => {
  it.each([
    ["0", 0.8444218515250481],
    ["1", 0.13436424411240122],
    ["ffffffff", 0.6353574441341173],
    ["100000000", 0.11299430095636409],
    ["f".repeat(64), 0.47725238525023916],
    ["9456bdfa12ea76959c94a3572f5d91c73d838622df0a8d9b4e815c276c6b7880", 0.07862582218695235],
    [`00000001${"0".repeat(56)}`, 0.31416930105864005],
  ])("of the seed 0x%s is what CPython answers first", (seed, random) => {
    expect(firstRandom(seed)).toBe(random);
  });

  it("ignores leading zeros, as the seed is a number", () => {
    expect(firstRandom(`${"0".repeat(56)}ffffffff`)).toBe(firstRandom("ffffffff"));
  });
});
