import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compile } from "../../src/expression/compile.js";
import { pathText, splitPath } from "../../src/expression/syntax.js";
import { compileTemplate } from "../../src/expression/template.js";

describe("reads", () => {
  it.each([
    ["a", ["a"]],
    ["b == a and a > b.c", ["b", "a", "b.c"]],
    ["1 + 2 == 3", []],
    ["'a.b' == \"c\"", []],
    ["exists(a.b) or empty(c)", ["a.b", "c"]],
    ["get(a, 'key')", ["a"]],
    ["x in (y, z)", ["x", "y", "z"]],
    ["x not in list", ["x", "list"]],
    ["if a then b else c", ["a", "b", "c"]],
    ["1 < a <= b", ["a", "b"]],
    ["a ~= p", ["a", "p"]],
    ["-a ^ b", ["a", "b"]],
    ["!(a) or not b", ["a", "b"]],
    ["[a, [b]]", ["a", "b"]],
    ["items.0.name", ["items.0.name"]],
    [
      "input.x and context.y and facts.z and system.request_time",
      ["input.x", "context.y", "facts.z", "system.request_time"],
    ],
    ["true and false and null == null", []],
    ["lower(lower)", ["lower"]],
  ])("of %s lists %j: each path once, in the order of first mention", (text, reads) => {
    expect(compile(text).reads).toEqual(reads);
  });

  it.each([
    ["get(a, 'key')", ["a.key"]],
    ["get(a.b, 'x-y', c) == get(get(a, 'k'), 1)", ["a.b.x-y", "c", "a.k.1"]],
    ["get(a, key)", ["a", "key"]],
    ["get(lower(a), 'k')", ["a"]],
    ["get(a, 'b.c') and get(a, 'it\\'s') and get(a, '[0]')", ["a['b.c']", "a['it\\'s']", "a['[0]']"]],
    ["a.b > 1", ["a.b"]],
  ])("of %s for the lineage lists %j: with the keys of `get`", (text, inputs) => {
    expect(compile(text).inputs).toEqual(inputs);
    expect(compileTemplate(`{{ ${text} }} and more`).inputs).toEqual(inputs);
  });

  it("for the lineage can be split into steps again", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", ".", "[", "]", "'", "\\", "é", "") }), {
          minLength: 1,
          maxLength: 4,
        }),
        (rest) => {
          const steps = ["root", ...rest];
          expect(splitPath(pathText(steps))).toEqual(steps);
        },
      ),
    );
  });

  it.each([
    ["plain text", []],
    ["{{ a.b }}", ["a.b"]],
    ["{{ b }} and ${ a } and {{ b }}", ["b", "a"]],
    ["{{ a + c }}{{ c + a }}", ["a", "c"]],
  ])("of the template %s lists %j", (text, reads) => {
    expect(compileTemplate(text).reads).toEqual(reads);
  });
});
