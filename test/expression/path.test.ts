import { describe, expect, it } from "vitest";
import { compile } from "../../src/expression/compile.js";
import { Failure } from "../../src/expression/failure.js";
import { pathGetter } from "../../src/expression/path.js";
import type { JsonObject } from "../../src/model/json.js";
import { answer, refusalOf, scopeOf, whyErrored } from "./answers.js";

const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;

describe("a path", () => {
  const context = { a: { b: { c: 1 } }, items: [{ name: "x" }, [10, 20]], text: "abc", none: null };

  it.each([
    ["a", { b: { c: 1 } }],
    ["a.b.c", 1],
    ["items.0.name", "x"],
    ["items.1.1", 20],
    ["none", null],
  ])("%s reads %j", (path, value) => {
    expect(answer(path, context)).toEqual(value);
  });

  it.each([
    "b",
    "a.c",
    "a.b.c.d",
    "items.2",
    "items.01",
    "items.1e0",
    "items.0x0",
    "items.name",
    "items.length",
    "items.map",
    "text.length",
    "text.0",
    "none.a",
    "a.toString",
    "a.hasOwnProperty",
    "a.valueOf",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "isPrototypeOf",
    "__defineGetter__",
    "__lookupGetter__",
  ])("%s is missing", (path) => {
    expect(whyErrored(path, context)).toBe(`\`${path}\` is missing`);
  });

  it.each(["toString", "valueOf", "hasOwnProperty", "length"])(
    "reads a key of the context called %s",
    (key) => {
      expect(answer(`a.${key}`, { a: { [key]: "own" } })).toBe("own");
    },
  );

  it("does not exist if it would be inherited", () => {
    expect(answer("exists(a.toString) or exists(items.length) or exists(toString)", context)).toBe(false);
  });

  it("is undefined if it is missing", () => {
    expect(pathGetter(["a", "nowhere", "b"])(scopeOf(context))).toBeUndefined();
  });
});

describe("a key that could lead out of the document", () => {
  const keys = ["constructor", "__proto__", "prototype"];
  const expressions = keys.flatMap((key) => [
    [key, key, 0] as const,
    [key, `a.${key}`, 0] as const,
    [key, `1 == a.${key}.b`, 5] as const,
    [key, `exists(a.b.${key})`, 7] as const,
    [key, `get(a, '${key}')`, 0] as const,
    [key, `get(a, "${key}", 1)`, 0] as const,
  ]);

  it.each(expressions)("%s is rejected when %s is compiled", (key, expression, at) => {
    expect(refusalOf(expression)).toMatchObject({ message: `the key \`${key}\` cannot be read`, at });
  });

  it.each(keys)("%s is rejected as a computed key of get", (key) => {
    expect(whyErrored("get(a, key, 'fallback')", { a: {}, key })).toBe(`the key \`${key}\` cannot be read`);
  });

  it.each(keys)("%s may stand within a text", (key) => {
    expect(answer(`key == '${key}'`, { key })).toBe(true);
  });

  it.each(["constructors", "_proto_", "my_prototype"])("%s only looks like one", (key) => {
    expect(answer(key, { [key]: 1 })).toBe(1);
  });
});

describe("a context with a key called __proto__", () => {
  const context = parsed('{"__proto__": {"admin": true}, "user": {"__proto__": {"admin": true}}}');

  it.each(["admin", "user.admin"])("does not lend %s", (path) => {
    expect(answer(path, context)).toBeInstanceOf(Failure);
  });

  it("does not lend its keys to get", () => {
    expect(answer("get(user, 'admin', 'no')", context)).toBe("no");
  });

  it("differs from one without it", () => {
    const pair = { a: context["user"] ?? null, b: {} };
    expect([answer("a == b", pair), answer("b == a", pair), answer("empty(a)", pair)]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe("the roots other than the context", () => {
  const beside = { input: { score: 1 }, facts: { score: 2 }, system: { score: 3 } };

  it.each([
    ["input.score", 1],
    ["facts.score", 2],
    ["system.score", 3],
  ])("%s cannot be forged by a key of the context", (path, value) => {
    const context = { input: { score: 9 }, facts: { score: 9 }, system: { score: 9 } };
    expect(compile(path).evaluate(scopeOf(context, beside))).toBe(value);
  });

  it.each(["facts.extra", "system.extra", "input.extra"])(
    "%s is missing though the context has it",
    (path) => {
      const context = { input: { extra: 9 }, facts: { extra: 9 }, system: { extra: 9 } };
      expect(compile(path).evaluate(scopeOf(context, beside))).toBeInstanceOf(Failure);
    },
  );

  it("input is missing while it is being evaluated itself, whatever the context has", () => {
    expect(whyErrored("input", { input: 9 })).toBe("`input` is missing");
  });

  it("context is the whole context", () => {
    expect(answer("context", { a: 1 })).toEqual({ a: 1 });
  });

  it("context.a is the same as a", () => {
    expect(answer("context.a == a", { a: { b: 1 } })).toBe(true);
  });

  it("context gives way to a key of that name", () => {
    expect(answer("context.a", { context: { a: "inner" }, a: "outer" })).toBe("inner");
  });

  it("context.input reads a key of the context that is called like a root", () => {
    expect(compile("context.input").evaluate(scopeOf({ input: 9 }, beside))).toBe(9);
  });
});
