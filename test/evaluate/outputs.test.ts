import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Evaluated } from "../../src/evaluate/evaluate.js";
import { evaluate } from "../../src/evaluate/evaluate.js";
import { decimalSum } from "../../src/evaluate/outputs.js";
import { prepare } from "../../src/evaluate/prepare.js";
import { Failure } from "../../src/expression/failure.js";
import type { AggregateFunction, Case, Definition, HitPolicy } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import { runsFor } from "../thoroughness.js";
import { thrownBy } from "./scored/votes.js";
import { scopeOf, switchOn, tableOf, weightedOf } from "./definitions.js";

const ask = (definition: Definition, context: JsonObject = {}): Evaluated =>
  evaluate(prepare(definition), scopeOf(context));

type Answer = Pick<Evaluated, "selected_targets" | "selected_labels" | "outputs" | "aggregate">;

function answer(definition: Definition, context: JsonObject = {}): Answer {
  const { selected_targets, selected_labels, outputs, aggregate } = ask(definition, context);
  return {
    selected_targets,
    selected_labels,
    ...(outputs !== undefined && { outputs }),
    ...(aggregate !== undefined && { aggregate }),
  };
}

const outputFor = (output: Json, context: JsonObject = {}): Json | undefined =>
  ask(switchOn([{ condition: "true", output }]), context).outputs?.[0];

const errorOf = (definition: Definition, context: JsonObject = {}): unknown =>
  thrownBy(() => ask(definition, context));

describe("the output of a branch", () => {
  it("is the answer beside its target", () => {
    const definition = switchOn([{ condition: "true", target: "stage-a", output: { fee: 5 } }]);
    expect(answer(definition)).toEqual({
      selected_targets: ["stage-a"],
      selected_labels: ["stage-a"],
      outputs: [{ fee: 5 }],
    });
  });

  it("is the whole answer of a branch without a target", () => {
    const definition = switchOn([
      { condition: "false", target: "stage-a" },
      { condition: "true", output: 7 },
    ]);
    expect(answer(definition)).toEqual({
      selected_targets: [],
      selected_labels: ["rule-2"],
      outputs: [7],
    });
  });

  it("is null where the selected branch has none and another has one", () => {
    const definition = switchOn([
      { condition: "true", target: "stage-a" },
      { condition: "true", output: 7 },
    ]);
    expect(answer(definition).outputs).toEqual([null]);
  });

  it("is absent where no branch has one", () => {
    expect(ask(switchOn([{ condition: "true", target: "stage-a" }]))).not.toHaveProperty("outputs");
  });

  it("may be declared by the default alone", () => {
    const definition = switchOn([{ condition: "n == 1", target: "stage-a" }], {
      default: { output: "none" },
    });
    expect(answer(definition, { n: 1 }).outputs).toEqual([null]);
    expect(answer(definition, { n: 2 })).toEqual({
      selected_targets: [],
      selected_labels: ["default"],
      outputs: ["none"],
    });
  });

  it("may be null", () => {
    expect(outputFor(null)).toBeNull();
  });

  it("belongs to the branch that a weighted decision rolls", () => {
    const definition = weightedOf([{ weight: 1, output: "only" }], { input: "{{ id }}" });
    expect(answer(definition, { id: "u" })).toMatchObject({ selected_labels: ["rule-1"], outputs: ["only"] });
  });

  it.each<[string, Json, Json]>([
    ["keeps the type of a number", "{{ n }}", 3],
    ["keeps the type of a boolean", "{{ n > 2 }}", true],
    ["keeps the type of a list", "{{ list }}", [1, "a"]],
    ["keeps the type of an object", "${ o }", { k: null }],
    ["computes", "{{ n * 2 + 1 }}", 7],
    ["renders text around expressions", "n is {{ n }}, o is {{ o }}", 'n is 3, o is {"k":null}'],
    ["leaves text without expressions as it is", "3", "3"],
    [
      "fills in texts at any depth",
      { a: [{ b: "{{ n }}" }, "x{{ n }}"], c: 1 },
      { a: [{ b: 3 }, "x3"], c: 1 },
    ],
    ["does not fill in keys", { "{{ n }}": 1 }, { "{{ n }}": 1 }],
    ["reads the input", "{{ input.n }}", 3],
  ])("%s", (_what, output, expected) => {
    expect(outputFor(output, { n: 3, list: [1, "a"], o: { k: null } })).toEqual(expected);
  });
});

