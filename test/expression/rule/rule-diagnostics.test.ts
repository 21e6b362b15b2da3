import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileRule } from "../../../src/expression/rule/compile-rule.js";
import type { RuleDiagnostic } from "../../../src/expression/rule/rule-diagnostics.js";
import { ruleDiagnostics } from "../../../src/expression/rule/rule-diagnostics.js";
import { ruleOperators } from "../../../src/expression/rule/rule-operators.js";
import type { RuleCondition } from "../../../src/model/definition.js";
import { wellFormed, written } from "./conditions.js";

const valid = { field: "a", op: "eq", value: 1 };
const oneOf = "`all`, `any`, `none` and `field`";

describe("a condition as written", () => {
  it.each([
    [valid],
    [{ field: "a", op: "eq", value: null }],
    [{ field: "a.b-c.0", op: "present" }],
    [{ field: "a", op: "blank", value: true }],
    [{ field: "héllo wörld", op: "in", value: [] }],
    [{ field: "a", op: "fetch_from_api", value: { endpoint: "x" } }],
    [{ all: [valid, { any: [valid] }, { none: [valid] }] }],
  ])("%j has no diagnostics", (condition) => {
    expect(ruleDiagnostics(condition)).toEqual([]);
  });

  it.each<[unknown, RuleDiagnostic]>([
    [undefined, { path: [], message: "a condition must be a map (got nothing)" }],
    [null, { path: [], message: "a condition must be a map (got null)" }],
    ["a > 1", { path: [], message: 'a condition must be a map (got "a > 1")' }],
    [[], { path: [], message: "a condition must be a map (got an empty list)" }],
    [[valid], { path: [], message: "a condition must be a map (got a list)" }],
    ["x".repeat(80), { path: [], message: `a condition must be a map (got "${"x".repeat(58)}…)` }],
    [{}, { path: [], message: `a condition needs one of ${oneOf}` }],
    [
      { all: [valid], any: [valid] },
      { path: [], key: "any", message: `a condition can have only one of ${oneOf}` },
    ],
    [
      { none: [valid], ...valid },
      { path: [], key: "field", message: `a condition can have only one of ${oneOf}` },
    ],
    [{ all: [] }, { path: ["all"], message: "`all` must not be empty" }],
    [{ any: valid }, { path: ["any"], message: "`any` must be a list (got a map)" }],
    [{ none: null }, { path: ["none"], message: "`none` must be a list (got null)" }],
    [{ all: [valid, 5] }, { path: ["all", 1], message: "a condition must be a map (got 5)" }],
    [
      { op: "eq", value: 1 },
      { path: [], message: "`field` is missing" },
    ],
    [
      { ...valid, field: 5 },
      { path: ["field"], message: "`field` must be text (got 5)" },
    ],
    [
      { ...valid, field: "" },
      { path: ["field"], message: "`field` must not be empty" },
    ],
    [
      { ...valid, field: "a..b" },
      { path: ["field"], message: "`a..b` has an empty part between its dots" },
    ],
    [
      { ...valid, field: ".a" },
      { path: ["field"], message: "`.a` has an empty part between its dots" },
    ],
    [
      { ...valid, field: "a.constructor" },
      { path: ["field"], message: "the key `constructor` cannot be read" },
    ],
    [
      { ...valid, field: "__proto__" },
      { path: ["field"], message: "the key `__proto__` cannot be read" },
    ],
    [
      { field: "a", value: 1 },
      { path: [], message: "`op` is missing" },
    ],
    [
      { ...valid, op: 5 },
      { path: ["op"], message: "`op` must be text (got 5)" },
    ],
    [
      { ...valid, op: "fetch_from_api", value: { params: { a: 1 } } },
      { path: ["value"], message: "`endpoint` must be the name of an endpoint (got nothing)" },
    ],
    [
      { field: "a", op: "gt" },
      { path: [], message: "`value` is missing", hint: "`gt` takes a number or text" },
    ],
    [
      { ...valid, op: "in" },
      { path: ["value"], message: "`value` must be a list (got 1)" },
    ],
  ])("%j has one diagnostic", (condition, diagnostic) => {
    expect(ruleDiagnostics(condition)).toEqual([diagnostic]);
  });

  it.each([
    [{ ...valid, operator: "eq" }, "operator", "did you mean `op`?"],
    [{ ...valid, valeu: 1 }, "valeu", "did you mean `value`?"],
    [{ ...valid, comment: "x" }, "comment", "known here: field, op, value"],
    [{ all: [valid], op: "eq" }, "op", "known here: all"],
    [{ any: [valid], and: [valid] }, "and", "did you mean `all`?"],
  ])("%j has an unknown key", (condition, key, hint) => {
    expect(ruleDiagnostics(condition)).toEqual([{ path: [], key, message: `unknown key \`${key}\``, hint }]);
  });

  it.each([
    ["and", "all"],
    ["or", "any"],
    ["not", "none"],
    ["al", "all"],
    ["fact", "field"],
    ["feild", "field"],
  ])("with nothing but `%s` gets the hint `%s`", (key, suggested) => {
    const faults = ruleDiagnostics({ [key]: 1 });
    expect(faults.map(({ hint }) => hint)).toEqual([undefined, `did you mean \`${suggested}\`?`]);
  });

  it("gets all diagnostics at once, each with its path", () => {
    const condition = {
      all: [
        { field: "a..b", op: "equals", valeu: 1 },
        { any: [{ field: "a", op: "between", value: [2] }, {}] },
      ],
      none: [],
    };
    expect(ruleDiagnostics(condition).map(({ path, key }) => [path.join("/"), key].join(" ").trim())).toEqual(
      ["none", "all/0 valeu", "all/0/field", "all/0/op", "all/1/any/0/value", "all/1/any/1", "none"],
    );
  });

  it("that is a document with keys of every object has none of them but its own", () => {
    const condition: unknown = JSON.parse('{"__proto__": {"all": []}, "constructor": 1}');
    expect(ruleDiagnostics(condition).map(({ key }) => key)).toEqual([undefined, "__proto__", "constructor"]);
  });
});

