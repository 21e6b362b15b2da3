import { describe, expect, it } from "vitest";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { reviewConditions } from "../../../src/analysis/review-conditions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewDefinition } from "../../../src/definition/reviews/review-definition.js";

/** The errors of a file, each as `line:column message | hint`. */
const errorsOf = (yaml: string): readonly string[] =>
  readDefinitions("f.yaml", Buffer.from(yaml)).summary.diagnostics.map(
    ({ line, column, message, hint }) =>
      `${line}:${column} ${message}${hint === undefined ? "" : ` | ${hint}`}`,
  );

function warningsOf(yaml: string): readonly string[] {
  const located: LocatedDefinition[] = [];
  readDefinitions("f.yaml", Buffer.from(yaml), (each) => located.push(each));
  return located
    .flatMap((each) => [...reviewDefinition(each), ...reviewConditions(each)])
    .filter(({ severity }) => severity === "warning")
    .map(({ line, column, message }) => `${line}:${column} ${message}`);
}

/** A rule table: its settings, its rules and its default, each on lines of its own. */
const table = (settings: string, rules: readonly string[], fallback = "{ output: 0 }"): string =>
  [
    "decision:",
    "  id: d",
    "  type: rule_table",
    ...settings.split("\n").map((line) => `  ${line}`),
    "  rules:",
    ...rules.map((rule) => `    - { condition: "n > 0", ${rule} }`),
    `  default: ${fallback}`,
    "",
  ].join("\n");

const ordered = 'hit_policy: output_order\noutput_values: ["high", "low"]';

