import { describe, expect, it } from "vitest";
import {
  compileDocument,
  compileLenientDocument,
  DocumentFailure,
} from "../../src/expression/document-template.js";
import type { JsonObject } from "../../src/model/json.js";
import { scopeOf } from "./answers.js";

describe("a document of templates", () => {
  const document = {
    fixed: 1,
    off: false,
    nothing: null,
    typed: "{{ n }}",
    text: "n is {{ n }}",
    list: ["{{ list }}", ["{{ n }}"], {}],
    deep: { deeper: { n: "{{ o.n }}" } },
  };

  it("keeps the types of its values, and its shape", () => {
    const filled = compileDocument(document).fill(scopeOf({ n: 2, list: [3], o: { n: "4" } }));
    expect(filled).toEqual({
      fixed: 1,
      off: false,
      nothing: null,
      typed: 2,
      text: "n is 2",
      list: [[3], [2], {}],
      deep: { deeper: { n: "4" } },
    });
  });

  it("lists the paths it reads", () => {
    expect(compileDocument(document).reads).toEqual(["n", "n", "list", "n", "o.n"]);
  });

  it.each([
    ["deep within", document, "`o.n` is missing", "/deep/deeper/n"],
    ["in a list", { list: [1, ["{{ x }}"]] }, "`x` is missing", "/list/1/0"],
    ["within text", { text: "n is {{ x }}" }, "`x` is missing", "/text"],
    ["at keys with signs of a pointer", { "a/b": { "~": "{{ x }}" } }, "`x` is missing", "/a~1b/~0"],
  ])("fails if a part of it fails, %s, with the pointer", (_where, failing, message, pointer) => {
    const filled = compileDocument(failing).fill(scopeOf({ n: 2, list: [3], o: {} }));
    expect(filled).toEqual(new DocumentFailure(message, pointer));
  });

  it("that is invalid has positions in the document and in the text", () => {
    const wrong = { ok: "{{ n }}", deep: [{ text: "n is {{ n = 1 }}" }] };
    const place = { expression: "n is {{ n = 1 }}", at: 10, pointer: "/deep/0/text" };
    const compileWrong = (): unknown => compileDocument(wrong);
    expect(compileWrong).toThrow("`=` is not an operator");
    expect(compileWrong).toThrow(expect.objectContaining({ code: "expression_invalid", details: place }));
  });

  it("takes `__proto__` for a key like any other", () => {
    const odd = JSON.parse('{"__proto__":{"a":"{{ n }}"}}') as JsonObject;
    const filled = compileDocument(odd).fill(scopeOf({ n: 1 })) as JsonObject;
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"a":1}}');
  });
});

describe("a document that is filled whatever is missing", () => {
  const document = {
    there: "{{ n }}",
    alone: "{{ gone.deep }}",
    within: "n is {{ n }}, m is {{ gone }}!",
    errored: "{{ n > 'a' }}",
    list: ["{{ gone }}", 5, { deep: "${ gone }" }],
  };

  it("has null for what stands alone, and nothing for what stands within text", () => {
    expect(compileLenientDocument(document).fill(scopeOf({ n: 2 }))).toEqual({
      there: 2,
      alone: null,
      within: "n is 2, m is !",
      errored: null,
      list: [null, 5, { deep: null }],
    });
  });

  it("lists the paths it reads, missing or not", () => {
    expect(compileLenientDocument(document).reads).toEqual([
      "n",
      "gone.deep",
      "n",
      "gone",
      "n",
      "gone",
      "gone",
    ]);
  });

  it("is filled as the strict one if nothing is missing", () => {
    const scope = scopeOf({ n: 2, gone: { deep: [1] } });
    const document = { a: "{{ gone.deep }}", b: "of {{ gone }}", c: ["{{ n }}"] };
    expect(compileLenientDocument(document).fill(scope)).toEqual(compileDocument(document).fill(scope));
  });

  it("is rejected if it is invalid, with the position", () => {
    const compileWrong = (): unknown => compileLenientDocument({ a: ["{{ n = 1 }}"] });
    const place = { expression: "{{ n = 1 }}", at: 5, pointer: "/a/0" };
    expect(compileWrong).toThrow(expect.objectContaining({ code: "expression_invalid", details: place }));
  });
});
