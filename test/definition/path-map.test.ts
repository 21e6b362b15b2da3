import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxPathLength, PathMap } from "../../src/definition/fetches.js";
import { pathsOverlap } from "../../src/expression/path.js";

function mapOf(...paths: readonly string[]): PathMap<number> {
  const map = new PathMap<number>();
  for (const [index, path] of paths.entries()) map.add(path, index);
  return map;
}

describe("values at paths", () => {
  it("are found by what leads to them, into them and past them", () => {
    const map = mapOf("a.b", "c");
    expect(map.covering("a.b")).toEqual({ path: "a.b", value: 0 });
    expect(map.covering("a.b.c.d")).toEqual({ path: "a.b", value: 0 });
    expect(map.covering("a")).toBeUndefined();
    expect(map.overlapping("a")).toEqual({ path: "a.b", value: 0 });
    expect(map.overlapping("a.bc")).toBeUndefined();
  });

  it("stand as they were first", () => {
    expect(mapOf("a", "a").covering("a")?.value).toBe(0);
  });

  it("overlap as two paths do", () => {
    const path = fc
      .array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 4 })
      .map((steps) => steps.join("."));
    fc.assert(
      fc.property(fc.array(path), path, (paths, asked) => {
        const isThere = paths.some((each) => pathsOverlap(each, asked));
        expect(mapOf(...paths).overlapping(asked) !== undefined).toBe(isThere);
      }),
    );
  });

  it("are found at once, however long a path is that leads past them", () => {
    const map = mapOf("a.a");
    expect(map.covering("a.".repeat(500_000) + "a")).toEqual({ path: "a.a", value: 0 });
    map.add("b.".repeat(500_000) + "b", 1);
    expect(map.overlapping("b")?.value).toBe(1);
    expect(map.overlapping("b.".repeat(maxPathLength) + "b")).toBeUndefined();
  });
});
