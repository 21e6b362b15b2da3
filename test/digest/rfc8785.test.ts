import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import type { Json } from "../../src/model/json.js";

/** The vectors of RFC 8785 that are not in canonical-json.test.ts. */
describe("RFC 8785", () => {
  const sample = JSON.parse(
    String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
    "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
  ) as Json;

  const bytes =
    "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333332e33" +
    "3333333333332c31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c75303030665c6e" +
    "4127425c225c5c5c5c5c222f227d";

  it("3.2.4: the sample is these bytes of UTF-8", () => {
    expect(Buffer.from(canonicalJson(sample), "utf8").toString("hex")).toBe(bytes);
  });

  it("3.2.4: what is hashed are those bytes", () => {
    const expected = createHash("sha256").update(Buffer.from(bytes, "hex")).digest("hex");
    expect(sha256Hex(canonicalJson(sample))).toBe(expected);
  });

  it("3.2.3: the sample of sorting is written whole", () => {
    const names = JSON.parse(
      String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
      "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control",
      "\u00f6":"Latin Small Letter O With Diaeresis"}`,
    ) as Json;
    expect(canonicalJson(names)).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",' +
        '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    );
  });

  it("3.2.3: keys are sorted at every depth, and lists are not", () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }, 3, 1], a: { f: { h: 1, g: 2 }, e: 0 } })).toBe(
      '{"a":{"e":0,"f":{"g":2,"h":1}},"b":[{"c":2,"d":1},3,1]}',
    );
  });

  it.each(["\b", "\t", "\n", "\f", "\r"])(
    "3.2.2.2: the control character %j has a short escape",
    (character) => {
      expect(canonicalJson(character)).toBe(JSON.stringify(character));
      expect(canonicalJson(character)).toHaveLength(4);
    },
  );

  it("3.2.2.2: every other control character is escaped as \\u00xx in lower case, and nothing above is", () => {
    const short = new Set(["\b", "\t", "\n", "\f", "\r"]);
    for (let code = 0; code < 0x100; code++) {
      const character = String.fromCharCode(code);
      if (short.has(character) || character === '"' || character === "\\") continue;
      const escaped = `\\u${code.toString(16).padStart(4, "0")}`;
      expect(canonicalJson(character)).toBe(`"${code < 0x20 ? escaped : character}"`);
    }
  });

  it("3.2.2.3: numbers within lists and maps are written as alone", () => {
    expect(canonicalJson([1e21, { n: -0, m: 1e-7 }, 1e20, 100, 0.000001])).toBe(
      '[1e+21,{"m":1e-7,"n":0},100000000000000000000,100,0.000001]',
    );
  });
});