describe("a definition with outputs", () => {
  it.each<[string, string]>([
    ["without any target", table("hit_policy: first", ["output: 1", "output: { a: [x] }"])],
    [
      "with targets, outputs and both",
      table("hit_policy: first", ["target: a", "output: 1", "target: b, output: 2"]),
    ],
    ["with an aggregate", table("hit_policy: collect\naggregate: sum", ["output: 1", 'output: "{{ n }}"'])],
    [
      "with a count of anything",
      table("hit_policy: rule_order\naggregate: count", ["output: x", "target: a"]),
    ],
    ["with ordered outputs", table(ordered, ["output: low", 'output: "{{ rank }}"'], "{ target: a }")],
    ["with a null output", table("hit_policy: first", ["output: null"], "{ output: null }")],
  ])("is valid %s", (_what, yaml) => {
    expect(errorsOf(yaml)).toEqual([]);
  });

  it.each<[string, string, readonly string[]]>([
    [
      "a rule with neither target nor output",
      table("hit_policy: first", ["label: x"]),
      ["6:7 `target` or `output` is missing in `rules[0]`"],
    ],
    [
      "a default with neither",
      table("hit_policy: first", ["target: a"], "{}"),
      ["7:12 `target` or `output` is missing in `default`"],
    ],
    [
      "a template that does not compile, at its place",
      table("hit_policy: first", ['output: { a: "x {{ n + }}" }']),
      ["6:51 expected a value, got the end of the expression"],
    ],
    [
      "an unknown function in the default",
      table("hit_policy: first", ["output: 1"], '{ output: ["{{ nope(1) }}"] }'),
      ["7:27 there is no function `nope` | see `agent-33 help expressions`"],
    ],
    [
      "an aggregate of a single match",
      table("aggregate: sum", ["output: 1"]),
      ["4:14 `aggregate` has no effect with `hit_policy: first` | use `hit_policy: collect` or `rule_order`"],
    ],
    [
      "an aggregate of ordered outputs",
      table(`${ordered}\naggregate: max`, ["output: high"]),
      [
        "6:14 `aggregate` has no effect with `hit_policy: output_order` | use `hit_policy: collect` or `rule_order`",
      ],
    ],
    [
      "outputs that are not numbers",
      table("hit_policy: collect\naggregate: sum", [
        'output: "3"',
        'output: "{{ n }} EUR"',
        "output: [1]",
        "target: a",
        "output: n * 2",
        `output: 'n${" + n".repeat(20)}'`,
        "output: 'true'",
        "output: no number",
      ]),
      [
        '7:37 the output of `rule-1` must be a number to be aggregated (got "3") | write `output: 3`',
        '8:37 the output of `rule-2` must be a number to be aggregated (got "{{ n }} EUR")',
        "9:37 the output of `rule-3` must be a number to be aggregated (got a list)",
        "10:7 `a` has no output, which `aggregate: sum` requires",
        '11:37 the output of `rule-5` must be a number to be aggregated (got "n * 2") | write `output: "{{ n * 2 }}"`',
        `12:37 the output of \`rule-6\` must be a number to be aggregated (got "n${" + n".repeat(14)} …) | put the expression in \`{{ }}\``,
        '13:37 the output of `rule-7` must be a number to be aggregated (got "true")',
        '14:37 the output of `rule-8` must be a number to be aggregated (got "no number")',
      ],
    ],
    [
      "a default that is not a number",
      table("hit_policy: collect\naggregate: count", ["output: x"], "{ output: none }"),
      ['8:22 the output of `default` must be a number to be aggregated (got "none")'],
    ],
    [
      "an unknown aggregate",
      table("hit_policy: collect\naggregate: avg", ["output: 1"]),
      ['5:14 `aggregate` must be one of `sum`, `min`, `max`, `count` (got "avg")'],
    ],
    [
      "an order without its values",
      table("hit_policy: output_order", ["output: high"]),
      [
        "2:3 `output_values` is missing, which `hit_policy: output_order` requires | list the outputs of the rules in the order of the answer",
      ],
    ],
    [
      "outputs that have no place in the order",
      table(ordered, ["output: medium", "target: a"]),
      [
        '7:37 the output of `rule-1` is not in `output_values` (got "medium")',
        "8:7 `a` has no output, which `hit_policy: output_order` requires",
      ],
    ],
    [
      "values that are listed twice, or templates",
      table('hit_policy: output_order\noutput_values: [{ a: 1, b: 2 }, { b: 2, a: 1 }, "{{ n }}"]', [
        "output: { a: 1, b: 2 }",
      ]),
      ["5:35 a map is listed twice", "5:51 a value of `output_values` is not a template"],
    ],
    [
      "values without an order",
      table("output_values: [1]", ["output: 1"]),
      [
        "4:18 `output_values` has no effect with `hit_policy: first` | remove it, or use `hit_policy: output_order`",
      ],
    ],
    [
      "a text that is too long",
      table("hit_policy: first", [`output: { a: "${"x".repeat(8193)}" }`]),
      ["6:42 a text of `output` has at most 8192 characters"],
    ],
  ])("reports %s", (_what, yaml, errors) => {
    expect(errorsOf(yaml)).toEqual(errors);
  });

  it("reports a template in a gate's rule and in a vote", () => {
    const gate = `decision:
  id: g
  type: gate
  action: { org: a, domain: b, name: c }
  rules:
    - { id: r, tier: T2, severity: 1, when: "true", status: GREEN, output: "{{ 1 + }}" }
`;
    const scored = `decision:
  id: s
  type: scored
  evaluators:
    - name: e
      rules:
        - { id: r, when: "true", then: { decision: d, output: ["{{ = }}"] } }
    - { name: f, static: { decision: d, output: "{{ nope() }}" } }
`;
    expect(errorsOf(gate)).toEqual(["6:83 expected a value, got the end of the expression"]);
    expect(errorsOf(scored)).toEqual([
      "7:68 `=` is not an operator | compare with `==`",
      "8:53 there is no function `nope` | see `agent-33 help expressions`",
    ]);
  });

  it("does not take an output for a condition that fetches data", () => {
    const yaml = `decision:
  id: s
  type: scored
  evaluators:
    - { name: f, static: { decision: d, output: { op: fetch_from_api, value: { endpoint: nowhere } } } }
`;
    const { summary } = readDefinitions("f.yaml", Buffer.from(yaml));
    expect(summary.definitions.map(({ fetches = [] }) => fetches)).toEqual([[]]);
  });
});

describe("a warning about outputs", () => {
  it("names a masked value that an output reads", () => {
    const yaml = table("hit_policy: first\nlogging: { mask: [/customer/email] }", [
      'output: { to: "{{ customer.email }}", name: "{{ customer.name }}" }',
    ]);
    expect(warningsOf(yaml)).toEqual([
      "7:43 it reads `customer.email`, which is masked, so answers show `[masked]` instead",
    ]);
  });

  it("names guardrails that check targets where no branch has one", () => {
    const guardrails = `guardrails:
  - { type: requires_approval }
  - { type: no_disabled_targets, disabled_stages: [a] }
  - { type: weight_bounds, max_weight: 90 }`;
    expect(warningsOf(table(guardrails, ["output: 1"]))).toEqual([
      "5:7 `requires_approval` checks nothing: no branch has a target",
      "6:7 `no_disabled_targets` checks nothing: no branch has a target",
    ]);
    expect(warningsOf(table(guardrails, ["target: a, output: 1"]))).toEqual([]);
  });

  it("finds overlapping rules with different outputs where all must agree", () => {
    const yaml = (second: string): string =>
      table("hit_policy: any", ["output: { a: 1 }", `output: ${second}`]);
    expect(warningsOf(yaml("{ a: 2 }"))).toEqual([
      expect.stringContaining("`rule-2` has the same condition as `rule-1`") as string,
    ]);
  });
});
