import { describe, expect, it } from "vitest";
import type { Denial } from "../../../src/evaluate/policy/base-policy.js";
import { AppliedOverrides, prepareOverride } from "../../../src/evaluate/policy/override-policy.js";
import type { OverridePolicy } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";

const sets = (name: string, params: JsonObject, ...overrides: readonly string[]): OverridePolicy => ({
  name,
  overrides,
  action: "modify_params",
  params,
});

function flipsOf(overrides: readonly OverridePolicy[], facts: JsonObject = {}): AppliedOverrides {
  const scope = { context: {}, input: {}, facts, system: {} };
  const prepared = overrides.map((each) => prepareOverride(each));
  return new AppliedOverrides(prepared, { tool: "t", scope, at: 0 });
}

const denial = (name: string, failed: readonly string[] = []): Denial => ({
  allows: false,
  identity: { name, version: "1.0.0", hash: "" },
  reason: `${name} says no`,
  conditions: failed.map((each) => ({ name: each, expression: "false", result: false })),
  lineage: [],
  counted: [],
});

const flipAll = (flips: AppliedOverrides, ...policies: readonly string[]): AppliedOverrides => {
  for (const policy of policies) flips.applyTo(denial(policy));
  return flips;
};

describe("the override of a denial", () => {
  it("is the first that names it and is live", () => {
    const flips = flipsOf([
      { name: "other", overrides: ["q"] },
      { name: "late", overrides: ["p"], when: "false" },
      { name: "first", overrides: ["p"] },
      { name: "second", overrides: ["p"] },
    ]);
    expect(flips.applyTo(denial("p"))?.override.identity.name).toBe("first");
    expect(flips.applied.map(({ override }) => override.identity.name)).toEqual(["first"]);
  });

  it("is none if none names it", () => {
    const flips = flipsOf([{ name: "o", overrides: ["q"] }]);
    expect([flips.applyTo(denial("p")), flips.applied]).toEqual([undefined, []]);
  });

  it("can lift several denials and is applied once", () => {
    const flips = flipAll(flipsOf([{ name: "o", overrides: ["p", "q"] }]), "q", "p");
    expect(flips.applied).toMatchObject([{ flipped: ["q", "p"] }]);
  });

  it("has a verdict only if it was evaluated", () => {
    const overrides = [
      prepareOverride({ name: "a", overrides: ["p"] }),
      prepareOverride({ name: "b", overrides: ["q"] }),
    ];
    const scope = { context: {}, input: {}, facts: {}, system: {} };
    const flips = flipAll(new AppliedOverrides(overrides, { tool: "t", scope, at: 0 }), "p");
    expect(overrides.map((each) => flips.verdictOf(each)?.applies)).toEqual([true, undefined]);
  });
});

describe("an override that does not hold for changed params", () => {
  it("no longer lifts that denial, but still the others", () => {
    const flips = flipsOf([{ name: "o", overrides: ["p", "q"], when: "get(params, 'n') != 2" }]);
    flipAll(flips, "p", "q");
    const changed = { context: { params: { n: 2 } }, input: {}, facts: {}, system: {} };
    expect(flips.applyToChanged(denial("p"), changed, [])).toBe(false);
    expect(flips.applied).toMatchObject([{ flipped: ["q"] }]);
    expect(flips.applyToChanged(denial("q"), changed, [])).toBe(false);
    expect(flips.applied).toEqual([]);
  });
});

describe("`denial` in an override", () => {
  const applied = (override: Partial<OverridePolicy>, ...denials: readonly Denial[]): AppliedOverrides => {
    const flips = flipsOf([{ name: "o", overrides: ["p", "q"], ...override }]);
    for (const each of denials) flips.applyTo(each);
    return flips;
  };

  it("has the policy, its version, the reason and the failed conditions", () => {
    const reason =
      "{{ denial.policy }} {{ denial.version }}: {{ denial.reason }} {{ denial.failed_conditions }}";
    expect(applied({ reason }, denial("p", ["a", "b"])).applied).toMatchObject([
      { flipped: ["p"], reason: 'p 1.0.0: p says no ["a","b"]' },
    ]);
  });

  it("is that of the denial in question, in `when`, `reason` and `params`", () => {
    const when = "denial.policy == 'q' and 'late' in denial.failed_conditions";
    const flips = applied({ when }, denial("p", ["late"]), denial("q", ["late"]));
    expect(flips.applied.map(({ flipped }) => flipped)).toEqual([["q"]]);
    expect(applied({ when }, denial("q", ["early"])).applied).toEqual([]);
    const both = applied({ reason: "despite {{ denial.reason }}" }, denial("p"), denial("q"));
    expect(both.applied).toMatchObject([
      { flipped: ["p", "q"], reason: "despite p says no; despite q says no" },
    ]);
    const params = { policy: "{{ denial.policy }}" };
    const setting = applied({ action: "modify_params", params }, denial("p"), denial("q"));
    expect(setting.conflict).toBe("`o` and `o` set `policy` differently");
  });

  it("is not a path of the context", () => {
    const { reads, inputs, readsDenial } = prepareOverride({
      name: "o",
      overrides: ["p"],
      when: "denial.policy == 'p' and params.n > 1",
      reason: "{{ denial }}",
    });
    expect({ reads, inputs, readsDenial }).toEqual({
      reads: ["params.n"],
      inputs: ["denial.policy", "params.n"],
      readsDenial: true,
    });
  });

  it("cannot be forged by the caller", () => {
    const override = prepareOverride({ name: "o", overrides: ["p"], when: "denial.policy == 'q'" });
    const scope = { context: { denial: { policy: "q" } }, input: {}, facts: {}, system: {} };
    expect(override.evaluate({ tool: "t", scope, at: 0 }, denial("p"))).toMatchObject({ applies: false });
  });
});

