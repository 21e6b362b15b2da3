import fc from "fast-check";
import { expect, it } from "vitest";
import { emptySum, extendSum, extendShortSum } from "../../src/store/drivers/jsonl/index/page-sum.js";

const numbers = fc.uint32Array({ maxLength: 40 });

it("the unrolled checksum equals the plain one", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), numbers, (seed, page, given) => {
      const start = emptySum(seed, page);
      const from = Math.min(page % 9, given.length);
      expect(extendShortSum(start, given, from, given.length)).toEqual(
        extendSum(start, given, from, given.length),
      );
    }),
  );
});

it("a changed number changes the checksum", () => {
  fc.assert(
    fc.property(numbers, fc.nat(), fc.integer({ min: 1, max: 0xffffffff }), (given, at, difference) => {
      fc.pre(given.length > 0);
      const changed = given.map((number, index) =>
        index === at % given.length ? number ^ difference : number,
      );
      const sumOf = (all: Uint32Array) => extendShortSum(emptySum(1, 2), all, 0, all.length);
      expect(sumOf(changed)).not.toEqual(sumOf(given));
    }),
  );
});
