import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Case, Definition, RuleTableDefinition } from "../../src/model/definition.js";
import { showRuleTable } from "../../src/present/rule-table.js";
import { displayWidth } from "../../src/present/text-width.js";
import { definitions } from "../tables/tables.js";
import { runsFor } from "../thoroughness.js";

const style = (columns: number): Parameters<typeof showRuleTable>[1] => ({
  columns,
  paint: (_, text) => text,
});

const table = (rules: readonly Case[], more: Partial<RuleTableDefinition> = {}): RuleTableDefinition => ({
  id: "t",
  type: "rule_table",
  rules,
  default: { target: "review" },
  ...more,
});

const linesOf = (definition: Definition, columns = 80): readonly string[] | undefined =>
  showRuleTable(definition, style(columns))?.text.split("\n");

const escalation = table([
  {
    condition: "input.severity == 'critical' and input.attempts > 2",
    target: "human",
    label: "Retried again",
  },
  { condition: "input.quality_score < 0.8", target: "rework" },
]);

describe("a rule table", () => {
  it.each<{ name: string; definition: Definition; columns?: number; lines: readonly string[] }>([
    {
      name: "has a column for each path, a row for each rule, and the default as its last row",
      definition: escalation,
      lines: [
        "LABEL          input.severity  input.attempts  input.quality_score  TARGET",
        "Retried again  critical        > 2             -                    human",
        "rework         -               -               < 0.8                rework",
        "default        -               -               -                    review",
      ],
    },
    {
      name: "is headed by what the paths do not have in common, where it would be too wide",
      definition: escalation,
      columns: 60,
      lines: [
        "LABEL          severity  attempts  quality_score  TARGET",
        "Retried again  critical  > 2       -              human",
        "rework         -         -         < 0.8          rework",
        "default        -         -         -              review",
      ],
    },
    {
      name: "shows conditions of several paths in a column of their own",
      definition: table([
        { condition: "price > 100 and price > cost * 2 and (a or b)", target: "accept", label: "Wide" },
        { condition: "price <= 100", target: "reject" },
      ]),
      lines: [
        "LABEL    price   CONDITION                      TARGET",
        "Wide     > 100   price > cost * 2 and (a or b)  accept",
        "reject   <= 100                                 reject",
        "default  -                                      review",
      ],
    },
    {
      name: "has columns for the keys of outputs, priorities and descriptions",
      definition: table(
        [
          { condition: "n == 1", output: { fee: 2, note: "a" }, priority: 5, description: "why it is so" },
          { condition: "n in (2, 3)", output: { fee: 10 } },
        ],
        { hit_policy: "priority", default: { output: { fee: 0 } } },
      ),
      lines: [
        "LABEL    n     output.fee  output.note  PRIORITY  DESCRIPTION",
        "rule-1   1     2           a            5         why it is so",
        "rule-2   2, 3  10                       0",
        "default  -     0",
      ],
    },
    {
      name: "leaves descriptions out where they do not fit",
      definition: table([{ condition: "n == 1", target: "a", description: "an-extraordinarily-long-word" }]),
      columns: 30,
      lines: ["LABEL    n  TARGET", "a        1  a", "default  -  review"],
    },
    {
      name: "wraps lists at their spaces and keeps the width of wide characters",
      definition: table([
        { condition: "get(context, '検査') in ('東京都', '大阪府', '北海道')", target: "日本" },
      ]),
      columns: 30,
      lines: [
        "LABEL    検査           TARGET",
        "日本     東京都,        日本",
        "         大阪府,",
        "         北海道",
        "default  -              review",
      ],
    },
    {
      name: "shows texts of several lines on one line",
      definition: table([{ condition: "n == 'a\nb'", target: "x", label: "two\nlines" }]),
      lines: ["LABEL      n      TARGET", "two lines  'a b'  x", "default    -      review"],
    },
  ])("$name", ({ definition, columns, lines }) => {
    expect(linesOf(definition, columns)).toEqual(lines);
  });

  it.each<{ name: string; definition: Definition }>([
    { name: "no condition tests one path", definition: table([{ condition: "a > b", target: "x" }]) },
    { name: "a condition does not compile", definition: table([{ condition: "a >", target: "x" }]) },
    {
      name: "an id is wider than the terminal",
      definition: table([{ condition: "a == 1", target: "x".repeat(90) }]),
    },
    { name: "it is no table", definition: { id: "t", type: "policy", tool: "x", policies: [] } },
  ])("is not shown if $name", ({ definition }) => {
    expect(linesOf(definition)).toBeUndefined();
  });

  it("of any kind fits and breaks no word, if it is shown", () => {
    const wordsOf = (lines: readonly string[]): ReadonlySet<string> =>
      new Set(lines.flatMap((line) => line.match(/[^ ,;]+/g) ?? []));
    fc.assert(
      fc.property(definitions, fc.integer({ min: 30, max: 160 }), (definition, columns) => {
        const shown = linesOf(definition, columns);
        if (shown === undefined) return;
        const widest = Math.max(...shown.map(displayWidth));
        expect(widest).toBeLessThanOrEqual(columns);
        const whole = wordsOf(linesOf(definition, Infinity) ?? []);
        // Titles may be without what all paths have in common.
        const [, ...rows] = shown;
        expect([...wordsOf(rows)].filter((word) => !whole.has(word))).toEqual([]);
      }),
      { numRuns: runsFor(500) },
    );
  });
});
