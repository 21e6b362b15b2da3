import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import type { Json } from "../../src/model/json.js";
import { jsonValues, wideObjects } from "./json-values.js";

function fromBits(hex: string): number {
  return Buffer.from(hex, "hex").readDoubleBE();
}

describe("canonicalJson against RFC 8785", () => {
  it("writes every value as another implementation does", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 2000 },
    );
  });

  it("writes objects of many keys as another implementation does", () => {
    fc.assert(
      fc.property(wideObjects, (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 500 },
    );
  });

  it("is JSON for the same value", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("writes the number %s of its appendix B as %s", (bits, written) => {
    expect(canonicalJson(fromBits(bits))).toBe(written);
  });

  it.each([
    ["NaN", "7fffffffffffffff"],
    ["Infinity", "7ff0000000000000"],
    ["-Infinity", "fff0000000000000"],
  ])("rejects %s", (_name, bits) => {
    expect(() => canonicalJson([fromBits(bits)])).toThrow(TypeError);
  });

  it("sorts keys by UTF-16 code units, as in its section 3.2.3", () => {
    const names = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    const written = Array.from(canonicalJson(names).matchAll(/:"([^"]+)"/g), ([, name]) => name);
    expect(written).toEqual([
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
  });

  it("writes the sample of its section 3.2.2", () => {
    const sample = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
      "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
    ) as Json;
    expect(canonicalJson(sample)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });
});

describe("canonicalJson", () => {
  it.each([
    ["null", null, "null"],
    ["true", true, "true"],
    ["an empty list", [], "[]"],
    ["an empty object", {}, "{}"],
    ["an empty text", "", '""'],
    [
      "nested values without white space",
      { b: [1, { d: 2, c: 3 }], a: "x" },
      '{"a":"x","b":[1,{"c":3,"d":2}]}',
    ],
    ["keys that look like numbers as texts", { 9: 1, 10: 2, 1: 3 }, '{"1":3,"10":2,"9":1}'],
    [
      "control characters escaped in lower case",
      "\u0000\u001f\b\t\n\f\r",
      String.raw`"\u0000\u001f\b\t\n\f\r"`,
    ],
    ["delete and line separators as they are", "\u007f\u2028\u2029", '"\u007f\u2028\u2029"'],
    ["quotes and backslashes escaped", '"\\', String.raw`"\"\\"`],
    ["a slash as it is", "/", '"/"'],
    ["quotes within a key escaped", { 'a"b': 1 }, String.raw`{"a\"b":1}`],
  ])("writes %s", (_what, value: Json, written) => {
    expect(canonicalJson(value)).toBe(written);
  });

  it.each([63, 64, 65, 1000])("writes a text of %i characters whole, quotes in it escaped", (length) => {
    const text = `${"a".repeat(length - 1)}"`;
    expect(canonicalJson(text)).toBe(JSON.stringify(text));
  });

  it("writes a key called __proto__ like any other", () => {
    expect(canonicalJson(JSON.parse('{"z":1,"__proto__":{"b":1,"a":2}}') as Json)).toBe(
      '{"__proto__":{"a":2,"b":1},"z":1}',
    );
  });

  it("writes half a surrogate pair escaped, so that two different ones stay different", () => {
    expect(["\ud800", "\udfff"].map(canonicalJson)).toEqual([String.raw`"\ud800"`, String.raw`"\udfff"`]);
  });

  it("leaves the value and the order of its keys as they are", () => {
    const value = { b: 1, a: [2] };
    canonicalJson(value);
    expect(JSON.stringify(value)).toBe('{"b":1,"a":[2]}');
  });
});
