import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findJsonFault } from "../../src/digest/json-fault.js";
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

  it.each([
    { name: "nothing", text: "", message: "a value is missing (column 1)" },
    { name: "no value", text: '{"a": }', message: "a value is missing (column 7)" },
    {
      name: "a comma at the end of an object",
      text: '{\n  "a": 1,\n}\n',
      message: "unexpected `}` after `,` (line 3, column 1)",
      hint: "remove the `,` before it",
    },
    {
      name: "a comma at the end of a list",
      text: '{\r\n "a": [1, 2,]\r\n}',
      message: "unexpected `]` after `,` (line 2, column 13)",
      hint: "remove the `,` before it",
    },
    { name: "two commas", text: "[1,,2]", message: "a value is missing before `,` (column 4)" },
    {
      name: "no comma",
      text: '{\n  "a": 1\n  "b": 2\n}',
      message: '`,` is missing before `"` (line 3, column 3)',
      hint: "put `,` between two values",
    },
    { name: "no colon", text: '{"a" 1}', message: "`:` is missing after the key (column 6)" },
    { name: "no key", text: "{: 1}", message: "a key is missing before `:` (column 2)" },
    {
      name: "a key without quotes",
      text: '{"a": {b: 1}}',
      message: "a key without quotes (column 8)",
      hint: "put it in double quotes",
    },
    {
      name: "single quotes",
      text: "{'a': 1}",
      message: "JSON has no such quotes (column 2)",
      hint: "put text in double quotes",
    },
    {
      name: "text without quotes",
      text: '["secret", hidden]',
      message: "unexpected `h` (column 12)",
      hint: "put text in double quotes",
    },
    {
      name: "a constant of Python",
      text: "[True]",
      message: "unexpected `T` (column 2)",
      hint: "write `true`",
    },
    { name: "not a number", text: "[NaN]", message: "unexpected `N` (column 2)", hint: "write `null`" },
    {
      name: "a number without a digit before its point",
      text: "[.5]",
      message: "this is not a number that JSON has (column 2)",
      hint: "write it as in `-0.5` or `1e9`",
    },
    {
      name: "a number that starts with 0",
      text: "[01]",
      message: "this is not a number that JSON has (column 3)",
      hint: "write it as in `-0.5` or `1e9`",
    },
    {
      name: "a comment",
      text: '{\n  "a": 1 // one\n}',
      message: "JSON has no comments (line 2, column 10)",
      hint: "remove the comment",
    },
    {
      name: "a text that is never closed",
      text: '{"a": "b}',
      message: 'the text that starts here has no closing `"` (column 7)',
      hint: 'add `"` at its end',
    },
    {
      name: "a line break within a text",
      text: '{"a": "b\n"}',
      message: "a line break within a text (line 1, column 9)",
      hint: 'write `\\n`, or add the missing `"`',
    },
    {
      name: "a tab within a text",
      text: '["\t"]',
      message: "a control character within a text (column 3)",
      hint: "escape it",
    },
    {
      name: "a path of Windows",
      text: '["C:\\Users"]',
      message: "`\\U` is not an escape sequence (column 5)",
      hint: "write the backslash twice",
    },
    {
      name: "an object that is never closed",
      text: '{"a": [1]',
      message: "`{` is never closed (column 1)",
      hint: "add `}`",
    },
    {
      name: "a list that is never closed",
      text: '{\n  "a": [1,\n',
      message: "`[` is never closed (line 2, column 8)",
      hint: "add `]`",
    },
    {
      name: "another bracket",
      text: '{"a": [1}',
      message: "`}` does not close `[` (column 9)",
      hint: "write `]`",
    },
    {
      name: "two values",
      text: "{}\n{}",
      message: "unexpected `{` after the end of the value (line 2, column 1)",
    },
    { name: "a byte order mark", text: "\ufeff{}", message: "unexpected `\ufeff` (column 1)" },
  ])("is refused where it is malformed: $name", ({ text, message, hint }) => {
    const error = refusal(text);
    expect({ message: error.message, hint: error.hint }).toEqual({ message, hint });
    expect(error.value).toBeUndefined();
  });

  it("has a fault where JSON.parse finds one, and only there", () => {
    const characters = Array.from("{}[]:,\"\\/\n\t '01-.eaé");
    const piece = fc.constantFrom(...characters, "u00e9", "true", "null");
    const damage = fc.array(fc.tuple(fc.nat(60), fc.nat(3), piece), { maxLength: 3 });
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "small" }), fc.nat(2), damage, (value, indent, edits) => {
        let text = JSON.stringify(value, null, indent);
        for (const [at, removed, added] of edits) text = text.slice(0, at) + added + text.slice(at + removed);
        let isValid = true;
        try {
          JSON.parse(text);
        } catch {
          isValid = false;
        }
        expect(findJsonFault(text) === undefined).toBe(isValid);
      }),
      { numRuns: 2000 },
    );
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
