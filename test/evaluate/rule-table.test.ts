import { describe, expect, it } from "vitest";
import { DecisionError } from "../../src/errors.js";
import type { Case, Definition, HitPolicy } from "../../src/model/definition.js";
import { decideOn, detailOf, rule, tableOf } from "./definitions.js";

const rules: readonly Case[] = [
  { condition: "a > 100", target: "stage-1", label: "first", priority: 30 },
  { condition: "a > 10", target: "stage-2", label: "second", priority: 20 },
  { condition: "a > 1", target: "stage-3", label: "third", priority: 10 },
];

const selected = (hit_policy: HitPolicy | undefined, a: number): readonly string[] =>
  decideOn(tableOf(rules, hit_policy === undefined ? {} : { hit_policy }), { a }).selected_labels;

function violationOf(definition: Definition): DecisionError {
  try {
    decideOn(definition);
  } catch (error) {
    if (error instanceof DecisionError) return error;
    throw error;
  }
  throw new Error("the hit policy is kept");
}

describe("the hit policy", () => {
  it.each([
    [undefined, 500, ["first"]],
    [undefined, 50, ["second"]],
    ["first", 500, ["first"]],
    ["first", 50, ["second"]],
    ["collect", 500, ["first", "second", "third"]],
    ["collect", 50, ["second", "third"]],
    ["collect", 5, ["third"]],
    ["priority", 500, ["third"]],
    ["priority", 5, ["third"]],
    ["unique", 5, ["third"]],
    ["any", 5, ["third"]],
  ] as const)("%s with a of %i selects %j", (policy, a, expected) => {
    expect(selected(policy, a)).toEqual(expected);
  });

  it.each(["first", "collect", "priority", "unique", "any"] as const)(
    "%s goes to the default if nothing matches",
    (hit_policy) => {
      expect(decideOn(tableOf(rules, { hit_policy }), { a: 0 })).toMatchObject({
        selected_targets: ["stage-default"],
        selected_labels: ["default"],
        because: ["no condition matched"],
      });
    },
  );

  it("priority lets the lowest number win, negative ones and fractions included", () => {
    const table = [2, 0.5, -1, 0].map((priority) => rule("true", { label: String(priority), priority }));
    expect(decideOn(tableOf(table, { hit_policy: "priority" })).selected_labels).toEqual(["-1"]);
  });

  it("priority goes by the order of the table if numbers tie", () => {
    const table = ["x", "y", "z"].map((label) => rule("true", { label, priority: label === "x" ? 2 : 1 }));
    expect(decideOn(tableOf(table, { hit_policy: "priority" })).selected_labels).toEqual(["y"]);
  });

  it("priority counts a rule without one as 0", () => {
    const table = [rule("true", { label: "one", priority: 1 }), rule("true", { label: "none" })];
    expect(decideOn(tableOf(table, { hit_policy: "priority" })).selected_labels).toEqual(["none"]);
  });

  it("any takes the first of several matches that agree on the target", () => {
    const table = ["x", "y"].map((label) => rule("true", { label, target: "stage-same" }));
    expect(decideOn(tableOf(table, { hit_policy: "any" }))).toMatchObject({
      selected_targets: ["stage-same"],
      selected_labels: ["x"],
    });
  });

  it("collect lists a target as often as rules route to it", () => {
    const table = ["x", "y"].map((label) => rule("true", { label, target: "stage-same" }));
    expect(decideOn(tableOf(table, { hit_policy: "collect" }))).toMatchObject({
      selected_targets: ["stage-same", "stage-same"],
      because: ["true", "true"],
    });
  });

  it.each([
    ["unique", "stage-same", "at most one rule may match"],
    ["unique", "stage-other", "at most one rule may match"],
    ["any", "stage-other", "all matches must agree on the target"],
  ] as const)("%s is violated by a second match that routes to %s", (hit_policy, target, what) => {
    const table = [
      rule("true", { label: "x", target: "stage-same" }),
      rule("false", { label: "y" }),
      rule("1 == 1", { label: "z", target }),
    ];
    const { code, message, details } = violationOf(tableOf(table, { hit_policy }));
    expect({ code, message, details }).toEqual({
      code: "hit_policy_violated",
      message: `\`decision-under-test\`: ${what}, but these matched: \`x\` → \`stage-same\`, \`z\` → \`${target}\``,
      details: {
        decision_id: "decision-under-test",
        hit_policy,
        matched: [
          { label: "x", target: "stage-same" },
          { label: "z", target },
        ],
      },
    });
  });

  it.each(["unique", "any"] as const)("%s is not violated by a rule that is errored", (hit_policy) => {
    const table = [rule("true"), rule("absent > 1")];
    expect(decideOn(tableOf(table, { hit_policy })).selected_labels).toEqual(["true"]);
  });
});

