import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../src/digest/freeze-json.js";

describe("deepFreeze", () => {
  it("freezes a document and all that is in it", () => {
    const document = { a: [{ b: { c: [] } }], d: {} };
    deepFreeze(document);
    const parts = [document, document.a, document.a[0], document.a[0]?.b, document.a[0]?.b.c, document.d];
    expect(parts.map(Object.isFrozen)).toEqual(parts.map(() => true));
  });

  it("returns the same document", () => {
    const document = { a: 1 };
    expect(deepFreeze(document)).toBe(document);
  });

  it.each([[null], [1], ["text"], [true], [undefined]])("leaves %j as it is", (value) => {
    expect(deepFreeze(value)).toBe(value);
  });

  it("ends on a document that holds itself", () => {
    const document: { self?: unknown } = {};
    document.self = document;
    expect(Object.isFrozen(deepFreeze(document))).toBe(true);
  });
});
