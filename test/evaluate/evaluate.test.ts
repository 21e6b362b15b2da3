import { describe, expect, it } from "vitest";
import { DecisionError } from "../../src/errors.js";
import { prepare } from "../../src/evaluate/prepare.js";
import type { Definition } from "../../src/model/definition.js";
import { decideOn, switchOn, tableOf, weightedOf } from "./definitions.js";

function errorOf(run: () => unknown): DecisionError {
  try {
    run();
  } catch (error) {
    if (error instanceof DecisionError) return error;
    throw error;
  }
  throw new Error("it does not fail");
}

const yes = { condition: "true", target: "stage-yes", label: "Yes", weight: 1 };
const errored = { condition: "absent > 1", target: "stage-odd", label: "Odd", weight: 1 };

const types: [string, (extra: object) => Definition][] = [
  ["switch", (extra) => switchOn([errored, yes], extra)],
  ["rule_table", (extra) => tableOf([errored, yes], extra)],
  ["weighted", (extra) => weightedOf([errored, yes], extra)],
];

describe("input", () => {
  it("is the whole context if the definition names none", () => {
    expect(decideOn(switchOn([yes]), { a: 1, b: [2] }).input_value).toEqual({ a: 1, b: [2] });
  });

  it.each([
    ["{{ a.b }}", 5],
    ["a.b", 5],
    ["${ a.b + 1 }", 6],
    ["{{ a }}", { b: 5 }],
    ["{{ a.b }}/{{ a.b }}", "5/5"],
    ["null", null],
  ])("%s has the value %j", (input, value) => {
    expect(decideOn(switchOn([yes], { input }), { a: { b: 5 } }).input_value).toEqual(value);
  });

  it.each(types)("that cannot be evaluated sends a %s to its default with a warning", (_type, make) => {
    expect(decideOn(make({ input: "{{ nothing.here }}" }))).toEqual({
      selected_targets: ["stage-default"],
      selected_labels: ["default"],
      evaluation_details: {},
      because: ["the input could not be evaluated"],
      failed_conditions: [],
      input_value: null,
      warnings: ["the input could not be evaluated, so the default was taken: `nothing.here` is missing"],
    });
  });

  it.each(types)("that cannot be evaluated ends a %s with on_error: fail", (_type, make) => {
    const definition = make({ input: "nothing.here", on_error: "fail" });
    expect(errorOf(() => decideOn(definition)).code).toBe("condition_errored");
  });

  it.each(types)("that cannot be evaluated ends a strict %s", (_type, make) => {
    const run = (): unknown => decideOn(make({ input: "nothing.here" }), {}, { strict: true });
    expect(errorOf(run).code).toBe("condition_errored");
  });

  it("does not see itself, even if the context has a key of that name", () => {
    expect(decideOn(switchOn([yes], { input: "input" }), { input: 5 }).selected_labels).toEqual(["default"]);
  });
});

describe("a condition that cannot be evaluated", () => {
  it.each(types)("never selects, but leaves the others of a %s to", (_type, make) => {
    expect(decideOn(make({}))).toMatchObject({
      selected_labels: ["Yes"],
      warnings: ["`Odd` could not be evaluated, so it did not match: `absent` is missing"],
    });
  });

  it.each(types)("counts as no match with on_error: no_match, in a %s", (_type, make) => {
    expect(decideOn(make({ on_error: "no_match" })).selected_labels).toEqual(["Yes"]);
  });

  it.each(types)("ends a %s with on_error: fail", (_type, make) => {
    const error = errorOf(() => decideOn(make({ on_error: "fail" })));
    expect({ code: error.code, details: error.details }).toEqual({
      code: "condition_errored",
      details: {
        decision_id: "decision-under-test",
        errors: ["`Odd` could not be evaluated: `absent` is missing"],
      },
    });
  });

  it.each(types)("ends a strict %s whatever its on_error", (_type, make) => {
    const run = (): unknown => decideOn(make({ on_error: "no_match" }), {}, { strict: true });
    expect(errorOf(run).code).toBe("condition_errored");
  });

  it.each(types)("names all that was errored in a strict %s", (_type, make) => {
    const definition = make({});
    const twice = { ...definition, ...{ [definition.type === "rule_table" ? "rules" : "cases"]: both } };
    expect(errorOf(() => decideOn(twice, {}, { strict: true })).details).toMatchObject({
      errors: [expect.stringContaining("`first`"), expect.stringContaining("`second`")],
    });
  });

  const both = ["first", "second"].map((condition) => ({ ...errored, condition, label: condition }));

  it("after the match of a switch was never asked, so it does not end a strict one", () => {
    expect(decideOn(switchOn([yes, errored]), {}, { strict: true }).selected_labels).toEqual(["Yes"]);
  });

  it("after the match of a table ends a strict one: every rule is evaluated", () => {
    expect(errorOf(() => decideOn(tableOf([yes, errored]), {}, { strict: true })).code).toBe(
      "condition_errored",
    );
  });

  it("is no reason to fail if nothing is errored", () => {
    const definition = switchOn([yes], { on_error: "fail" });
    expect(decideOn(definition, {}, { strict: true }).selected_labels).toEqual(["Yes"]);
  });
});

describe("reads", () => {
  const readsOf = (input: string | undefined, ...conditions: readonly string[]): readonly string[] => {
    const cases = conditions.map((condition) => ({ condition, target: "stage-a" }));
    return prepare(switchOn(cases, input === undefined ? {} : { input })).reads;
  };

  it("are the paths of the input and of the conditions, each once", () => {
    expect(readsOf("{{ a.b }}", "c > 1 and a.b > 2", "c == d")).toEqual(["a.b", "c", "d"]);
  });

  it("have in place of input what the input itself reads", () => {
    expect(readsOf("{{ a.b }}", "input > 1", "input.x == 2", "input_mode == 1")).toEqual([
      "a.b",
      "input_mode",
    ]);
  });

  it("have the whole context if there is no input", () => {
    expect(readsOf(undefined, "a > 1")).toContain("context");
  });

  it.each([
    ["the time", undefined, "system.request_time > '2026'", "system.request_time"],
    ["facts", undefined, "facts.uses < 5", "facts.uses"],
    [
      "the time beside context",
      "a",
      "exists(context) and system.request_time > '2026'",
      "system.request_time",
    ],
    ["a path beside context", "a", "exists(context) and b > 1", "b"],
  ])("have %s", (_what, input, condition, path) => {
    expect(readsOf(input, condition)).toContain(path);
  });
});

describe("prepare", () => {
  it.each([
    ["input", switchOn([yes], { input: "{{ a = 1 }}" })],
    ["a condition", switchOn([{ condition: "a = 1", target: "stage-a" }])],
  ])("rejects %s that does not compile", (_what, definition) => {
    expect(errorOf(() => prepare(definition)).code).toBe("expression_invalid");
  });
});
