import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecretMask } from "../../src/enrichment/secret-mask.js";

const secret = 's3cr+t/ "p&ss"?';
const bytes = Buffer.from(secret);

describe("a secret mask", () => {
  it.each([
    ["as it is", secret],
    ["in a URL", encodeURIComponent(secret)],
    ["in a URL, in lower case", encodeURIComponent(secret).replace(/%../g, (each) => each.toLowerCase())],
    ["in a form", new URLSearchParams({ "": secret }).toString().slice(1)],
    ["in JSON", JSON.stringify(secret).slice(1, -1)],
    ["in base64", bytes.toString("base64")],
    ["in base64 for URLs", bytes.toString("base64url")],
    ["in hex", bytes.toString("hex")],
    ["in upper-case hex", bytes.toString("hex").toUpperCase()],
  ])("finds secrets %s", (_how, spelling) => {
    expect(createSecretMask([secret]).text(`a ${spelling} and ${spelling}!`)).toBe(
      "a [secret] and [secret]!",
    );
  });

  it("finds secrets inside longer base64 at any offset", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string({ minLength: 8 }), (before, after, hidden) => {
        fc.pre(hidden.trim() !== "");
        const shown = Buffer.from(`${before}${hidden}${after}`).toString("base64");
        expect(createSecretMask([hidden]).text(shown)).toContain("[secret]");
      }),
    );
  });

  it("masks the longest secret first", () => {
    expect(createSecretMask(["user:password", "user", "password"]).text("user:password user")).toBe(
      "[secret] [secret]",
    );
  });

  it("masks keys, texts and numbers at any depth", () => {
    const hiding = createSecretMask(["123456", "abcdef"]);
    const data = { abcdef: [{ "x-abcdef": "abcdef", n: 9123456.5, m: 12345, ok: true, none: null }] };
    expect(hiding.data(data)).toEqual({
      "[secret]": [{ "x-[secret]": "[secret]", n: "[secret]", m: 12345, ok: true, none: null }],
    });
  });

  it("ignores letter case", () => {
    expect(createSecretMask(["Secret-Key"]).data(["SECRET-KEY", "secret-key"])).toEqual([
      "[secret]",
      "[secret]",
    ]);
  });

  it("masks a short secret only where it is the whole value", () => {
    const hiding = createSecretMask(["score", "7"]);
    expect(hiding.data({ score: 700, is: "score", n: 7, text: "the score" })).toEqual({
      score: 700,
      is: "[secret]",
      n: "[secret]",
      text: "the score",
    });
    expect(hiding.text("the score")).toBe("the [secret]");
  });

  it("keeps keys named like the prototype", () => {
    const data = createSecretMask(["abc"]).data(JSON.parse('{"__proto__": "abc"}') as never);
    expect(JSON.stringify(data)).toBe('{"__proto__":"[secret]"}');
  });

  it("ignores other encodings of a short secret", () => {
    expect(createSecretMask(["a"]).data({ n: 61, t: "616" })).toEqual({ n: 61, t: "616" });
  });

  it("matches secrets literally, not as patterns", () => {
    expect(createSecretMask([".*"]).text("anything .* else")).toBe("anything [secret] else");
  });

  it("changes nothing without secrets", () => {
    expect(createSecretMask([]).data({ a: "b" })).toEqual({ a: "b" });
    expect(createSecretMask([]).text("text")).toBe("text");
  });
});
