import { describe, expect, it } from "vitest";
import { reviewConditions } from "../../src/analysis/review-conditions.js";
import type { LocatedDefinition } from "../../src/definition/read-definitions.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";

/** The warnings and notes about the conditions of a definition, as `line severity message`. */
function reviewOf(yaml: string, overridden: readonly string[] = []): readonly string[] {
  const located: LocatedDefinition[] = [];
  const { summary } = readDefinitions("f.yaml", Buffer.from(yaml), (each) => located.push(each));
  expect(summary.diagnostics).toEqual([]);
  return located
    .flatMap((each) => reviewConditions(each, overridden))
    .map(({ line, severity, message }) => `${line} ${severity} ${message}`);
}

const table = (settings: string, rules: readonly string[], fallback = "{ target: z }"): string =>
  [
    `decision:\n  id: d\n  type: rule_table\n  ${settings}\n  rules:`,
    ...rules.map((rule) => `    - { ${rule} }`),
    `  default: ${fallback}`,
    "",
  ].join("\n");

const rules = (...conditions: readonly string[]): readonly string[] =>
  conditions.map((condition, index) => `condition: "${condition}", target: t${index}`);

const policy = (...policies: readonly string[]): string =>
  [
    "decision:\n  id: p\n  type: policy\n  tool: call\n  policies:",
    ...policies.map((each) => `    - { version: 1.0.0, ${each} }`),
    "",
  ].join("\n");

const allow = (name: string, ...expressions: readonly string[]): string =>
  `name: ${name}, conditions: [${expressions
    .map((expression, index) => `{ name: c${index}, expression: "${expression}" }`)
    .join(", ")}]`;

const gate = (...all: readonly string[]): string =>
  [
    "decision:\n  id: g\n  type: gate\n  action: { org: o, domain: d, name: n }\n  rules:",
    ...all.map((rule) => `    - { ${rule} }`),
    "",
  ].join("\n");

const scored = (...conditions: readonly string[]): string =>
  [
    "decision:\n  id: s\n  type: scored\n  scoring: { strategy: max_weight }\n  evaluators:\n    - name: e\n      rules:",
    ...conditions.map(
      (each, index) => `        - { id: r${index}, ${each}, then: { decision: yes, weight: 1 } }`,
    ),
    "    - { name: other, static: { decision: no, weight: 1 } }",
    "",
  ].join("\n");

const gapHint = "but the default is declared as unexpected";