describe("an output that cannot be evaluated", () => {
  const definition = switchOn([{ condition: "true", label: "Gold", output: { fee: ["{{ missing }}"] } }]);

  it("ends the decision, and the error names the branch and the place", () => {
    expect(errorOf(definition)).toMatchObject({
      code: "output_errored",
      message:
        "`decision-under-test`: `/fee/0` in the output of `Gold` could not be evaluated: `missing` is missing",
      details: { decision_id: "decision-under-test", label: "Gold" },
    });
  });

  it("does not matter while its branch is not selected", () => {
    const other = switchOn([{ condition: "n > 1", output: "{{ missing }}" }], { default: { output: 0 } });
    expect(answer(other, { n: 1 }).outputs).toEqual([0]);
  });

  it("ends the decision in the default, too, even where the input is missing", () => {
    const onInput = switchOn([{ condition: "true", target: "a" }], {
      input: "{{ gone }}",
      default: { output: "{{ input }}" },
    });
    expect(errorOf(onInput)).toMatchObject({ code: "output_errored" });
  });

  it("may use `exists` and `get` for values that may be missing", () => {
    expect(outputFor("{{ if exists(missing) then missing else 'none' }}")).toBe("none");
  });
});

describe("the paths that an answer depends on", () => {
  it("include those of the outputs, with the input resolved", () => {
    const definition = switchOn([{ condition: "input > 1", output: ["{{ fee }}", "{{ input }}"] }], {
      input: "{{ amount }}",
      default: { output: "{{ other.x }}" },
    });
    expect(prepare(definition).reads).toEqual(["amount", "fee", "other.x"]);
  });

  it("are listed for the lineage of the selected branch only", () => {
    const prepared = prepare(
      switchOn([
        { condition: "n > 1", output: "{{ a }}" },
        { condition: "n > 0", output: "{{ b }}" },
      ]),
    );
    const evaluated = evaluate(prepared, scopeOf({ n: 1, b: 2 }));
    expect(prepared.inputsRead(evaluated).flat()).toEqual(["n", "n", "b"]);
  });
});

describe("a masked value", () => {
  const masked = { logging: { mask: ["/customer/email", "/amount"] } };
  const context = { customer: { email: "eve@example.com", name: "Eve" }, amount: 125, n: 1 };

  it.each<[string, Json, Json]>([
    ["itself", "{{ customer.email }}", "[masked]"],
    ["within text", "write to {{ customer.email }}", "[masked]"],
    ["within its object", { who: "{{ customer }}", n: "{{ n }}" }, { who: "[masked]", n: 1 }],
    ["computed", "{{ amount * 2 }}", "[masked]"],
    ["compared", ["{{ amount > 100 }}"], ["[masked]"]],
    ["by a dynamic key", "{{ get(customer, 'email') }}", "[masked]"],
    ["in the whole context", "{{ context }}", "[masked]"],
    ["beside others", { name: "{{ customer.name }}" }, { name: "Eve" }],
  ])("is not shown by an output: %s", (_how, output, expected) => {
    const definition = switchOn([{ condition: "true", output }], masked);
    expect(ask(definition, context).outputs).toEqual([expected]);
  });

  it("is not shown by an output that reads it as the input", () => {
    const definition = switchOn([{ condition: "true", output: "{{ input }}" }], {
      ...masked,
      input: "{{ customer.email }}",
    });
    expect(ask(definition, context).outputs).toEqual(["[masked]"]);
  });

  it("is not needed to answer", () => {
    const definition = switchOn([{ condition: "true", output: "{{ amount * 2 }}" }], masked);
    expect(ask(definition, {}).outputs).toEqual(["[masked]"]);
    expect(prepare(definition).reads).toEqual(["context"]);
  });

  it("masks an aggregate that it is part of, but not a count", () => {
    const rules = [
      { condition: "true", output: 1 },
      { condition: "true", output: "{{ amount }}" },
    ];
    const sum = tableOf(rules, { ...masked, hit_policy: "collect", aggregate: "sum" });
    expect(answer(sum, context)).toMatchObject({
      outputs: ["[masked]"],
      aggregate: { value: "[masked]", of: [1, "[masked]"] },
    });
    expect(answer({ ...sum, aggregate: "count" }, context).outputs).toEqual([2]);
  });

  it("does not make different outputs agree", () => {
    const rules = (second: string): readonly Case[] => [
      { condition: "true", output: "{{ amount }}" },
      { condition: "true", output: second },
    ];
    const definition = (second: string): Definition =>
      tableOf(rules(second), { ...masked, hit_policy: "any" });
    expect(answer(definition("{{ amount }}"), context).outputs).toEqual(["[masked]"]);
    expect(errorOf(definition("{{ amount + 0 }}"), context)).toMatchObject({
      code: "hit_policy_violated",
      details: { matched: [{ output: "[masked]" }, { output: "[masked]" }] },
    });
    expect(errorOf(definition("[masked]"), context)).toMatchObject({ code: "hit_policy_violated" });
  });
});

