import { describe, expect, it } from "vitest";
import { analyzeDefinition } from "../../src/analysis/analyze.js";
import { compareDefinitions } from "../../src/analysis/compare.js";
import type { RoutingDefinition, RuleTableDefinition } from "../../src/model/definition.js";

const table = (
  conditions: readonly string[],
  more: Partial<RuleTableDefinition> = {},
): RuleTableDefinition => ({
  id: "d",
  type: "rule_table",
  rules: conditions.map((condition, index) => ({ condition, target: `t${index}` })),
  default: { target: "z" },
  ...more,
});

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Every combination of one side of each bracket is a region of its own. */
const brackets = (count: number, key = ""): string =>
  times(count, (index) => `(a${key}${index} == 1 or b${key}${index} > 1 or c${index} == 2)`).join(" and ");
const products = (count: number, key = ""): string =>
  times(count, (index) => `(a${key}${index} == 1 and b${index} > 1 and c${index} == 2)`).join(" or ");
const nested = (depth: number): string =>
  depth === 0 ? "q" : `a${depth} == 1 and (b${depth} or not (c${depth} > 1 and ${nested(depth - 1)}))`;
const choices = (depth: number, at = 1): string =>
  depth === 0
    ? "q"
    : `if a${at} > 1 then (${choices(depth - 1, at * 2)}) else (${choices(depth - 1, at * 2 + 1)})`;

const hostile: readonly { readonly name: string; readonly definition: RoutingDefinition }[] = [
  { name: "`or` within `and`", definition: table([brackets(40)]) },
  { name: "`and` within `or`", definition: table([products(40)]) },
  { name: "many such conditions", definition: table(times(40, (index) => brackets(25, `x${index}`))) },
  { name: "nested `and`, `or` and `not`", definition: table([nested(15), nested(14)]) },
  { name: "nested `if`", definition: table([choices(7), choices(6)]) },
  {
    name: "clauses without a solution that is easy to find",
    definition: table(
      times(200, (index) => {
        const literal = (step: number, bit: number): string =>
          `v${(index * step + bit) % 40} == ${(index >> bit) % 2}`;
        return [literal(7, 0), literal(11, 1), literal(13, 2)].join(" and ");
      }),
      { hit_policy: "unique" },
    ),
  },
  {
    name: "ranges in many dimensions",
    definition: table(
      times(300, (index) => times(10, (path) => `p${path} > ${(index * 7 + path * 13) % 97}`).join(" and ")),
      { hit_policy: "unique", on_error: "fail" },
    ),
  },
  {
    name: "long lists of values that are excluded",
    definition: table(
      times(200, (index) => `p not in (${times(100, (value) => `'v${index * 3 + value}'`).join(", ")})`),
    ),
  },
  {
    name: "equal conditions",
    definition: table(
      times(1000, () => "p == 1"),
      { hit_policy: "any" },
    ),
  },
  {
    name: "a path for each rule",
    definition: table(
      times(500, (index) => `p${index} == 1`),
      { hit_policy: "unique" },
    ),
  },
];

const steps = 50_000;
/** Each of the five searches reports its work after every 5,000 steps, and each confirmed input once. */
const mostReports = 5 * (steps / 5_000) + 3 * 200;

describe("the analysis of hostile conditions", () => {
  it.each(hostile)("ends after bounded work for $name", ({ definition }) => {
    let reports = 0;
    const analysis = analyzeDefinition(definition, { steps, comparisons: 20_000, onWork: () => reports++ });
    expect(reports).toBeLessThanOrEqual(mostReports);
    expect(analysis.unconfirmed).toEqual([]);
  });

  it.each(hostile)("compares after bounded work for $name", ({ definition }) => {
    let reports = 0;
    const changed = { ...definition, default: { target: "other" } };
    const comparison = compareDefinitions(definition, changed, { steps, onWork: () => reports++ });
    expect(reports).toBeLessThanOrEqual(steps / 5_000);
    expect(comparison.result).not.toBe("equivalent");
  });

  it("says what it left out", () => {
    const { not_analysed } = analyzeDefinition(table([brackets(40), "x > 1"]), { steps });
    expect(not_analysed).toEqual([
      { rule: "t0", reason: "analysing its condition takes too many steps" },
      { rule: "default", reason: "gaps are not claimed, because not all conditions are analysed" },
    ]);
  });

  it("still finds what is wrong with the other rules", () => {
    const { masked, unreachable } = analyzeDefinition(
      table([brackets(40), "x > 1", "x > 2", "x > 3 and x < 2"]),
      { steps },
    );
    expect(masked.map(({ rule, by }) => [rule, by])).toEqual([["t2", ["t1"]]]);
    expect(unreachable.map(({ rule }) => rule)).toEqual(["t3"]);
  });
});
