import { describe, expect, it } from "vitest";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewDefinition } from "../../../src/definition/reviews/review-definition.js";

/** Returns the warnings about the types of expressions, as `validate` prints them. */
function warningsOf(text: string): readonly object[] {
  const located: LocatedDefinition[] = [];
  const { summary } = readDefinitions("f.yaml", Buffer.from(text), (each) => located.push(each));
  expect(summary.diagnostics).toEqual([]);
  return located
    .flatMap(reviewDefinition)
    .filter(({ message }) => /whatever|never true or false|reads no field/.test(message))
    .map(({ line, column, severity, message, hint, excerpt }) => ({
      at: `${line}:${column}`,
      severity,
      message,
      hint,
      excerpt,
    }));
}

const gate = (rest: string): string =>
  `decision:\n  id: g\n  type: gate\n  action: { org: o, domain: d, name: n }\n${rest}`;

describe("an expression that fails, or has one result, for every input", () => {
  it("is reported with its position, an excerpt and a hint", () => {
    const text = `decision:
  id: d
  type: switch
  cases:
    - { condition: "x > 1 and 'a' < 1", target: a }
    - condition: >-
        exists(x) and
        upper(5) == 'A'
      target: b
  default: { target: z }
`;
    expect(warningsOf(text)).toEqual([
      {
        at: "5:35",
        severity: "warning",
        message: "`<` needs two numbers or two texts, got text and a number, whatever the input is",
        hint: "use values of one type; only `==` and `!=` accept different ones",
        excerpt: "x > 1 and 'a' < 1\n              ^",
      },
      {
        at: "6:18",
        severity: "warning",
        message: "`upper` needs text, got a number, whatever the input is",
        hint: "the function is `upper(text)`: the text in upper case",
        excerpt: "exists(x) and upper(5) == 'A'\n              ^",
      },
    ]);
  });

  it.each([
    [
      "a computed value",
      "  computed: { late: \"x * 'a'\" }\n  rules: [{ id: r, tier: T2, severity: 1, when: late, status: GREEN }]\n",
      "5:24",
    ],
    [
      "a rule in brackets",
      "  rules: [{ id: r, tier: T2, severity: 1, when: \"{{ x > '5' + 5 }}\", status: GREEN }]\n",
      "5:61",
    ],
    [
      "a template",
      '  rules: [{ id: r, tier: T2, severity: 1, when: x, status: GREEN, reason: "{{ x }} or {{ length(5) }}" }]\n',
      "5:90",
    ],
    [
      "a filter",
      "  rules: [{ id: r, tier: T2, severity: 1, when: x, applies_when: not 5, status: GREEN }]\n",
      "5:66",
    ],
  ])("is found in %s", (_where, rest, at) => {
    expect(warningsOf(gate(rest))).toMatchObject([{ at }]);
  });

  it("has a hint where a number is in quotes", () => {
    const text = gate(
      "  rules: [{ id: r, tier: T2, severity: 1, when: \"'100' + 5 > amount\", status: GREEN }]\n",
    );
    expect(warningsOf(text)).toMatchObject([{ hint: "write the number without quotes: 100" }]);
  });

  it.each([
    [
      "`order.status` == 'paid'",
      "'order.status' == 'paid'",
      "false",
      "write fields without quotes, as in `order.status == 'paid'`",
    ],
    ["1 < 2", "1 < 2", "true", "write `true`"],
  ])("is reported if it reads no field: %s", (_name, condition, result, hint) => {
    const text = gate(`  rules: [{ id: r, tier: T2, severity: 1, when: "${condition}", status: GREEN }]\n`);
    const message = `the condition reads no field, so it is always ${result}`;
    expect(warningsOf(text)).toMatchObject([{ at: "5:50", message, hint }]);
  });

  it.each(["true", "false", "{{ true }}", "amount > 1 or true"])(
    "may be constant on purpose: %s",
    (condition) => {
      const text = gate(`  rules: [{ id: r, tier: T2, severity: 1, when: "${condition}", status: GREEN }]\n`);
      expect(warningsOf(text)).toEqual([]);
    },
  );

  it.each(["order.is-vip", "order.due-date"])("is only reported as misspelt if it is: %s", (condition) => {
    const text = gate(`  rules: [{ id: r, tier: T2, severity: 1, when: "${condition}", status: GREEN }]\n`);
    expect(warningsOf(text)).toEqual([]);
  });

  it("is not reported in a condition of a policy that some call can meet", () => {
    const text = `decision:
  id: p
  type: policy
  tool: t
  policies:
    - name: a
      version: 1.0.0
      conditions: [{ name: c, expression: "length(params.path) > 3 and get(session, 'k', 0) < 5" }]
`;
    expect(warningsOf(text)).toEqual([]);
  });
});
