import { describe, expect, it } from "vitest";
import type { Definition } from "../../src/model/definition.js";
import { decideOn, switchOn } from "./definitions.js";

const sizes: Definition = switchOn(
  [
    { condition: "input > 100", target: "stage-large", label: "Large" },
    { condition: "input > 10", target: "stage-medium", label: "Medium" },
    { condition: "input > 1", target: "stage-small", label: "Small" },
  ],
  { input: "{{ order.total }}" },
);

describe.each(["switch", "binary"] as const)("%s", (type) => {
  const definition = { ...sizes, type } as Definition;

  it("takes the first case that matches", () => {
    expect(decideOn(definition, { order: { total: 50 } })).toEqual({
      selected_targets: ["stage-medium"],
      selected_labels: ["Medium"],
      evaluation_details: {
        Large: { condition: "input > 100", result: false },
        Medium: { condition: "input > 10", result: true },
      },
      because: ["input > 10"],
      failed_conditions: ["input > 100"],
      input_value: 50,
      warnings: [],
    });
  });

  it("lists only what was evaluated before and at the match", () => {
    expect(decideOn(definition, { order: { total: 500 } }).evaluation_details).toEqual({
      Large: { condition: "input > 100", result: true },
    });
  });

  it("does not evaluate what comes after the match", () => {
    const cases = [
      { condition: "true", target: "stage-first" },
      { condition: "absent > 1", target: "stage-second" },
    ];
    expect(decideOn({ ...switchOn(cases), type } as Definition)).toMatchObject({
      selected_targets: ["stage-first"],
      warnings: [],
    });
  });

  it("goes to the default if nothing matches", () => {
    expect(decideOn(definition, { order: { total: 0 } })).toEqual({
      selected_targets: ["stage-default"],
      selected_labels: ["default"],
      evaluation_details: {
        Large: { condition: "input > 100", result: false },
        Medium: { condition: "input > 10", result: false },
        Small: { condition: "input > 1", result: false },
      },
      because: ["no condition matched"],
      failed_conditions: ["input > 100", "input > 10", "input > 1"],
      input_value: 0,
      warnings: [],
    });
  });

  it("passes over a case that cannot be evaluated, and reports it", () => {
    const cases = [
      { condition: "absent > 1", target: "stage-a", label: "A" },
      { condition: "true", target: "stage-b", label: "B" },
    ];
    expect(decideOn({ ...switchOn(cases), type } as Definition)).toMatchObject({
      selected_labels: ["B"],
      evaluation_details: {
        A: { condition: "absent > 1", result: false, error: "`absent` is missing" },
        B: { condition: "true", result: true },
      },
      failed_conditions: ["absent > 1"],
      warnings: ["`A` could not be evaluated, so it did not match: `absent` is missing"],
    });
  });

  it("goes to the default if every case is errored", () => {
    const cases = [{ condition: "absent", target: "stage-a" }];
    expect(decideOn({ ...switchOn(cases), type } as Definition).selected_labels).toEqual(["default"]);
  });
});

describe("the condition of a case", () => {
  it.each([
    ["input == 5", true],
    ["{{ input == 5 }}", true],
    ["${ input == 5 }", true],
    ["order.total == 5", true],
    ["context.order.total == 5", true],
    ["system.request_time < '2027'", true],
    ["empty(facts)", true],
    ["input != 5", false],
  ])("%s is evaluated with all that it may see", (condition, matches) => {
    const definition = switchOn([{ condition, target: "stage-a" }], { input: "order.total" });
    expect(decideOn(definition, { order: { total: 5 } }).selected_labels).toEqual([
      matches ? "stage-a" : "default",
    ]);
  });

  it.each([
    ["a number", "1"],
    ["text", "'true'"],
    ["null", "null"],
    ["a list", "[true]"],
    ["an object", "context"],
  ])("that is %s does not match: only true does", (type, condition) => {
    expect(decideOn(switchOn([{ condition, target: "stage-a", label: "A" }]))).toMatchObject({
      selected_labels: ["default"],
      warnings: [
        `\`A\` could not be evaluated, so it did not match: a condition must be true or false, this one is ${type}`,
      ],
    });
  });
});