describe("an operator of another name", () => {
  it.each([
    ["==", "eq"],
    ["equals", "eq"],
    ["notEqual", "neq"],
    ["not", "neq"],
    [">=", "gte"],
    ["GTE", "gte"],
    ["greater_than", "gt"],
    ["greaterThanInclusive", "gte"],
    ["less than", "lt"],
    ["nin", "not_in"],
    ["not-in", "not_in"],
    ["notIn", "not_in"],
    ["regex", "matches"],
    ["exists", "present"],
    ["empty", "blank"],
    ["startsWith", "starts_with"],
    ["contains_al", "contains_all"],
    ["avg", "average"],
    ["before", "before_date"],
  ])("%s gets the suggestion %s", (op, suggested) => {
    const [diagnostic] = ruleDiagnostics({ ...valid, op });
    expect(diagnostic).toEqual({
      path: ["op"],
      message: `unknown operator \`${op}\``,
      hint: `did you mean \`${suggested}\`?`,
    });
  });

  it.each(["toString", "__proto__", "frobnicate", ""])(
    "without a similar one, as %j, gets the list of all",
    (op) => {
      const [diagnostic] = ruleDiagnostics({ ...valid, op });
      expect(diagnostic?.hint).toBe(`use one of ${[...ruleOperators().keys()].join(", ")}`);
    },
  );
});

describe("nesting", () => {
  const nested = (depth: number): unknown => (depth === 0 ? valid : { all: [nested(depth - 1)] });

  it("is valid up to a depth of 32", () => {
    expect(ruleDiagnostics(nested(32))).toEqual([]);
  });

  it.each([33, 34, 5000])("%d deep has one diagnostic", (depth) => {
    const path = Array.from({ length: 32 }, () => ["all", 0]).flat();
    expect(ruleDiagnostics(nested(depth))).toEqual([
      { path, message: "conditions are nested deeper than 32 levels" },
    ]);
  });

  it("that is too deep in two places has one diagnostic", () => {
    expect(ruleDiagnostics({ any: [nested(40), nested(40)] })).toHaveLength(1);
  });
});

describe("whatever is written", () => {
  const compiles = (condition: unknown): boolean => {
    try {
      compileRule(condition as RuleCondition);
      return true;
    } catch {
      return false;
    }
  };

  it("is looked at without an error", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(ruleDiagnostics(value))));
  });

  it("has no diagnostics exactly if it compiles", () => {
    fc.assert(
      fc.property(written, (value) => {
        expect(compiles(value)).toBe(ruleDiagnostics(value).length === 0);
      }),
      { numRuns: 1000 },
    );
  });

  it("has no diagnostics if it is well-formed", () => {
    fc.assert(
      fc.property(wellFormed, (condition) => {
        expect(ruleDiagnostics(condition)).toEqual([]);
        expect(compiles(condition)).toBe(true);
      }),
    );
  });
});