describe("the review of conditions", () => {
  it.each([
    {
      name: "a rule that several others mask together",
      yaml: table("hit_policy: first", rules("n < 5", "n >= 5", "n == 7 or n == 3")),
      found: ["8 warning `t2` is never reached: `t0` or `t1` matches whenever it does"],
    },
    {
      name: "nothing where a narrower condition comes first",
      yaml: table("hit_policy: first", rules("n < 5 and a", "n < 5", "a")),
      found: [],
    },
    {
      name: "rules of the same priority",
      yaml: table(
        "hit_policy: priority",
        rules("n > 1", "n < 2", "n == 1.5").map((rule) => `${rule}, priority: 1`),
      ),
      found: [
        "8 warning `t2` never decides: `t0` decides wherever it matches",
        "7 warning `t0` and `t1` can both match where `1 < n < 2`; they have the same priority, so the first one decides",
      ],
    },
    {
      name: "a rule that one with a lower number masks",
      yaml: table("hit_policy: priority", [
        "condition: 'n > 2', target: a, priority: 2",
        "condition: 'n > 1', target: b, priority: 1",
      ]),
      found: ["6 warning `a` never decides: `b` decides wherever it matches"],
    },
    {
      name: "a rule that overlaps several others in one warning",
      yaml: table("hit_policy: any", rules("n > 1", "n < 9", "n in (2, 3)")),
      found: [
        "7 warning `t0` and `t1` can both match where `1 < n < 9`; with `hit_policy: any` that is an error",
        "8 warning `t2` can match together with `t0` or `t1`; with `hit_policy: any` that is an error",
      ],
    },
    {
      name: "no overlap of rules with the same answer",
      yaml: table("hit_policy: any", ["condition: 'n > 1', target: a", "condition: 'n > 2', target: a"]),
      found: [],
    },
    {
      name: "inputs that lead to an unexpected default",
      yaml: table("hit_policy: first", rules("n > 1"), "{ target: z, unexpected: true }"),
      found: [
        `7 warning no rule matches where \`n <= 1\` and elsewhere (1 more), such as {"n":1}, ${gapHint}`,
      ],
    },
    {
      name: "no inputs that lead to a default which is meant for them",
      yaml: table("hit_policy: unique", rules("n > 1"), "{ target: z, unexpected: false }"),
      found: [],
    },
    {
      name: "rules that match together with parts that are not analysed, but no gaps",
      yaml: table("hit_policy: unique", rules("length(a) > 1", "n > 1 and length(b) > 2")),
      found: [
        "7 warning `t0` and `t1` can both match where `length(a) > 1` is true and n > 1 and `length(b) > 2` is true; with `hit_policy: unique` that is an error",
      ],
    },
    {
      name: "a condition that ends the decision before another rule decides",
      yaml: table("on_error: fail", rules("a > 1", "not exists(a)")),
      found: [
        "7 warning `t1`: wherever it matches, another condition cannot be evaluated, and `on_error: fail` ends the decision",
      ],
    },
    {
      name: "a policy that always denies",
      yaml: policy(allow("strict", "params.n > 5", "params.n < 3")),
      found: ["6 warning `strict`: it always denies: `params.n < 3` contradicts the conditions before it"],
    },
    {
      name: "policies that no call passes together",
      yaml: policy(allow("a", "params.mode == 'read'"), allow("b", "params.mode == 'write'")),
      found: ["7 warning `b`: no call passes both it and `a`: their conditions contradict each other"],
    },
    {
      name: "no policy that denies every call on purpose",
      yaml: policy(allow("never", "false"), allow("a", "params.n > 1")),
      found: [],
    },
    {
      name: "no policy that an override lifts",
      yaml: policy(
        allow("strict", "params.n > 5", "params.n < 3"),
        "name: lift, overrides: [strict], when: 'params.ok', action: allow",
      ),
      found: [],
    },
    {
      name: "an override that never applies",
      yaml: policy(
        allow("small", "params.n < 3"),
        "name: lift, overrides: [small], when: 'params.n > 5 and params.n < 4', action: allow",
      ),
      found: ["7 warning `lift` can never match: `params.n > 5` and `params.n < 4` contradict each other"],
    },
    {
      name: "a rule of a gate that never decides",
      yaml: gate(
        "id: high, tier: T2, severity: 50, when: 'n > 5', status: YELLOW",
        "id: higher, tier: T2, severity: 10, when: 'n > 7', status: GREEN",
      ),
      found: ["7 warning `higher` never decides: `high` decides wherever it matches"],
    },
    {
      name: "no rule of a gate that a later one outranks only in part",
      yaml: gate(
        "id: routine, tier: T3, severity: 10, when: 'true', status: GREEN",
        "id: high, tier: T2, severity: 50, when: 'n > 5', status: YELLOW",
      ),
      found: [],
    },
    {
      name: "a rule of an evaluator after one that always matches",
      yaml: scored("when: 'true'", "if: { field: a, op: gt, value: 1 }"),
      found: ["9 warning `r1` is never reached: `r0` matches whenever it does"],
    },
    {
      name: "operators of a rule that contradict each other",
      yaml: scored("if: { all: [{ field: a, op: gt, value: 5 }, { field: a, op: lt, value: 3 }] }"),
      found: ["8 warning `r0` can never match: its parts contradict each other"],
    },
  ])("finds $name", ({ yaml, found }) => {
    expect(reviewOf(yaml)).toEqual(found);
  });

  it("leaves out a policy that an override of another decision lifts", () => {
    const yaml = policy(allow("strict", "params.n > 5", "params.n < 3"));
    expect(reviewOf(yaml, ["strict"])).toEqual([]);
  });
});
