import { describe, expect, it } from "vitest";
import type { Case, Definition } from "../../src/model/definition.js";
import type { DefinitionTally, HourTally, Tally } from "../../src/model/store.js";
import type { Distribution, ShareCheck } from "../../src/record/distribution.js";
import { computeDistribution, countPeriods } from "../../src/record/distribution.js";
import { decideOn, rule, switchOn, tableOf, weightedOf } from "../evaluate/definitions.js";

const hash = "c".repeat(64);
const older = "0".repeat(64);

type Counts = Readonly<Record<string, number>>;

const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, each) => sum + each, 0);

function made(distinct: Counts, counts: Counts = distinct): DefinitionTally {
  return { total: sumOf(counts), counts, distinct_inputs: sumOf(distinct), distinct_counts: distinct };
}

function tallyOf(definitions: Readonly<Record<string, DefinitionTally>>): Tally {
  const counts: Record<string, number> = {};
  for (const each of Object.values(definitions)) {
    for (const [label, count] of Object.entries(each.counts)) counts[label] = (counts[label] ?? 0) + count;
  }
  const total = Object.values(definitions).reduce((sum, each) => sum + each.total, 0);
  return { total, counts, definitions };
}

function distributionIn(definition: Definition | undefined, tally: Tally): Distribution {
  return computeDistribution("d", tally, definition && { definition, definition_hash: hash });
}

function weighted(...weights: readonly (number | undefined)[]): Definition {
  const labels = ["a", "b", "c", "d", "e"];
  const cases = weights.map((weight, index): Case => {
    const label = labels[index] ?? "";
    return { target: `stage-${label}`, label, ...(weight !== undefined && { weight }) };
  });
  return weightedOf(cases);
}

function checkOf(definition: Definition, distinct: Counts, counts = distinct): ShareCheck {
  const { check } = distributionIn(definition, tallyOf({ [hash]: made(distinct, counts) }));
  if (check === null) throw new Error("nothing was checked");
  return check;
}