describe("the details of a table", () => {
  it("list every rule with its priority, also after the first match", () => {
    expect(decideOn(tableOf(rules, { hit_policy: "first" }), { a: 50 })).toEqual({
      selected_targets: ["stage-2"],
      selected_labels: ["second"],
      evaluation_details: {
        first: { condition: "a > 100", result: false, priority: 30 },
        second: { condition: "a > 10", result: true, priority: 20 },
        third: { condition: "a > 1", result: true, priority: 10 },
      },
      because: ["a > 10"],
      failed_conditions: ["a > 100"],
      input_value: { a: 50 },
      warnings: [],
    });
  });

  it("give a rule without a priority the priority 0", () => {
    expect(detailOf(decideOn(tableOf([rule("true")])), "true")).toEqual({
      condition: "true",
      result: true,
      priority: 0,
    });
  });

  it("say why a rule is errored", () => {
    expect(detailOf(decideOn(tableOf([rule("a > 'x'")]), { a: 1 }), "a > 'x'")).toEqual({
      condition: "a > 'x'",
      result: false,
      priority: 0,
      error: "`>` needs two numbers or two texts, got a number and text",
    });
  });

  it("are the same whether the rules are called rules or cases", () => {
    const definition = tableOf(rules);
    const asCases: Definition = {
      id: definition.id,
      type: "rule_table",
      default: definition.default,
      cases: rules,
    };
    expect(decideOn(asCases, { a: 50 })).toEqual(decideOn(definition, { a: 50 }));
  });
});

describe("a table of many rules", () => {
  const many = (count: number): readonly Case[] => [
    ...Array.from({ length: count - 2 }, (_, index) => rule(`a == ${index}`)),
    rule("absent > 1"),
    rule("a > 5"),
  ];

  it("of 100 lists them all", () => {
    const evaluated = decideOn(tableOf(many(100)), { a: 7 });
    expect([Object.keys(evaluated.evaluation_details).length, evaluated.rules_total]).toEqual([
      100,
      undefined,
    ]);
  });

  it("of more than 100 lists the matched and the errored ones and says how many there are", () => {
    expect(decideOn(tableOf(many(101), { hit_policy: "collect" }), { a: 7 })).toEqual({
      selected_targets: ["stage-a == 7", "stage-a > 5"],
      selected_labels: ["a == 7", "a > 5"],
      evaluation_details: {
        "a == 7": { condition: "a == 7", result: true, priority: 0 },
        "absent > 1": { condition: "absent > 1", result: false, priority: 0, error: "`absent` is missing" },
        "a > 5": { condition: "a > 5", result: true, priority: 0 },
      },
      rules_total: 101,
      because: ["a == 7", "a > 5"],
      failed_conditions: ["absent > 1"],
      input_value: { a: 7 },
      warnings: ["`absent > 1` could not be evaluated, so it did not match: `absent` is missing"],
    });
  });

  it("of more than 100 that are all errored names every one of them", () => {
    const table = Array.from({ length: 150 }, (_, index) => rule(`absent == ${index}`));
    const evaluated = decideOn(tableOf(table));
    expect([Object.keys(evaluated.evaluation_details).length, evaluated.warnings.length]).toEqual([150, 150]);
  });

  it("keeps the order of the table among rules found by value and others", () => {
    const table = [
      rule("a == 1", { label: "one" }),
      rule("true", { label: "two" }),
      rule("b == 2", { label: "three" }),
      rule("a in (1, 2)", { label: "four" }),
      rule("b > 1", { label: "five" }),
      ...Array.from({ length: 120 }, (_, index) => rule(`a == 'filler ${index}'`)),
      rule("1 == a", { label: "last" }),
    ];
    expect(decideOn(tableOf(table, { hit_policy: "collect" }), { a: 1, b: 2 }).selected_labels).toEqual([
      "one",
      "two",
      "three",
      "four",
      "five",
      "last",
    ]);
  });
});
