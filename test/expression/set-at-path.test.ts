import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DecisionError } from "../../src/errors.js";
import { pathsOverlap, setAtPath, removeAtPath } from "../../src/expression/path.js";
import type { JsonObject } from "../../src/model/json.js";

describe("a value put at a path", () => {
  it.each<[string, JsonObject, string, JsonObject]>([
    ["at the top", { a: 1 }, "b", { a: 1, b: 9 }],
    ["in place of another", { a: 1 }, "a", { a: 9 }],
    ["within what is there", { a: { x: 1 } }, "a.y", { a: { x: 1, y: 9 } }],
    ["with the objects that lead there", {}, "a.b.c", { a: { b: { c: 9 } } }],
  ])("stands %s", (_where, document, path, expected) => {
    const before = structuredClone(document);
    expect(setAtPath(document, path, 9)).toEqual(expected);
    expect(document).toEqual(before);
  });

  it.each<[JsonObject, string, string]>([
    [{ a: 1 }, "a.b", "what is fetched into `a.b` has no place: `a` is no object"],
    [{ a: { b: [1] } }, "a.b.c", "what is fetched into `a.b.c` has no place: `b` is no object"],
    [{ a: null }, "a.b", "what is fetched into `a.b` has no place: `a` is no object"],
  ])("has no place in %j at %s", (document, path, message) => {
    const put = (): unknown => setAtPath(document, path, 9);
    expect(put).toThrow(DecisionError);
    expect(put).toThrow(message);
  });

  it("makes an own key of a name that every object has", () => {
    expect(Object.hasOwn(setAtPath({}, "toString.x", 9), "toString")).toBe(true);
  });
});

describe("a path taken out of a document", () => {
  it.each<[string, JsonObject, string, JsonObject]>([
    ["at the top", { a: 1, b: 2 }, "a", { b: 2 }],
    ["deep within, and leaves what is beside it", { a: { b: 1, c: 2 } }, "a.b", { a: { c: 2 } }],
    ["with all that is below it", { a: { b: { c: 1 } } }, "a.b", { a: {} }],
  ])("is gone %s", (_where, document, path, expected) => {
    const before = structuredClone(document);
    expect(removeAtPath(document, path)).toEqual(expected);
    expect(document).toEqual(before);
  });

  it.each<[JsonObject, string]>([
    [{ a: 1 }, "b"],
    [{ a: 1 }, "a.b"],
    [{ a: { c: 1 } }, "a.b"],
    [{ a: [{ b: 1 }] }, "a.b"],
    [{}, "toString"],
  ])("leaves %j itself if there is nothing at %s", (document, path) => {
    expect(removeAtPath(document, path)).toBe(document);
  });

  it("brings back what was there before it was put in", () => {
    const step = fc.constantFrom("a", "b", "c");
    const document = fc.dictionary(step, fc.oneof(fc.integer(), fc.dictionary(step, fc.integer())));
    fc.assert(
      fc.property(document, step, (given, path) => {
        fc.pre(!Object.hasOwn(given, path));
        expect(removeAtPath(setAtPath(given as JsonObject, path, 1), path)).toEqual(given);
      }),
    );
  });
});

describe("two paths", () => {
  it.each([
    ["a", "a", true],
    ["a", "a.b", true],
    ["a.b.c", "a.b", true],
    ["a", "ab", false],
    ["a.b", "a.c", false],
    ["a.b", "a.bc", false],
  ])("%s and %s overlap: %s", (one, other, expected) => {
    expect(pathsOverlap(one, other)).toBe(expected);
    expect(pathsOverlap(other, one)).toBe(expected);
  });
});