describe("an override of another decision", () => {
  it("flips only the policies that it names there, and only for its own tools", () => {
    const place = { decision: "b", tools: ["read_*"], policies: ["q"] };
    const override = prepareOverride({ name: "o", overrides: ["p", "q"] }, place);
    const scope = { context: {}, input: {}, facts: {}, system: {} };
    const flippedFor = (tool: string): readonly string[] => {
      const flips = new AppliedOverrides([override], { tool, scope, at: 0 });
      return flipAll(flips, "p", "q").applied.flatMap(({ flipped }) => flipped);
    };
    expect(flippedFor("read_file")).toEqual(["q"]);
    expect(flippedFor("write_file")).toEqual([]);
    expect(override.evaluate({ tool: "write_file", scope, at: 0 }, denial("q"))).toMatchObject({
      leftOut: "it is not about the tool `write_file`",
    });
  });
});

describe("the params that overrides set", () => {
  it("are put together", () => {
    const flips = flipsOf([sets("a", { x: 1, o: { k: 1 } }, "p"), sets("b", { y: 2 }, "q")]);
    expect({ ...flipAll(flips, "p", "q").params }).toEqual({ x: 1, o: { k: 1 }, y: 2 });
    expect(flips.conflict).toBeUndefined();
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["the same text", { x: "1" }, { x: "1" }],
    ["the same object in another order", { x: { a: 1, b: 2 } }, { x: { b: 2, a: 1 } }],
    ["the same list", { x: [1, { a: null }] }, { x: [1, { a: null }] }],
  ])("can be set twice to %s", (_what, a, b) => {
    expect(flipAll(flipsOf([sets("a", a, "p"), sets("b", b, "q")]), "p", "q").conflict).toBeUndefined();
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["texts", { x: "1" }, { x: "2" }],
    ["types", { x: "1" }, { x: 1 }],
    ["objects, which are not merged", { x: { a: 1 } }, { x: { b: 1 } }],
    ["null and something", { x: null }, { x: false }],
  ])("are in conflict if they are set to different %s", (_what, a, b) => {
    const flips = flipAll(flipsOf([sets("a", a, "p"), sets("b", b, "q")]), "p", "q");
    expect(flips.conflict).toBe("`a` and `b` set `x` differently");
  });

  it("are in conflict with what another decision has set, and only then", () => {
    const facts = { set_params: { x: 1, y: null } };
    expect(flipAll(flipsOf([sets("a", { x: 1, y: null, z: 2 }, "p")], facts), "p").conflict).toBeUndefined();
    expect(flipAll(flipsOf([sets("a", { x: 2 }, "p")], facts), "p").conflict).toBe(
      "another decision and `a` set `x` differently",
    );
  });

  it("are told of the first conflict", () => {
    const overrides = [sets("a", { x: 1, y: 1 }, "p"), sets("b", { y: 2 }, "q"), sets("c", { x: 2 }, "r")];
    expect(flipAll(flipsOf(overrides), "p", "q", "r").conflict).toBe("`a` and `b` set `y` differently");
  });

  it("can be called what every object inherits", () => {
    const params = JSON.parse(
      '{"toString":1,"hasOwnProperty":2,"__proto__":{"polluted":true}}',
    ) as JsonObject;
    for (const facts of [{}, { set_params: { other: 1 } }]) {
      const flips = flipAll(flipsOf([sets("a", params, "p")], facts), "p");
      expect(flips.conflict).toBeUndefined();
      expect(JSON.stringify(flips.params)).toBe(JSON.stringify(params));
      expect(flips.params).not.toHaveProperty("polluted");
    }
  });
});