describe("a distribution", () => {
  it("has the documented fields", () => {
    const distribution = distributionIn(
      weighted(70, 20, 10),
      tallyOf({ [hash]: made({ a: 71, b: 18, c: 11 }, { a: 142, b: 18, c: 40 }) }),
    );
    expect(distribution).toEqual({
      decision_id: "d",
      definition_hash: hash,
      decision_version: null,
      current_definition_hash: hash,
      total: 200,
      all_total: 200,
      current_total: 200,
      distinct_inputs: 100,
      counts: { a: 142, b: 18, c: 40 },
      branches: [
        { label: "a", target: "stage-a", count: 142, share: 0.71, expected_share: 0.7 },
        { label: "b", target: "stage-b", count: 18, share: 0.09, expected_share: 0.2 },
        { label: "c", target: "stage-c", count: 40, share: 0.2, expected_share: 0.1 },
      ],
      check: {
        definition_hash: hash,
        sample: 100,
        statistic: 1 / 70 + 4 / 20 + 1 / 10,
        degrees_of_freedom: 2,
        p_value: expect.closeTo(Math.exp(-(1 / 70 + 0.3) / 2), 12) as number,
        e_value: expect.closeTo(0.0725285861, 9) as number,
        reliable: true,
        mismatch: false,
      },
    });
  });

  it("lists branches in the order of the file, including those never selected", () => {
    const definition = switchOn([rule("z"), rule("m"), rule("a")]);
    const { branches } = distributionIn(definition, tallyOf({ [hash]: made({ a: 5, z: 1 }) }));
    expect(branches.map(({ label, count }) => [label, count])).toEqual([
      ["z", 1],
      ["m", 0],
      ["a", 5],
      ["default", 0],
    ]);
  });

  it("has shares of 0 where there are no records", () => {
    const { total, distinct_inputs, counts, branches } = distributionIn(switchOn([rule("a")]), tallyOf({}));
    expect({ total, distinct_inputs, counts }).toEqual({ total: 0, distinct_inputs: 0, counts: {} });
    expect(branches.map(({ count, share }) => [count, share])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it("lists the default of a weighted decision only if it was selected", () => {
    const labels = (distinct: Counts): readonly string[] =>
      distributionIn(weighted(1, 1), tallyOf({ [hash]: made(distinct) })).branches.map(({ label }) => label);
    expect(labels({ a: 1 })).toEqual(["a", "b"]);
    expect(labels({ a: 1, default: 1 })).toEqual(["a", "b", "default"]);
  });

  it("lists the default of a weighted decision whose conditions may all fail", () => {
    const definition = weightedOf([{ condition: "x", target: "t", weight: 1 }]);
    const { branches, check } = distributionIn(definition, tallyOf({}));
    expect(branches.map(({ label }) => label)).toEqual(["t", "default"]);
    expect(branches.map(({ expected_share }) => expected_share)).toEqual([null, null]);
    expect(check).toBeNull();
  });

  it("counts the records of one definition only", () => {
    const tally = tallyOf({ [older]: made({ gone: 2, a: 1, more: 3 }), [hash]: made({ a: 4 }) });
    const distribution = distributionIn(switchOn([rule("a")]), tally);
    expect(distribution).toMatchObject({ total: 4, all_total: 10, current_total: 4, distinct_inputs: 4 });
    expect(distribution.counts).toEqual({ a: 4 });
    expect(distribution.branches.map(({ label, count, share }) => [label, count, share])).toEqual([
      ["a", 4, 1],
      ["default", 0, 0],
    ]);
  });

  it("shows an earlier definition with its own weights", () => {
    const tally = tallyOf({ [older]: made({ a: 60, b: 40 }), [hash]: made({ a: 4 }) });
    const shown = { definition: weighted(60, 40), definition_hash: older };
    const current = { definition: weighted(10, 90), definition_hash: hash };
    expect(computeDistribution("d", tally, current, shown)).toMatchObject({
      definition_hash: older,
      current_definition_hash: hash,
      total: 100,
      current_total: 4,
      branches: [
        { label: "a", share: 0.6, expected_share: 0.6 },
        { label: "b", share: 0.4, expected_share: 0.4 },
      ],
      check: { definition_hash: older, statistic: 0, mismatch: false },
    });
  });

  it("ends with labels that the definition does not have, without a target, the most frequent first", () => {
    const tally = tallyOf({ [hash]: made({ gone: 2, a: 1, more: 3, also: 2 }) });
    const { branches } = distributionIn(switchOn([rule("a")]), tally);
    expect(branches.map(({ label, target, count }) => [label, target, count])).toEqual([
      ["a", "stage-a", 1],
      ["default", "stage-default", 0],
      ["more", null, 3],
      ["also", null, 2],
      ["gone", null, 2],
    ]);
  });

  it("has neither a number of distinct inputs nor a check where inputs are masked", () => {
    const definition = { ...weighted(50, 50), input: "{{ user.email }}", logging: { mask: ["/user"] } };
    const { distinct_inputs, check, branches } = distributionIn(
      definition,
      tallyOf({ [hash]: made({ a: 1, b: 1 }, { a: 500, b: 500 }) }),
    );
    expect({ distinct_inputs, check }).toEqual({ distinct_inputs: null, check: null });
    expect(branches.map(({ expected_share }) => expected_share)).toEqual([0.5, 0.5]);
  });

  it("has only counts where the definition is not stored", () => {
    const { branches, check } = distributionIn(undefined, tallyOf({ [older]: made({ default: 1, a: 3 }) }));
    expect(branches).toEqual([
      { label: "a", target: null, count: 3, share: 0.75, expected_share: null },
      { label: "default", target: null, count: 1, share: 0.25, expected_share: null },
    ]);
    expect(check).toBeNull();
  });

  it("has shares that may add up to more than 1 for a collecting table", () => {
    const table = tableOf([rule("a"), rule("b")], { hit_policy: "collect" });
    const both: DefinitionTally = {
      total: 4,
      counts: { a: 4, b: 3 },
      distinct_inputs: 4,
      distinct_counts: { a: 4, b: 3 },
    };
    const { branches, check } = distributionIn(table, tallyOf({ [hash]: both }));
    expect(branches.map(({ share }) => share)).toEqual([1, 0.75, 0]);
    expect(check).toBeNull();
  });

  it("names cases without labels as results do", () => {
    const definition = weightedOf([
      { target: "t", weight: 1 },
      { target: "t", weight: 3 },
    ]);
    const { branches } = distributionIn(definition, tallyOf({ [hash]: made({ t: 1, "t#2": 3 }) }));
    expect(branches.map(({ label, count, expected_share }) => [label, count, expected_share])).toEqual([
      ["t", 1, 0.25],
      ["t#2", 3, 0.75],
    ]);
  });

  it("ignores inherited properties of the counts", () => {
    const definition = weightedOf([
      { target: "t", label: "constructor", weight: 1 },
      { target: "t", label: "toString", weight: 1 },
    ]);
    const { branches, check } = distributionIn(definition, tallyOf({ [hash]: made({}) }));
    expect(branches.map(({ count }) => count)).toEqual([0, 0]);
    expect(check?.sample).toBe(0);
  });
});

describe("the check of a weighted decision", () => {
  it("counts each distinct input once", () => {
    const once = checkOf(weighted(1, 1), { a: 50, b: 50 });
    expect(checkOf(weighted(1, 1), { a: 50, b: 50 }, { a: 50_000, b: 50 })).toEqual(once);
    expect(once).toMatchObject({ sample: 100, statistic: 0, p_value: 1, mismatch: false });
  });

  it("covers the current definition only", () => {
    const tally = tallyOf({ [older]: made({ a: 9000 }), [hash]: made({ a: 50, b: 50 }) });
    expect(distributionIn(weighted(1, 1), tally).check).toMatchObject({ sample: 100, mismatch: false });
  });

  it("accepts the actual roll and detects another split", () => {
    const definition = weightedOf(
      [
        { target: "a", weight: 70 },
        { target: "b", weight: 20 },
        { target: "c", weight: 10 },
      ],
      { input: "id" },
    );
    const distinct: Record<string, number> = {};
    for (let id = 0; id < 5000; id++) {
      const [label = ""] = decideOn(definition, { id: `request-${id}` }).selected_labels;
      distinct[label] = (distinct[label] ?? 0) + 1;
    }
    const check = checkOf(definition, distinct);
    expect(check).toMatchObject({ sample: 5000, degrees_of_freedom: 2, reliable: true, mismatch: false });
    expect(check.p_value).toBeGreaterThan(0.01);
    const shifted = { ...distinct, a: (distinct["a"] ?? 0) - 200, b: (distinct["b"] ?? 0) + 200 };
    expect(checkOf(definition, shifted)).toMatchObject({ reliable: true, mismatch: true });
  });

  it("reports a mismatch from an e-value of 1,000 on, whatever the chi-square test says", () => {
    const below = checkOf(weighted(1, 1), { a: 571, b: 429 });
    expect(below).toMatchObject({ e_value: expect.closeTo(969.853, 3) as number, mismatch: false });
    expect(below.p_value).toBeLessThan(0.001);
    const above = checkOf(weighted(1, 1), { a: 572, b: 428 });
    expect(above).toMatchObject({ e_value: expect.closeTo(1293.137, 3) as number, mismatch: true });
  });

  it("ignores inputs that could not be evaluated", () => {
    const check = checkOf(weighted(1, 1), { a: 50, b: 50, default: 400 });
    expect(check).toMatchObject({ sample: 100, p_value: 1, mismatch: false });
  });

  it("ignores branches of weight 0 that were not selected", () => {
    const check = checkOf(weighted(1, 0, 1, undefined), { a: 50, c: 50 });
    expect(check).toMatchObject({ sample: 100, degrees_of_freedom: 1, p_value: 1, mismatch: false });
  });

  it("reports a mismatch for a single input in a branch of weight 0", () => {
    const check = checkOf(weighted(1, 0), { a: 3, b: 1 });
    expect(check).toMatchObject({ sample: 3, p_value: 0, e_value: 1e308, mismatch: true, reliable: true });
  });

  it.each([
    ["one branch alone", weighted(5), { a: 100 }],
    ["one branch with weight", weighted(5, 0), { a: 100 }],
    ["a single weight that no sum is exact with", weighted(0.1), { a: 3333 }],
  ])("accepts %s", (_what, definition, distinct) => {
    expect(checkOf(definition, distinct)).toMatchObject({
      statistic: 0,
      degrees_of_freedom: 0,
      p_value: 1,
      mismatch: false,
    });
  });

  it("is unreliable without any decision", () => {
    const { check } = distributionIn(weighted(70, 30), tallyOf({}));
    expect(check).toEqual({
      definition_hash: hash,
      sample: 0,
      statistic: 0,
      degrees_of_freedom: 1,
      p_value: 1,
      e_value: 1,
      reliable: false,
      mismatch: false,
    });
  });

  it.each([
    ["all of 9 in one of two halves", weighted(1, 1), { a: 9 }],
    ["one in the rare branch", weighted(99, 1), { b: 1 }],
    ["5 of 100 where 1 was expected", weighted(99, 1), { a: 95, b: 5 }],
  ])("is unreliable with too few inputs: %s", (_what, definition, distinct) => {
    expect(checkOf(definition, distinct)).toMatchObject({ reliable: false, mismatch: false });
  });

  it.each([
    ["all of 4 in the rare branch", weighted(99, 1), { b: 4 }],
    ["all of 6 in a tenth", weighted(70, 20, 10), { c: 6 }],
  ])("reports a mismatch for few inputs that are unlikely: %s", (_what, definition, distinct) => {
    expect(checkOf(definition, distinct)).toMatchObject({ reliable: false, mismatch: true });
  });

  it("tests the other branches where one is too rare to be tested alone", () => {
    const definition = weighted(500, 499, 1);
    expect(checkOf(definition, { a: 520, b: 479, c: 1 })).toMatchObject({ reliable: false, mismatch: false });
    expect(checkOf(definition, { a: 1000 })).toMatchObject({ reliable: false, mismatch: true });
  });

  it("tests many rare branches together", () => {
    const cases = Array.from({ length: 1000 }, (_, index) => ({ target: `t${index}`, weight: 1 }));
    const even = Object.fromEntries(cases.map(({ target }) => [target, 2]));
    const half = Object.fromEntries(cases.slice(500).map(({ target }) => [target, 4]));
    expect(checkOf(weightedOf(cases), even)).toMatchObject({ degrees_of_freedom: 999, mismatch: false });
    expect(checkOf(weightedOf(cases), half)).toMatchObject({ reliable: false, mismatch: true });
  });

  it.each([
    ["every weight is 0", weighted(0, 0)],
    ["a case has a condition", weightedOf([{ condition: "x", target: "t", weight: 1 }])],
    ["the type has no weights", switchOn([rule("a", { weight: 3 })])],
  ])("is not made where %s", (_what, definition) => {
    const { check, branches } = distributionIn(definition, tallyOf({ [hash]: made({ default: 10 }) }));
    expect(check).toBeNull();
    expect(branches.every(({ expected_share }) => expected_share === null)).toBe(true);
  });

  it("treats a blank condition as none", () => {
    expect(checkOf(weightedOf([{ condition: "  ", target: "t", weight: 1 }]), { t: 9 }).sample).toBe(9);
  });

  it.each([
    ["the smallest weight there is", weighted(5e-324, 1e12)],
    ["a weight too small to be a share", weighted(1e-320, 1)],
    ["equal weights, however small", weighted(5e-324, 5e-324)],
    ["the largest weights", weighted(1e12, 1e12, 1e12)],
  ])("has only numbers that JSON can represent: %s", (_what, definition) => {
    for (const distinct of [{}, { a: 1 }, { b: 1 }, { a: 1e9, b: 1 }, { a: 1, b: 1e9 }]) {
      const distribution = distributionIn(definition, tallyOf({ [hash]: made(distinct) }));
      expect(JSON.parse(JSON.stringify(distribution))).toEqual(distribution);
    }
  });
});

describe("the periods of a distribution", () => {
  const hours: readonly HourTally[] = [
    { hour: 24, definition_hash: hash, labels: ["a", "b"], count: 2 },
    { hour: 24, definition_hash: older, labels: ["a"], count: 5 },
    { hour: 47, definition_hash: hash, labels: ["a"], count: 1 },
    { hour: 48, definition_hash: hash, labels: ["__proto__"], count: 3 },
  ];

  it.each([
    [
      "day",
      [
        ["1970-01-02", 3, { a: 3, b: 2 }],
        ["1970-01-03", 3, { ["__proto__"]: 3 }],
      ],
    ],
    [
      "hour",
      [
        ["1970-01-02T00:00Z", 2, { a: 2, b: 2 }],
        ["1970-01-02T23:00Z", 1, { a: 1 }],
        ["1970-01-03T00:00Z", 3, { ["__proto__"]: 3 }],
      ],
    ],
  ] as const)("are those of one definition, in UTC, by %s", (by, expected) => {
    const periods = countPeriods(hours, hash, by);
    expect(periods.map(({ period, total, counts }) => [period, total, counts])).toEqual(expected);
  });

  it("count all definitions where none is known", () => {
    expect(countPeriods(hours, null, "day")[0]).toMatchObject({ total: 8, counts: { a: 8 } });
  });
});
