import { describe, expect, it } from "vitest";
import { roll, rollText } from "../../src/evaluate/weighted.js";
import type { Json } from "../../src/model/json.js";
import { decideOn, rollOf, weightedOf } from "./definitions.js";

const variants = [
  { target: "stage-a", label: "A", weight: 70 },
  { target: "stage-b", label: "B", weight: 20 },
  { target: "stage-c", label: "C", weight: 10 },
];
const experiment = weightedOf(variants, { input: "{{ id }}" });

describe("a roll", () => {
  it.each([
    ["req-1", 7.862582218695236, "A"],
    ["req-2", 91.12735602511248, "C"],
    ["user-123", 20.261973261343126, "A"],
    ["", 60.48192170315362, "A"],
  ])("for %j is the reference's, and decides", (id, rolled, label) => {
    expect(decideOn(experiment, { id })).toEqual({
      selected_targets: [`stage-${label.toLowerCase()}`],
      selected_labels: [label],
      evaluation_details: { roll: rolled, total_weight: 100, weights: { A: 70, B: 20, C: 10 } },
      because: [`rolled ${rolled} of 100`],
      failed_conditions: [],
      input_value: id,
      warnings: [],
    });
  });

  it("is never below 0 nor above the total", () => {
    const rolls = Array.from({ length: 5000 }, (_, index) => roll(`text ${index}`, 3));
    expect(rolls.every((each) => each >= 0 && each <= 3)).toBe(true);
  });

  it("spreads over the branches as their weights say", () => {
    const counts = { A: 0, B: 0, C: 0 };
    for (let index = 0; index < 10_000; index++) {
      const [label] = decideOn(experiment, { id: `user-${index}` }).selected_labels;
      counts[label as keyof typeof counts]++;
    }
    const shares = Object.values(counts).map((count) => Math.round(count / 200));
    expect(shares).toEqual([35, 10, 5]);
  });

  it.each([
    ["at the edge of a branch takes that branch", 7.862582218695236, "A"],
    ["one step beyond the edge takes the next", 7.862582218695235, "B"],
  ])("%s", (_what, weight, label) => {
    const cases = [
      { target: "stage-a", label: "A", weight },
      { target: "stage-b", label: "B", weight: 100 - weight },
    ];
    expect(decideOn(weightedOf(cases, { input: "id" }), { id: "req-1" })).toMatchObject({
      selected_labels: [label],
      evaluation_details: { roll: 7.862582218695236, total_weight: 100 },
    });
  });

  it("scales with the total weight", () => {
    expect([roll("req-1", 1), roll("req-1", 100), roll("req-1", 0)]).toEqual([
      0.07862582218695235, 7.862582218695236, 0,
    ]);
  });
});

describe("the text that is rolled", () => {
  it.each<[string, Json, string]>([
    ["a text as it is", "req-1", "req-1"],
    ["a text with quotes as it is", 'a"b', 'a"b'],
    ["a number", 42, "42"],
    ["a large number", 1e21, "1e+21"],
    ["minus zero", -0, "0"],
    ["true", true, "true"],
    ["null", null, "null"],
    ["a list", [1, "a", null], '[1,"a",null]'],
    ["an object, its keys sorted", { b: [2], a: 1 }, '{"a":1,"b":[2]}'],
    ["an empty object", {}, "{}"],
  ])("is %s in canonical JSON unless it is text", (_what, id, text) => {
    expect([rollText(id), rollOf(decideOn(experiment, { id })).roll]).toEqual([text, roll(text, 100)]);
  });

  it("is the whole context if there is no input", () => {
    const evaluated = decideOn(weightedOf(variants), { b: 2, a: 1 });
    expect(rollOf(evaluated).roll).toBe(roll('{"a":1,"b":2}', 100));
  });

  it.each<[string, Json, string]>([
    ["text", "req-1", "summer:req-1"],
    ["anything else", { b: 1, a: 2 }, 'summer:{"a":2,"b":1}'],
  ])("has the salt before it for %s", (_what, id, text) => {
    const salted = weightedOf(variants, { input: "id", salt: "summer" });
    expect(rollOf(decideOn(salted, { id })).roll).toBe(roll(text, 100));
  });

  it("makes the buckets of two salts independent of each other", () => {
    const labels = ["one", "two"].map((salt) =>
      Array.from({ length: 200 }, (_, index) =>
        decideOn(weightedOf(variants, { input: "id", salt }), { id: index }).selected_labels.join(),
      ),
    );
    const same = labels[0]?.filter((label, index) => label === labels[1]?.[index]).length ?? 0;
    expect(same).toBeLessThan(150);
  });
});

