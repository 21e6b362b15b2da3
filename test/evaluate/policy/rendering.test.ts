import { describe, expect, it } from "vitest";
import { compileDocument } from "../../../src/evaluate/policy/rendering.js";
import { Failure } from "../../../src/expression/failure.js";
import type { JsonObject } from "../../../src/model/json.js";
import type { Scope } from "../../../src/model/scope.js";

const scopeOf = (context: JsonObject): Scope => ({ context, input: undefined, facts: {}, system: {} });

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

  it("tells what it reads", () => {
    expect(compileDocument(document).reads).toEqual(["n", "n", "list", "n", "o.n"]);
  });

  it("fails as a whole where a part of it does, however deep", () => {
    const filled = compileDocument(document).fill(scopeOf({ n: 2, list: [3], o: {} }));
    expect(filled).toEqual(new Failure("`o.n` is missing"));
    expect(compileDocument({ list: ["{{ x }}"] }).fill(scopeOf({}))).toBeInstanceOf(Failure);
  });

  it("takes `__proto__` for a key like any other", () => {
    const odd = JSON.parse('{"__proto__":{"a":"{{ n }}"}}') as JsonObject;
    const filled = compileDocument(odd).fill(scopeOf({ n: 1 })) as JsonObject;
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"a":1}}');
  });
});
