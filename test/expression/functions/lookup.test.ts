import { describe, expect, it } from "vitest";
import { Failure } from "../../../src/expression/failure.js";
import { answer } from "../answers.js";

const context = {
  none: null,
  no: false,
  zero: 0,
  text: "",
  list: [],
  object: {},
  items: ["a", null, "c"],
  headers: { "x-tier": "gold", "": "blank", "a.b": "dotted", 7: "seven", nothing: null },
};

describe("exists and empty", () => {
  it.each([
    ["absent", false, true],
    ["absent.deeper", false, true],
    ["none", false, true],
    ["none.deeper", false, true],
    ["no", true, false],
    ["zero", true, false],
    ["text", true, true],
    ["list", true, true],
    ["object", true, true],
    ["items", true, false],
    ["headers", true, false],
    ["items.1", false, true],
    ["items.9", false, true],
    ["' '", true, false],
    ["null", false, true],
  ])("of %s are %s and %s", (operand, exists, empty) => {
    expect([answer(`exists(${operand})`, context), answer(`empty(${operand})`, context)]).toEqual([
      exists,
      empty,
    ]);
  });
});

describe("get", () => {
  it.each([
    ["get(headers, 'x-tier')", "gold"],
    ["get(headers, '')", "blank"],
    ["get(headers, 'a.b')", "dotted"],
    ["get(headers, 7)", "seven"],
    ["get(headers, 'absent')", null],
    ["get(headers, 'absent', 'free')", "free"],
    ["get(headers, 'nothing', 'free')", "free"],
    ["get(headers, 'toString', 'free')", "free"],
    ["get(headers, 'hasOwnProperty')", null],
    ["get(items, 0)", "a"],
    ["get(items, 1, 'b')", "b"],
    ["get(items, 2)", "c"],
    ["get(items, 3, 'd')", "d"],
    ["get(items, -1, 'before')", "before"],
    ["get(items, 0.5, 'between')", "between"],
    ["get(items, 'length', 'none')", "none"],
    ["get(items, 'map', 'none')", "none"],
    ["get(absent, 'a', 'none')", "none"],
    ["get(text, 'length', 'none')", "none"],
    ["get(headers, 'absent', absent)", null],
    ["get(get(headers, 'absent', headers), 'x-tier')", "gold"],
    ["get(context, 'zero')", 0],
    ["get(context, 'no', true)", false],
  ])("%s is %j", (expression, expected) => {
    expect(answer(expression, context)).toBe(expected);
  });

  it("is errored by a key that is missing", () => {
    expect(answer("get(headers, absent, 'x')", context)).toBeInstanceOf(Failure);
  });
});
