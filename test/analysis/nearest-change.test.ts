import { describe, expect, it } from "vitest";
import type { PathChange } from "../../src/analysis/context-edit.js";
import type { ChangeQuestion, NearestChange, NoChange } from "../../src/analysis/nearest-change.js";
import { findNearestChange } from "../../src/analysis/nearest-change.js";
import { Trial } from "../../src/analysis/trial.js";
import type { Definition } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import { rule, switchOn, tableOf, weightedOf } from "../evaluate/definitions.js";

type Question = Pick<ChangeQuestion, "definition" | "context" | "label"> & Partial<ChangeQuestion>;

function changeFor(question: Question): NearestChange | NoChange {
  const trial = new Trial(question.definition);
  const selects = (context: JsonObject): boolean =>
    trial.run(context).evaluated?.selected_labels.includes(question.label) ?? false;
  return findNearestChange({ selects, ...question });
}

function pathsOf(found: NearestChange | NoChange): readonly PathChange[] | string {
  return "because" in found ? found.because : found.paths;
}

/** Finds the change for which a single condition holds. */
const changeFrom = (condition: string, context: JsonObject, extra: object = {}): NearestChange | NoChange =>
  changeFor({ definition: switchOn([{ condition, label: "Yes" }], extra), context, label: "Yes" });