describe("a weight of 0", () => {
  const withNothingFirst = weightedOf(
    [
      { target: "stage-never", label: "Never", weight: 0 },
      { target: "stage-always", label: "Always", weight: 1 },
      { target: "stage-nor", label: "Nor" },
    ],
    { input: "id" },
  );

  it("is never chosen, wherever it stands", () => {
    const labels = Array.from({ length: 500 }, (_, id) => decideOn(withNothingFirst, { id }).selected_labels);
    expect(new Set(labels.flat())).toEqual(new Set(["Always"]));
  });

  it("is not chosen if the roll is 0", () => {
    const cases = [
      { target: "stage-never", label: "Never", weight: 0 },
      { target: "stage-always", label: "Always", weight: Number.MIN_VALUE },
    ];
    expect(decideOn(weightedOf(cases, { input: "id" }), { id: "req-1" })).toMatchObject({
      selected_labels: ["Always"],
      evaluation_details: { roll: 0 },
    });
  });

  it("is what a case without a weight has", () => {
    expect(rollOf(decideOn(withNothingFirst, { id: 1 })).weights).toEqual({ Never: 0, Always: 1, Nor: 0 });
  });

  it("everywhere routes to the default without a roll", () => {
    const cases = [{ target: "stage-a", weight: 0 }, { target: "stage-b" }];
    expect(decideOn(weightedOf(cases, { input: "id" }), { id: "req-1" })).toEqual({
      selected_targets: ["stage-default"],
      selected_labels: ["default"],
      evaluation_details: {},
      because: ["every weight is 0"],
      failed_conditions: [],
      input_value: "req-1",
      warnings: [],
    });
  });
});

describe("cases with conditions", () => {
  const cases = [
    { target: "stage-a", label: "A", weight: 70, condition: "country == 'DE'" },
    { target: "stage-b", label: "B", weight: 20, condition: "" },
    { target: "stage-c", label: "C", weight: 10, condition: "  " },
  ];
  const conditional = weightedOf(cases, { input: "id" });

  it("are included in the roll if they match", () => {
    expect(decideOn(conditional, { id: "req-1", country: "DE" })).toMatchObject({
      selected_labels: ["A"],
      evaluation_details: {
        roll: 7.862582218695236,
        total_weight: 100,
        weights: { A: 70, B: 20, C: 10 },
        conditions: { A: { condition: "country == 'DE'", result: true } },
      },
      failed_conditions: [],
    });
  });

  it("are excluded if they do not match: the roll is over the weights that are left", () => {
    expect(decideOn(conditional, { id: "req-1", country: "FR" })).toMatchObject({
      selected_labels: ["B"],
      evaluation_details: {
        roll: roll("req-1", 30),
        total_weight: 30,
        weights: { B: 20, C: 10 },
        conditions: { A: { condition: "country == 'DE'", result: false } },
      },
      failed_conditions: ["country == 'DE'"],
    });
  });

  it("are excluded if they are errored, and report it", () => {
    expect(decideOn(conditional, { id: "req-1" })).toMatchObject({
      selected_labels: ["B"],
      evaluation_details: {
        weights: { B: 20, C: 10 },
        conditions: { A: { result: false, error: "`country` is missing" } },
      },
      warnings: ["`A` could not be evaluated, so it did not match: `country` is missing"],
    });
  });

  it("route to the default without a roll if none matches", () => {
    const none = weightedOf([{ target: "stage-a", label: "A", weight: 1, condition: "id == 'x'" }], {
      input: "id",
    });
    expect(decideOn(none, { id: "req-1" })).toEqual({
      selected_targets: ["stage-default"],
      selected_labels: ["default"],
      evaluation_details: { A: { condition: "id == 'x'", result: false } },
      because: ["no condition matched"],
      failed_conditions: ["id == 'x'"],
      input_value: "req-1",
      warnings: [],
    });
  });

  it("are all asked, whatever the roll", () => {
    const all = weightedOf(
      [
        { target: "stage-a", label: "A", weight: 99, condition: "true" },
        { target: "stage-b", label: "B", weight: 1, condition: "absent" },
      ],
      { input: "id" },
    );
    expect(decideOn(all, { id: "req-1" }).warnings).toHaveLength(1);
  });

  it("make no conditions in the details if no case has one", () => {
    expect(rollOf(decideOn(experiment, { id: "req-1" }))).not.toHaveProperty("conditions");
  });
});

describe("an input that cannot be evaluated", () => {
  it("routes to the default and never to a roll", () => {
    expect(decideOn(experiment)).toEqual({
      selected_targets: ["stage-default"],
      selected_labels: ["default"],
      evaluation_details: {},
      because: ["the input could not be evaluated"],
      failed_conditions: [],
      input_value: null,
      warnings: ["the input could not be evaluated, so the default was taken: `id` is missing"],
    });
  });

  it("is not the same as one that is null, which is rolled", () => {
    expect(rollOf(decideOn(experiment, { id: null })).roll).toBe(roll("null", 100));
  });
});
