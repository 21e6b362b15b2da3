import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Failure, typeName } from "../../src/expression/failure.js";
import type { Template } from "../../src/expression/template.js";
import { compileCondition } from "../../src/expression/template.js";
import type { Case, HitPolicy } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { ConditionDetail } from "../../src/model/result.js";
import type { PublicFields } from "./definitions.js";
import { decideOn, scopeOf, tableOf } from "./definitions.js";

interface Rule extends Case {
  readonly condition: string;
  readonly label: string;
  readonly target: string;
  readonly priority: number;
}

interface Table {
  readonly rules: readonly Rule[];
  readonly hitPolicy: "first" | "collect" | "priority";
}

const compiled = new Map<string, Template>();

/** Evaluates one condition without table and index. */
function judgeAlone(condition: string, context: JsonObject): boolean | Failure {
  const template = compiled.get(condition) ?? compileCondition(condition);
  compiled.set(condition, template);
  const value = template.evaluate({ ...scopeOf(context), input: context });
  if (typeof value === "boolean" || value instanceof Failure) return value;
  return new Failure(`a condition must be true or false, this one is ${typeName(value)}`);
}

/** Returns the answer of a table by evaluating every rule. */
function model({ rules, hitPolicy }: Table, context: JsonObject): PublicFields {
  const judged = rules.map((rule) => ({ rule, verdict: judgeAlone(rule.condition, context) }));
  const listed = judged.filter(({ verdict }) => rules.length <= 100 || verdict !== false);
  const matches = judged.filter(({ verdict }) => verdict === true).map(({ rule }) => rule);
  const taken = takenBy(hitPolicy, matches);
  const errors = judged.flatMap(({ rule, verdict }) =>
    verdict instanceof Failure ? [{ rule, verdict }] : [],
  );
  return {
    selected_targets: taken.length === 0 ? ["stage-default"] : taken.map((rule) => rule.target),
    selected_labels: taken.length === 0 ? ["default"] : taken.map((rule) => rule.label),
    evaluation_details: Object.fromEntries(
      listed.map(({ rule, verdict }) => [rule.label, detail(rule, verdict)]),
    ),
    rules_total: rules.length > 100 ? rules.length : undefined,
    because: taken.length === 0 ? ["no condition matched"] : taken.map((rule) => rule.condition),
    failed_conditions: listed.filter(({ verdict }) => verdict !== true).map(({ rule }) => rule.condition),
    input_value: context,
    warnings: errors.map(
      ({ rule, verdict }) =>
        `\`${rule.label}\` could not be evaluated, so it did not match: ${verdict.message}`,
    ),
  };
}

function takenBy(hitPolicy: HitPolicy, matches: readonly Rule[]): readonly Rule[] {
  if (hitPolicy === "collect") return matches;
  const lowest = Math.min(...matches.map((rule) => rule.priority));
  const best = hitPolicy === "first" ? matches[0] : matches.find((rule) => rule.priority === lowest);
  return best === undefined ? [] : [best];
}

function detail({ condition, priority }: Rule, verdict: boolean | Failure): ConditionDetail {
  if (verdict instanceof Failure) return { condition, result: false, priority, error: verdict.message };
  return { condition, result: verdict, priority };
}

const paths = fc.constantFrom("a", "b", "a.x", "items.0", "input.a", "context.b", "absent");
const literals = fc.constantFrom("1", "'1'", "'x'", "null", "true", "0", "-0", "''", "2", "'y'", "1.5");

const conditions = fc.oneof(
  fc.tuple(paths, literals).map(([path, literal]) => `${path} == ${literal}`),
  fc.tuple(paths, literals).map(([path, literal]) => `${literal} == ${path}`),
  fc.tuple(paths, literals).map(([path, literal]) => `{{ ${path} == ${literal} }}`),
  fc.tuple(paths, literals, literals).map(([path, one, two]) => `${path} in (${one}, ${two})`),
  fc.tuple(paths, literals).map(([path, literal]) => `${path} in (${literal})`),
  fc.tuple(paths, literals).map(([path, literal]) => `${path} not in (${literal}, 'z')`),
  fc.tuple(paths, literals, paths).map(([path, literal, other]) => `${path} == ${literal} and ${other} > 0`),
  fc
    .tuple(paths, literals, paths)
    .map(([path, literal, other]) => `(${path} == ${literal} and true) and ${other}`),
  fc.tuple(paths, literals, paths).map(([path, literal, other]) => `${path} == ${literal} or ${other} == 1`),
  fc.tuple(paths, literals, paths).map(([path, literal, other]) => `${other} > 0 and ${path} == ${literal}`),
  fc.tuple(paths, literals).map(([path, literal]) => `${path} != ${literal}`),
  fc.tuple(paths, literals).map(([path, literal]) => `not ${path} == ${literal}`),
  fc.tuple(paths, paths).map(([one, two]) => `${one} == ${two}`),
  paths.map((path) => `${path} in []`),
  fc.constantFrom("true", "1", "exists(a) and a == 1", "a == 1 == true"),
);

const tables: fc.Arbitrary<Table> = fc.record({
  rules: fc
    .oneof(
      fc.array(fc.tuple(conditions, fc.nat(3)), { minLength: 1, maxLength: 40, size: "max" }),
      fc.array(fc.tuple(conditions, fc.nat(3)), { minLength: 101, maxLength: 140, size: "max" }),
    )
    .map((drawn) =>
      drawn.map(([condition, priority], index) => ({
        condition,
        target: `stage-${index % 7}`,
        label: `rule ${index}`,
        priority,
      })),
    ),
  hitPolicy: fc.constantFrom("first", "collect", "priority"),
});

const values: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  null,
  true,
  false,
  0,
  -0,
  1,
  1.5,
  "",
  "1",
  "x",
  [],
  [1],
  ["x"],
  {},
  { x: 1 },
  { x: null },
  { x: "x" },
);

const contexts: fc.Arbitrary<JsonObject> = fc.record(
  { a: values, b: values, items: values, context: values, input: values },
  { requiredKeys: [] },
);

describe("the index on equality", () => {
  it("changes nothing of what a table answers", () => {
    fc.assert(
      fc.property(tables, fc.array(contexts, { minLength: 1, maxLength: 4 }), (table, given) => {
        const definition = tableOf(table.rules, { hit_policy: table.hitPolicy });
        for (const context of given) {
          expect(decideOn(definition, context)).toEqual(model(table, context));
        }
      }),
      { numRuns: 150 },
    );
  });

  const many = Array.from({ length: 200 }, (_, index) => ({
    condition: index % 2 === 0 ? `a == ${index}` : `a in ('${index}', null)`,
    target: "stage-a",
    label: `rule ${index}`,
    priority: 0,
  }));
  const table: Table = { rules: many, hitPolicy: "collect" };

  it.each<[string, JsonObject]>([
    ["a number that one rule asks for", { a: 4 }],
    ["a number that no rule asks for", { a: 5 }],
    ["text that one rule asks for", { a: "5" }],
    ["text in place of a number", { a: "4" }],
    ["null, which half of the rules ask for", { a: null }],
    ["a list", { a: [4] }],
    ["an object", { a: { b: 4 } }],
    ["true", { a: true }],
    ["nothing", {}],
    ["minus zero for zero", { a: -0 }],
  ])("finds the same rules if the value is %s", (_what, context) => {
    const definition = tableOf(many, { hit_policy: "collect" });
    expect(decideOn(definition, context)).toEqual(model(table, context));
  });
});