const rules: readonly Case[] = [
  { condition: "n > 0", output: 10, label: "base", priority: 2 },
  { condition: "n > 1", target: "stage-b", label: "routed", priority: 1 },
  { condition: "n > 2", target: "stage-c", output: "{{ n }}", label: "both", priority: 3 },
];

describe("a table with outputs", () => {
  const table = (hit_policy: HitPolicy): Definition => tableOf(rules, { hit_policy, default: { output: 0 } });

  it.each<[HitPolicy, number, Answer]>([
    ["first", 3, { selected_targets: [], selected_labels: ["base"], outputs: [10] }],
    ["priority", 3, { selected_targets: ["stage-b"], selected_labels: ["routed"], outputs: [null] }],
    [
      "collect",
      3,
      {
        selected_targets: ["stage-b", "stage-c"],
        selected_labels: ["base", "routed", "both"],
        outputs: [10, null, 3],
      },
    ],
    [
      "rule_order",
      3,
      {
        selected_targets: ["stage-b", "stage-c"],
        selected_labels: ["base", "routed", "both"],
        outputs: [10, null, 3],
      },
    ],
    ["collect", 0, { selected_targets: [], selected_labels: ["default"], outputs: [0] }],
    ["unique", 1, { selected_targets: [], selected_labels: ["base"], outputs: [10] }],
    ["unique", 0, { selected_targets: [], selected_labels: ["default"], outputs: [0] }],
  ])("answers with %s for n = %i", (policy, n, expected) => {
    expect(answer(table(policy), { n })).toEqual(expected);
  });

  it("names labels without targets where `unique` is violated", () => {
    expect(errorOf(table("unique"), { n: 2 })).toMatchObject({
      code: "hit_policy_violated",
      message:
        "`decision-under-test`: at most one rule may match, but these matched: `base`, `routed` → `stage-b`",
      details: { matched: [{ label: "base" }, { label: "routed", target: "stage-b" }] },
    });
  });

  it.each<[string, readonly Json[], boolean]>([
    ["equal outputs", [1, 1], true],
    [
      "equal objects with their keys in another order",
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      true,
    ],
    ["an output that is computed to be equal", [3, "{{ n }}"], true],
    ["different outputs", [1, 2], false],
    ["a number and a text", [1, "1"], false],
  ])("with `any` accepts or rejects %s", (_what, outputs, agree) => {
    const definition = tableOf(
      outputs.map((output) => ({ condition: "true", output })),
      { hit_policy: "any" },
    );
    if (agree) expect(answer(definition, { n: 3 })).toMatchObject({ selected_labels: ["rule-1"] });
    else {
      expect(errorOf(definition, { n: 3 })).toMatchObject({
        code: "hit_policy_violated",
        message: expect.stringContaining("all matches must agree on the target and the output") as string,
      });
    }
  });

  it.each<{ name: string; rules: readonly Partial<Case>[]; message: string; matched: readonly object[] }>([
    {
      name: "different outputs",
      rules: [
        { target: "x", output: 1 },
        { target: "x", output: { n: "{{ n }}" } },
      ],
      message: '`x` → `x` (output `1`), `x#2` → `x` (output `{"n":3}`)',
      matched: [
        { label: "x", target: "x", output: 1 },
        { label: "x#2", target: "x", output: { n: 3 } },
      ],
    },
    {
      name: "an output that is missing",
      rules: [{ target: "x", output: null }, { target: "x" }, { label: "b", output: "x" }],
      message: '`x` → `x` (output `null`), `x#2` → `x`, `b` (output `"x"`)',
      matched: [
        { label: "x", target: "x", output: null },
        { label: "x#2", target: "x" },
        { label: "b", output: "x" },
      ],
    },
    {
      name: "different targets, and an output that cannot be evaluated",
      rules: [
        { target: "x", output: "{{ absent }}" },
        { target: "y", output: 2 },
      ],
      message: "`x` → `x`, `y` → `y` (output `2`)",
      matched: [
        { label: "x", target: "x" },
        { label: "y", target: "y", output: 2 },
      ],
    },
  ])("with `any` shows the outputs that do not agree: $name", ({ rules, message, matched }) => {
    const cases = rules.map((each) => ({ condition: "true", ...each }));
    expect(errorOf(tableOf(cases, { hit_policy: "any" }), { n: 3 })).toMatchObject({
      message: `\`decision-under-test\`: all matches must agree on the target and the output, but these matched: ${message}`,
      hint: "make the conditions mutually exclusive, give them the same target and output, or use another `hit_policy`",
      details: { matched },
    });
  });

  it("with `any` rejects equal outputs with different targets, and a missing one", () => {
    const differ = (second: Case): Definition =>
      tableOf([{ condition: "true", target: "a", output: 1 }, second], { hit_policy: "any" });
    expect(errorOf(differ({ condition: "true", target: "b", output: 1 }))).toMatchObject({
      code: "hit_policy_violated",
    });
    expect(errorOf(differ({ condition: "true", target: "a" }))).toMatchObject({
      code: "hit_policy_violated",
    });
    expect(errorOf(differ({ condition: "true", output: 1 }))).toMatchObject({ code: "hit_policy_violated" });
  });
});