describe("the nearest value", () => {
  it.each<{ name: string; condition: string; from?: unknown; to?: unknown }>([
    { name: "is the border where it satisfies", condition: "x >= 0.8", from: 0.7, to: 0.8 },
    { name: "is the next whole number above whole numbers", condition: "x > 5", from: 3, to: 6 },
    { name: "has the decimals of the border", condition: "x > 0.8", from: 0.5, to: 0.9 },
    { name: "has the decimals of the current value", condition: "x > 0.8", from: 0.55, to: 0.81 },
    { name: "is below an upper border", condition: "x < 0.8", from: 1, to: 0.7 },
    { name: "has more decimals only where it must", condition: "x > 1 and x < 2", from: 0, to: 1.1 },
    { name: "is a whole number where one is possible", condition: "x > 1 and x < 4", from: 9, to: 3 },
    { name: "is the nearer of two borders", condition: "x < 10 or x > 60", from: 50, to: 61 },
    { name: "is negative below zero", condition: "x < 0", from: 3, to: -1 },
    {
      name: "is close to a number with an exponent",
      condition: "x > 1e21",
      from: 0,
      to: 1.0000000000000001e21,
    },
    { name: "is the literal of a text", condition: "x == 'gold'", from: "silver", to: "gold" },
    { name: "is a literal that is compared with", condition: "x != 'a' or x == 'b'", from: "a", to: "b" },
    { name: "is another text", condition: "x != 'a'", from: "a", to: "other" },
    { name: "is the other boolean", condition: "x", from: false, to: true },
    { name: "is of the type that is compared with", condition: "x != 'a'", from: undefined, to: "other" },
    { name: "is set where it is missing", condition: "x >= 18", from: undefined, to: 18 },
    { name: "replaces null", condition: "x >= 18", from: null, to: 18 },
    { name: "is removed", condition: "not exists(x)", from: "a", to: undefined },
    { name: "is empty text for text", condition: "empty(x)", from: "abc", to: "" },
    { name: "is an empty list for a list", condition: "empty(x)", from: [1], to: [] },
    { name: "is a list with something in it", condition: "not empty(x)", from: [], to: [1] },
    { name: "has an item more", condition: "'vip' in x", from: ["a"], to: ["a", "vip"] },
    { name: "has an item less", condition: "not ('a' in x)", from: ["a", "b"], to: ["b"] },
  ])("$name: $condition", ({ condition, from, to }) => {
    const context = (from === undefined ? {} : { x: from }) as JsonObject;
    expect(pathsOf(changeFrom(condition, context))).toEqual([
      { path: "x", ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
    ]);
  });
});

describe("the changed paths", () => {
  it.each<{ name: string; condition: string; context: JsonObject; paths: readonly PathChange[] }>([
    {
      name: "a path in an object that is missing",
      condition: "exists(a) and a.b == 1",
      context: {},
      paths: [{ path: "a.b", to: 1 }],
    },
    {
      name: "a value that has nothing below it",
      condition: "a.b == 1",
      context: { a: "text" },
      paths: [{ path: "a", from: "text", to: { b: 1 } }],
    },
    {
      name: "a list where an object is needed",
      condition: "a.b == 1",
      context: { a: [1] },
      paths: [{ path: "a", from: [1], to: { b: 1 } }],
    },
    {
      name: "an object whose part must be missing",
      condition: "not empty(a) and not exists(a.b)",
      context: { a: { b: 1 } },
      paths: [{ path: "a", from: { b: 1 }, to: { unrelated: 1 } }],
    },
    {
      name: "an item of a list",
      condition: "a.1.b > 2",
      context: { a: [{ b: 1 }, { b: 2 }] },
      paths: [{ path: "a.1.b", from: 2, to: 3 }],
    },
    {
      name: "an item after the last one",
      condition: "a.1 == 'x'",
      context: { a: ["x"] },
      paths: [{ path: "a.1", to: "x" }],
    },
    {
      name: "the last item",
      condition: "not exists(a.1)",
      context: { a: ["x", "y"] },
      paths: [{ path: "a.1", from: "y" }],
    },
    {
      name: "a part of an item",
      condition: "not exists(a.0.b) and exists(a.0)",
      context: { a: [{ b: 1, c: 1 }] },
      paths: [{ path: "a.0.b", from: 1 }],
    },
    {
      name: "a key with a dot",
      condition: "get(a, 'b.c') == 1",
      context: { a: { "b.c": 2 } },
      paths: [{ path: "a['b.c']", from: 2, to: 1 }],
    },
    {
      name: "two paths where one is not enough",
      condition: "a == 1 and b == 2",
      context: { a: 0, b: 0, c: 0 },
      paths: [
        { path: "a", from: 0, to: 1 },
        { path: "b", from: 0, to: 2 },
      ],
    },
    {
      name: "one path rather than two",
      condition: "(a == 1 and b == 2) or c == 'far away'",
      context: { a: 0, b: 0, c: 0 },
      paths: [{ path: "c", from: 0, to: "far away" }],
    },
    {
      name: "a part of a context with the key `context`",
      condition: "context.a == 1",
      context: { context: { a: 0 } },
      paths: [{ path: "context.a", from: 0, to: 1 }],
    },
  ])("are the fewest: $name", ({ condition, context, paths }) => {
    const found = changeFrom(condition, context);
    expect(pathsOf(found)).toEqual(paths);
    expect(found).toMatchObject({ isSmallest: true });
  });

  it("cannot be items far behind the end of a list, or in the middle of it", () => {
    expect(pathsOf(changeFrom("a.5 == 'x'", { a: [] }))).toBe("none");
    expect(pathsOf(changeFrom("not exists(a.0) and exists(a.1)", { a: [1, 2] }))).toBe("none");
    expect(pathsOf(changeFrom("not exists(a.0.b.c) and exists(a.0.b)", { a: [{ b: 1 }] }))).not.toBe("none");
  });
});

describe("parts of conditions that are not analysed", () => {
  it.each<{ name: string; condition: string; context: JsonObject; paths: readonly PathChange[] }>([
    {
      name: "a computed value is moved to its border",
      condition: "amount * 2 > 100",
      context: { amount: 30 },
      paths: [{ path: "amount", from: 30, to: 51 }],
    },
    {
      name: "a path takes the value of another one",
      condition: "amount <= limit",
      context: { amount: 120, limit: 100 },
      paths: [{ path: "amount", from: 120, to: 100 }],
    },
    {
      name: "a function of a text",
      condition: "length(code) > 3",
      context: { code: "ab" },
      paths: [{ path: "code", from: "ab", to: "aaaa" }],
    },
  ])("are tried: $name", ({ condition, context, paths }) => {
    expect(pathsOf(changeFrom(condition, context))).toEqual(paths);
  });

  it("make it unknown whether fewer paths are enough", () => {
    const found = changeFrom("a + b > 10 and c == 1", { a: 1, b: 1, c: 0 });
    expect(found).toMatchObject({ isSmallest: false, paths: { length: 2 } });
  });

  it("are named where nothing is found", () => {
    const found = changeFrom("starts_with(system.request_time, '1999') and a == 1", { a: 0 });
    expect(found).toEqual({ because: "none", notAnalysed: ["starts_with(system.request_time, '1999')"] });
  });
});

describe("a label", () => {
  const covered = tableOf([rule("x >= 0"), rule("x < 0"), rule("x == 3")]);

  it.each<{ name: string; definition: Definition; label: string; context: JsonObject }>([
    { name: "of a rule that is masked", definition: covered, label: "x == 3", context: { x: 1 } },
    {
      name: "of a condition that contradicts itself",
      definition: switchOn([rule("x > 1 and x < 0")]),
      label: "x > 1 and x < 0",
      context: { x: 1 },
    },
    { name: "that does not exist", definition: covered, label: "other", context: { x: 1 } },
    {
      name: "with the weight 0",
      definition: weightedOf([rule("x > 1", { weight: 0 }), { target: "b", label: "B", weight: 1 }]),
      label: "x > 1",
      context: { x: 1 },
    },
  ])("is unreachable: $name", ({ definition, label, context }) => {
    expect(changeFor({ definition, label, context })).toEqual({ because: "unreachable", notAnalysed: [] });
  });

  it("is selected by an input that cannot be evaluated, if it is the default", () => {
    const definition = switchOn([rule("true")], { input: "{{ a.b }}" });
    const context = { a: { b: 1 } };
    expect(pathsOf(changeFor({ definition, label: "default", context }))).toEqual([{ path: "a.b", from: 1 }]);
  });

  it("is never selected by a change that evaluation does not confirm", () => {
    const definition = switchOn([rule("x == 1")]);
    const found = changeFor({ definition, label: "x == 1", context: { x: 0 }, selects: () => false });
    expect(pathsOf(found)).toBe("none");
  });

  it("is not searched for without limit", () => {
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const definition = switchOn([rule(names.map((name) => `${name} * 2 == 1e9`).join(" or "))]);
    const context = Object.fromEntries(names.map((name) => [name, 0]));
    const label = names.map((name) => `${name} * 2 == 1e9`).join(" or ");
    const selects = (): boolean => false;
    for (const steps of [0, 10, 20_000])
      expect(pathsOf(changeFor({ definition, label, context, selects, steps }))).toBe("limit");
  });
});
