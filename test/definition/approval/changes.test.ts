import { describe, expect, it } from "vitest";
import { changesBetween, orderedLike } from "../../../src/definition/approval/changes.js";

describe("changes", () => {
  it("are reported with the deepest possible paths", () => {
    const before = { a: { b: [1, 2, 3], same: true }, gone: null, "x/y~z": 1, kind: [1] };
    const after = { a: { b: [1, 5], same: true }, fresh: "new", "x/y~z": 2, kind: { 0: 1 } };
    expect(changesBetween(before, after)).toEqual([
      { path: "/a/b/1", before: 2, after: 5 },
      { path: "/a/b/2", before: 3 },
      { path: "/gone", before: null },
      { path: "/x~1y~0z", before: 1, after: 2 },
      { path: "/kind", before: [1], after: { 0: 1 } },
      { path: "/fresh", after: "new" },
    ]);
  });

  it("are none between equal documents, in whatever order their keys are", () => {
    expect(changesBetween({ a: 1, b: { c: [] } }, { b: { c: [] }, a: 1 })).toEqual([]);
    expect(changesBetween(undefined, undefined)).toEqual([]);
  });

  it("between something and nothing are the whole", () => {
    expect(changesBetween({ a: 1 }, undefined)).toEqual([{ path: "", before: { a: 1 } }]);
  });
});

describe("a document ordered like another", () => {
  it("has shared keys in the other's order and its own behind them", () => {
    const ordered = orderedLike(
      { n: 0, b: { y: 1, x: 2 }, a: [{ d: 1, c: 2 }] },
      { a: [{ c: 0, d: 0 }], b: { x: 0 } },
    );
    expect(JSON.stringify(ordered)).toBe('{"a":[{"c":2,"d":1}],"b":{"x":2,"y":1},"n":0}');
  });
});
