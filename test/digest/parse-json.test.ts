import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonLimits } from "../../src/digest/parse-json.js";
import {
  InvalidJson,
  isOwnSpelling,
  parseJson,
  parseJsonKeepingIntegers,
} from "../../src/digest/parse-json.js";

function refusal(text: string, limits?: JsonLimits): InvalidJson {
  try {
    parseJson(text, limits);
  } catch (error) {
    if (error instanceof InvalidJson) return error;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 100)}`);
}

const inexact = (literal: string): string =>
  `\`${literal}\` is an integer that a number cannot represent exactly`;

describe("JSON from outside", () => {
  it.each([
    "9007199254740992",
    "-9007199254740992",
    "9007199254740994",
    "100000000000000000000",
    "0.1",
    "12345678901234567890.5",
    "9007199254740993.0",
    "1e23",
    "1.7976931348623157e308",
    "1e-999",
    "-0",
    '"12345678901234567890"',
    '{"a \\" 9007199254740993": "1e999", "b:c": ":"}',
    '["\\\\", 1, "\\\\\\""]',
    '{"a": {"a": [{"a": 1}, {"a": 2}]}}',
    '{"__proto__": 1, "constructor": 2}',
    " [ 1 , 2 ] ",
  ])("is parsed as JSON.parse does: %s", (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ["9007199254740993", inexact("9007199254740993")],
    ["-9007199254740993", inexact("-9007199254740993")],
    ['{"id": 12345678901234567890}', inexact("12345678901234567890")],
    ['["\\\\", 12345678901234567890]', inexact("12345678901234567890")],
    ["100000000000000000000000", inexact("100000000000000000000000")],
    [`[${"9".repeat(400)}]`, inexact(`${"9".repeat(40)}…`)],
    ["[1e999]", "`1e999` is too large a number"],
    ["-1.0e400", "`-1.0e400` is too large a number"],
    ['{"a": 1, "a": 2}', "an object has a duplicate key"],
    ['{"a": 1, "\\u0061": 2}', "an object has a duplicate key"],
    ['[{"b": {"a": ":", "a": ":"}}]', "an object has a duplicate key"],
    ['{"__proto__": 1, "__proto__": 2}', "an object has a duplicate key"],
  ])("is refused: %s", (text, message) => {
    const error = refusal(text);
    expect(error.message).toBe(message);
    expect(error.value).toEqual(JSON.parse(text));
  });

  it("has a hint for an inexact integer", () => {
    expect(refusal("9007199254740993").hint).toBe('write it as a string: "9007199254740993"');
  });

  it("may have the spelling of JavaScript where this tool wrote it", () => {
    const text = JSON.stringify([2 ** 60]);
    expect(refusal(text).message).toBe(inexact("1152921504606847000"));
    expect(parseJson(text, { isAccepted: isOwnSpelling })).toEqual([2 ** 60]);
    expect(refusal("9007199254740993", { isAccepted: isOwnSpelling }).message).toBe(
      inexact("9007199254740993"),
    );
  });

  it("has a limit on nesting", () => {
    expect(parseJson('[{"a": 1}]', { maxDepth: 2 })).toEqual([{ a: 1 }]);
    expect(refusal('[{"a": []}]', { maxDepth: 2 }).message).toBe("it is nested deeper than 2 levels");
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(refusal(deep).message).toBe("it is nested deeper than 1000 levels");
  });

  it("is refused without a value where it is malformed", () => {
    expect(refusal('{"a": }').value).toBeUndefined();
  });

  it("is parsed as JSON.parse does, whatever it contains", () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "medium" }), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text, { isAccepted: isOwnSpelling })).toEqual(JSON.parse(text));
      }),
    );
  });

  it("is accepted with an integer exactly if a double has its value", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
        const accepted = BigInt(Number(integer)) === integer;
        expect(() => parseJson(`[${integer}]`)).toSatisfy((parse: () => unknown) => {
          try {
            parse();
            return accepted;
          } catch {
            return !accepted;
          }
        });
      }),
    );
  });
});

describe("JSON that keeps large integers", () => {
  it.each([
    ['{"id": 12345678901234567890, "n": 1}', { id: "12345678901234567890", n: 1 }, 1],
    ["[-9007199254740993,9007199254740993]", ["-9007199254740993", "9007199254740993"], 2],
    [
      '[9007199254740992, 0.12345678901234567890, "9007199254740993"]',
      [2 ** 53, 0.12345678901234568, "9007199254740993"],
      0,
    ],
  ])("has %s with exact texts", (text, value, asText) => {
    expect(parseJsonKeepingIntegers(text)).toEqual({ value, asText });
  });
});
