import { describe, expect, it } from "vitest";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewDefinition } from "../../../src/definition/reviews/review-definition.js";

const decision = {
  id: "d",
  type: "switch",
  input: "{{ order.total }}",
  cases: [{ condition: "order.paid == true", target: "a" }],
  default: { target: "b" },
};

function warningsOf(more: object): readonly object[] {
  const located: LocatedDefinition[] = [];
  const text = Buffer.from(JSON.stringify({ decision: { ...decision, ...more } }, null, 2));
  expect(readDefinitions("f.yaml", text, (each) => located.push(each)).summary.diagnostics).toEqual([]);
  return located.flatMap(reviewDefinition).filter(({ message }) => message.startsWith("`input`"));
}

const on = (...conditions: readonly string[]): object => ({
  cases: conditions.map((condition, index) => ({ condition, target: `t${index}` })),
});

describe("an input that is declared", () => {
  it.each([
    {
      name: "other fields",
      more: on("order.paid == true"),
      hint: "read it as `input` in conditions, or remove it",
    },
    {
      name: "its last name",
      more: on("order.paid == true", "total > 5"),
      hint: "write `input` instead of `total`, or remove `input`",
    },
    {
      name: "the whole path",
      more: on("order.total.net > 5"),
      hint: "write `input.net` instead of `order.total.net`, or remove `input`",
    },
    { name: "a typo", more: on("inpt > 5"), hint: "write `input` instead of `inpt`, or remove `input`" },
    {
      name: "a typo in a rule table",
      more: {
        type: "rule_table",
        hit_policy: "first",
        input: "{{ lower(order.kind) }}",
        ...on("Inputs.a > 5"),
      },
      hint: "write `input.a` instead of `Inputs.a`, or remove `input`",
    },
  ])("is reported where conditions read $name instead", ({ more, hint }) => {
    const warning = { line: 5, column: 14, severity: "warning", hint };
    expect(warningsOf(more)).toMatchObject([
      { ...warning, message: "`input` is declared, but no condition reads it" },
    ]);
  });

  it.each([
    { name: "one condition", more: on("order.paid == true", "input > 5") },
    { name: "a condition within it", more: on("input.net > 5") },
    { name: "the template of an output", more: { default: { output: { total: "{{ input }}" } } } },
    { name: "the id of an entity", more: { entities: [{ type: "total", id: "{{ input }}" }] } },
    { name: "a weighted decision", more: { type: "weighted", cases: [{ target: "a", weight: 100 }] } },
  ])("is not reported where it is read by $name", ({ more }) => {
    expect(warningsOf(more)).toEqual([]);
  });
});
