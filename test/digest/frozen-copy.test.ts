import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { frozenCopy } from "../../src/digest/freeze-json.js";
import type { Json } from "../../src/model/json.js";
import { jsonValues } from "./json-values.js";

function everyPart(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [value];
  return [value, ...Object.values(value).flatMap(everyPart)];
}

function nested(depth: number, wrap: (inner: Json) => Json): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

describe("frozenCopy", () => {
  it("equals what it was made of", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(frozenCopy(value)).toEqual(value);
      }),
    );
  });

  it("is frozen in all its parts", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(everyPart(frozenCopy(value)).every(Object.isFrozen)).toBe(true);
      }),
    );
  });

  it("does not touch its input", () => {
    const input = { a: [1, { b: "x" }] };
    frozenCopy(input);
    expect([
      everyPart(input)
        .filter((part) => typeof part === "object")
        .some(Object.isFrozen),
      input,
    ]).toEqual([false, { a: [1, { b: "x" }] }]);
  });

  it("does not change with its input", () => {
    const input = { list: [1], inner: { a: 1 } };
    const copy = frozenCopy(input);
    input.list.push(2);
    input.inner.a = 9;
    expect(copy).toEqual({ list: [1], inner: { a: 1 } });
  });

  it("copies frozen input as well", () => {
    const input = Object.freeze({ a: Object.freeze([1]) });
    expect(frozenCopy(input)).not.toBe(input);
  });

  it("keeps a key called __proto__ as a key of its own", () => {
    const copy = frozenCopy(JSON.parse('{"a":1,"__proto__":{"admin":true}}'));
    expect([JSON.stringify(copy), Object.getPrototypeOf(copy) === Object.prototype]).toEqual([
      '{"a":1,"__proto__":{"admin":true}}',
      true,
    ]);
  });

  it("takes objects without a prototype", () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(frozenCopy(bare)).toEqual({ a: 1 });
  });

  it("leaves out a key whose value is undefined, as JSON does", () => {
    expect(Object.keys(frozenCopy({ a: undefined, b: 1 }) as object)).toEqual(["b"]);
  });

  it("takes the same object in two places", () => {
    const shared = { a: 1 };
    expect(frozenCopy([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  });

  const cyclicList: unknown[] = [];
  cyclicList.push(cyclicList);
  const cyclicObject: Record<string, unknown> = {};
  cyclicObject["self"] = { cyclicObject };
  class Money {
    readonly amount = 1;
  }

  it.each([
    ["NaN", Number.NaN],
    ["Infinity", Infinity],
    ["-Infinity", -Infinity],
    ["undefined", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("a")],
    ["a bigint", 1n],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["a set", new Set()],
    ["a regular expression", /a/],
    ["an error", new Error("a")],
    ["an instance of a class", new Money()],
    ["a typed array", new Uint8Array(1)],
    ["a boxed text", Object("a")],
    ["a promise", Promise.resolve()],
    ["a list that holds itself", cyclicList],
    ["an object that holds itself", cyclicObject],
    // eslint-disable-next-line no-sparse-arrays -- a hole is what is tested
    ["a list with a hole", [1, , 2]],
  ])("rejects %s, also deep within", (_what, value) => {
    expect([() => frozenCopy(value), () => frozenCopy({ a: [value] })].map(refuses)).toEqual([true, true]);
  });

  function refuses(run: () => unknown): boolean {
    try {
      run();
      return false;
    } catch (error) {
      return error instanceof TypeError;
    }
  }

  const wraps: [string, (inner: Json) => Json][] = [
    ["lists", (inner) => [inner]],
    ["objects", (inner) => ({ inner })],
  ];

  it.each(wraps)("takes %s nested 128 deep", (_what, wrap) => {
    const value = nested(128, wrap);
    expect(frozenCopy(value)).toEqual(value);
  });

  it.each(wraps)("rejects %s nested 129 deep", (_what, wrap) => {
    expect(() => frozenCopy(nested(129, wrap))).toThrow("it is nested deeper than 128");
  });

  it.each(wraps)("rejects %s nested so deep that the stack could end", (_what, wrap) => {
    expect(() => frozenCopy(nested(200_000, wrap))).toThrow(TypeError);
  });
});