describe("output_order", () => {
  const ranked = (outputs: readonly Json[], output_values: readonly Json[]): Definition =>
    tableOf(
      outputs.map((output, index) => ({ condition: `n > ${index}`, output, target: `t${index}` })),
      { hit_policy: "output_order", output_values, default: { output: "not listed" } },
    );

  it("sorts the matches by the position of their outputs", () => {
    expect(answer(ranked(["low", "high", "middle"], ["high", "middle", "low"]), { n: 3 })).toEqual({
      selected_targets: ["t1", "t2", "t0"],
      selected_labels: ["t1", "t2", "t0"],
      outputs: ["high", "middle", "low"],
    });
  });

  it("lists the reasons in the same order", () => {
    expect(ask(ranked(["low", "high"], ["high", "low"]), { n: 2 }).because).toEqual(["n > 1", "n > 0"]);
  });

  it("keeps equal outputs in the order of the rules", () => {
    expect(answer(ranked([2, 1, 2, 1], [1, 2]), { n: 4 }).selected_labels).toEqual(["t1", "t3", "t0", "t2"]);
  });

  it("compares any JSON, whatever the order of keys is", () => {
    const definition = ranked([{ a: 1, b: 2 }, [1]], [[1], { b: 2, a: 1 }]);
    expect(answer(definition, { n: 2 }).outputs).toEqual([[1], { a: 1, b: 2 }]);
  });

  it("falls back to the default, which need not be listed", () => {
    expect(answer(ranked(["low"], ["low"]), { n: 0 })).toEqual({
      selected_targets: [],
      selected_labels: ["default"],
      outputs: ["not listed"],
    });
  });

  it("ends the decision where a computed output is not listed", () => {
    expect(errorOf(ranked(["{{ n }}"], [1, 2]), { n: 3 })).toMatchObject({
      code: "output_errored",
      message: "`decision-under-test`: the output of `t0` is not one of `output_values` (got 3)",
    });
    expect(answer(ranked(["{{ n }}"], [1, 2]), { n: 2 }).outputs).toEqual([2]);
  });
});

