import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compile } from "../../src/expression/compile.js";
import { Failure } from "../../src/expression/failure.js";
import type { JsonObject } from "../../src/model/json.js";
import { cellText, parseCell } from "../../src/tables/cell.js";
import type { ColumnCell } from "../../src/tables/condition.js";
import { parsePath, pathExpression, pathHeading } from "../../src/expression/column-path.js";
import { conditionText, splitCondition } from "../../src/tables/condition.js";
import { cells, contextsOf } from "./arbitraries.js";

const split = (condition: string, readFlags = true): readonly string[] => {
  const { cells: found, rest } = splitCondition(condition, { readFlags });
  return [
    ...found.map(({ path, cell }) => `${pathHeading(path)}: ${cellText(cell)}`),
    ...rest.map((part) => `? ${part}`),
  ];
};

describe("a path", () => {
  it.each([
    ["severity", "severity"],
    ["customer.tier", "customer.tier"],
    ["items.0.name", "items.0.name"],
    ["input.score", "input.score"],
    ["Applicant Age", "get(context, 'Applicant Age')"],
    ["customer.first name.x", "get(get(customer, 'first name'), 'x')"],
    ["in", "context.in"],
    ["['a.b']", "get(context, 'a.b')"],
    [String.raw`a['it\'s']`, String.raw`get(a, 'it\'s')`],
    ["größe", "get(context, 'größe')"],
  ])("%s is the expression %s", (heading, expression) => {
    const path = parsePath(heading) ?? [];
    expect(pathExpression(path)).toBe(expression);
    expect(pathHeading(path)).toBe(heading);
  });

  it.each(["", "a..b", ".a", "constructor", "a.__proto__", "a['"])("%j is refused", (heading) => {
    expect(parsePath(heading)).toBeUndefined();
  });
});

describe("the condition of a cell", () => {
  it.each([
    ["5", "n == 5"],
    ["not(5)", "n != 5"],
    ["a, b", "n in ('a', 'b')"],
    ["not(a, b)", "n not in ('a', 'b')"],
    ["< 5", "n < 5"],
    ["not(< 5)", "not (n < 5)"],
    ["[1..10)", "n >= 1 and n < 10"],
    ["not([1..10))", "not (n >= 1 and n < 10)"],
    ["5, 6, < 3, [7..8]", "n in (5, 6) or n < 3 or (n >= 7 and n <= 8)"],
    ["< 3, x", "n == 'x' or n < 3"],
    ["not(x, < 3)", "not (n == 'x' or n < 3)"],
    ["exists()", "exists(n)"],
    ["not exists(), 5", "not exists(n) or n == 5"],
    ["contains('x')", "contains(n, 'x')"],
    ["> date('2026-01-31T12:00:00Z')", "date(n) > date('2026-01-31T12:00:00Z')"],
    ["null", "n == null"],
  ])("%s is %s", (text, condition) => {
    const cell = parseCell(text);
    expect(conditionText(cell === undefined ? [] : [{ path: ["n"], cell }])).toBe(condition);
  });

  it("is joined with others by `and`", () => {
    const columns = (["1, < 0", "a", "not(5, < 3)"] as const).map((text, index): ColumnCell => {
      const cell = parseCell(text);
      if (cell === undefined) throw new Error("no cell");
      return { path: ["abc".charAt(index)], cell };
    });
    expect(conditionText(columns)).toBe("(a == 1 or a < 0) and b == 'a' and not (c == 5 or c < 3)");
  });
});