describe("an aggregate", () => {
  const table = (aggregate: AggregateFunction, outputs: readonly Json[], extra: object = {}): Definition =>
    tableOf(
      outputs.map((output, index) => ({ condition: `n > ${index}`, output })),
      { hit_policy: "collect", aggregate, default: { output: -1 }, ...extra },
    );

  it.each<[AggregateFunction, readonly Json[], Json]>([
    ["sum", [0.1, 0.2, 0.3], 0.6],
    ["sum", [5, 5], 10],
    ["sum", [7], 7],
    ["min", [3, -2, 8], -2],
    ["max", [3, -2, 8], 8],
    ["count", [3, 3, 8], 3],
    ["count", ["a", { b: 1 }], 2],
    ["sum", ["{{ n }}", "{{ n * 2 }}"], 6],
  ])("is the %s of the outputs %j", (aggregate, outputs, value) => {
    const given = answer(table(aggregate, outputs), { n: outputs.length });
    expect(given).toMatchObject({
      selected_labels: outputs.map((_, index) => `rule-${index + 1}`),
      outputs: [value],
      aggregate: { function: aggregate, value },
    });
    expect(given.aggregate?.of).toHaveLength(outputs.length);
  });

  it("works with `rule_order` the same", () => {
    expect(answer(table("sum", [1, 2], { hit_policy: "rule_order" }), { n: 2 }).outputs).toEqual([3]);
  });

  it("is the output of the default where no rule matches", () => {
    for (const aggregate of ["sum", "min", "max", "count"] as const) {
      expect(answer(table(aggregate, [1]), { n: 0 })).toEqual({
        selected_targets: [],
        selected_labels: ["default"],
        outputs: [-1],
        aggregate: { function: aggregate, value: -1, of: [] },
      });
    }
  });

  it("is null where no rule matches and the default has no output", () => {
    const definition = table("sum", [1], { default: { target: "stage-a" } });
    expect(answer(definition, { n: 0 })).toEqual({
      selected_targets: ["stage-a"],
      selected_labels: ["default"],
      outputs: [null],
      aggregate: { function: "sum", value: null, of: [] },
    });
  });

  it("counts matches that have no output", () => {
    const definition = tableOf(
      [
        { condition: "true", target: "a" },
        { condition: "true", target: "b" },
      ],
      {
        hit_policy: "collect",
        aggregate: "count",
      },
    );
    expect(answer(definition)).toEqual({
      selected_targets: ["a", "b"],
      selected_labels: ["a", "b"],
      outputs: [2],
      aggregate: { function: "count", value: 2, of: [null, null] },
    });
  });

  it.each<[string, Definition, JsonObject]>([
    ["an output", table("sum", [1, "{{ text }}"]), { n: 2, text: "3" }],
    ["an output without a value", table("max", ["{{ text }}"]), { n: 1, text: null }],
    ["the default", table("min", [1], { default: { output: "{{ text }}" } }), { n: 0, text: "3" }],
  ])("ends the decision where %s is not a number", (_what, definition, context) => {
    expect(errorOf(definition, context)).toMatchObject({
      code: "output_errored",
      message: expect.stringContaining("must be a number to be aggregated") as string,
    });
  });

  it("ends the decision where a sum cannot be represented", () => {
    expect(errorOf(table("sum", [1e308, 1e308]), { n: 2 })).toMatchObject({ code: "output_errored" });
    expect(errorOf(table("sum", [2 ** 53, 1]), { n: 2 })).toMatchObject({
      code: "output_errored",
      message: expect.stringContaining("9007199254740993") as string,
    });
  });
});

describe("the sum of decimals", () => {
  const cents = fc.integer({ min: -1e12, max: 1e12 });

  it("is exact for money", () => {
    fc.assert(
      fc.property(fc.array(cents, { minLength: 1, maxLength: 20 }), (amounts) => {
        const total = amounts.reduce((sum, each) => sum + BigInt(each), 0n);
        expect(decimalSum(amounts.map((each) => each / 100))).toBe(Number(`${total}e-2`));
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("does not depend on the order", () => {
    const numbers = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(numbers, (drawn) => {
        expect(decimalSum(drawn.toReversed())).toEqual(decimalSum(drawn));
      }),
      { numRuns: runsFor(300) },
    );
  });

  it.each<[readonly number[], number]>([
    [[0.1, 0.2], 0.3],
    [[1e-7, 2e-7], 3e-7],
    [[5e-324, 5e-324], 1e-323],
    [[-1.5, 1.5], 0],
    [[-0.5], -0.5],
  ])("of %j is %d", (numbers, sum) => {
    expect(decimalSum(numbers)).toBe(sum);
  });

  it("fails rather than to round an integer", () => {
    expect(decimalSum([1e21, 1])).toBeInstanceOf(Failure);
  });
});