describe("a condition", () => {
  it.each<[condition: string, cells: readonly string[]]>([
    ["true", []],
    ["n == 5", ["n: 5"]],
    ["5 < n", ["n: > 5"]],
    ["{{ n == 5 and m != 'x' }}", ["n: 5", "m: not(x)"]],
    ["1 <= n < 10", ["n: [1..10)"]],
    ["10 >= n > 1", ["n: (1..10]"]],
    ["between(n, 1, 10)", ["n: [1..10]"]],
    ["n < 10 and m == 1 and n >= 1", ["n: [1..10)", "m: 1"]],
    ["n in (1, 2) and (m == 1 and k == 2)", ["n: 1, 2", "m: 1", "k: 2"]],
    ["n not in ['a', 'b']", ["n: not(a, b)"]],
    ["not (n == 5)", ["n: not(5)"]],
    ["not (n != 5)", ["n: 5"]],
    ["n == 1 or n == 2 or n > 5", ["n: 1, 2, > 5"]],
    ["flag and not other", ["flag: true", "other: false"]],
    ["not exists(n)", ["n: not exists()"]],
    ["t ~= '^a'", ["t: matches('^a')"]],
    ["get(context, 'A b') == 1", ["A b: 1"]],
    ["exists(a.b) and contains(a.b, 'x, y')", ["a.b: exists()", "? contains(a.b, 'x, y')"]],
    ["n > 5 and n != 7", ["n: > 5", "? n != 7"]],
    ["n < 3 or n == 'x'", ["? n < 3 or n == 'x'"]],
    ["n == 1 or m == 2", ["? n == 1 or m == 2"]],
    ["a == b", ["? a == b"]],
    ["lower(t) == 'x' and n == 1", ["n: 1", "? lower(t) == 'x'"]],
    ["get(a, 'b') == 1", ["? get(a, 'b') == 1"]],
    ["n + 1 > 2", ["? n + 1 > 2"]],
    ["n > 5 and n < 3", ["n: > 5", "? n < 3"]],
    ["(a == 1 and contains(b, ' and ')) == true", ["? (a == 1 and contains(b, ' and ')) == true"]],
    ["if a then b else c", ["? if a then b else c"]],
  ])("%s is split", (condition, cellsAndRest) => {
    expect(split(condition)).toEqual(cellsAndRest);
  });

  it("keeps a flag apart where its errors count", () => {
    expect(split("flag and not other and n == 1", false)).toEqual(["n: 1", "? flag", "? not other"]);
  });

  it("is split into the cells that it was made of", () => {
    fc.assert(
      fc.property(fc.array(cells, { maxLength: 3 }), (drawn) => {
        const columns = drawn.map((cell, index) => ({ path: [`p${index}`], cell }));
        expect(splitCondition(conditionText(columns), { readFlags: true })).toEqual({
          cells: columns,
          rest: [],
          isReordered: false,
        });
      }),
    );
  });

  const parts = fc.constantFrom(
    "n > 0",
    "0 < n",
    "n <= 2",
    "1 <= n < 3",
    "n == 1",
    "n != 1",
    "not (n == 1)",
    "n in (1, 'a')",
    "n not in (1, 'a')",
    "n == 1 or n > 2",
    "n == 'a' or n < 1",
    "not exists(n) or n == 1",
    "t == 'a'",
    "t >= 'a'",
    "contains(t, 'a')",
    "not starts_with(t, 'a')",
    "yes",
    "not yes",
    "yes == false",
    "between(n, 0, 2)",
    "date(t) >= date('2026-01-31')",
  );

  const matches = (condition: string, context: JsonObject): boolean => {
    const value = compile(condition).evaluate({ input: context, context, facts: {}, system: {} });
    return !(value instanceof Failure) && value === true;
  };

  it("matches the same values when it is written from its cells", () => {
    fc.assert(
      fc.property(
        fc.array(parts, { minLength: 1, maxLength: 4 }),
        contextsOf(["n", "t", "yes"]),
        (drawn, context) => {
          const condition = drawn.map((part) => `(${part})`).join(" and ");
          const { cells: found, rest } = splitCondition(condition, { readFlags: true });
          const written = [conditionText(found), ...rest].map((part) => `(${part})`).join(" and ");
          expect(matches(written, context)).toBe(matches(condition, context));
        },
      ),
      { numRuns: 1000 },
    );
  });
});
