import { describe, expect, it } from "vitest";
import type { Denial } from "../../../src/evaluate/policy/base-policy.js";
import type { OverrideVerdict } from "../../../src/evaluate/policy/override-policy.js";
import { prepareOverride } from "../../../src/evaluate/policy/override-policy.js";
import type { OverridePolicy } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";

const noon = Date.parse("2026-03-02T12:00:00Z");

interface Asked {
  readonly context?: JsonObject;
  readonly facts?: JsonObject;
  readonly at?: number | undefined;
}

function ask(policy: Partial<OverridePolicy>, asked: Asked = {}): OverrideVerdict {
  const { context = {}, facts = {} } = asked;
  const at = "at" in asked ? asked.at : noon;
  const scope = { context, input: context, facts, system: {} };
  const prepared = prepareOverride({ name: "o", overrides: ["p"], ...policy });
  return prepared.evaluate({ tool: "t", scope, at }, denial);
}

const denial: Denial = {
  allows: false,
  identity: { name: "p", version: "1.0.0", hash: "" },
  reason: "no",
  conditions: [],
  lineage: [],
  counted: [],
};

describe("an override", () => {
  it("applies always if it says no more, by allowing", () => {
    expect(ask({})).toEqual({ applies: true, reason: "overridden by `o`", params: {} });
    expect(prepareOverride({ name: "o", overrides: ["p"] }).action).toBe("allow");
  });

  it("applies with its rationale and the params it sets, filled in", () => {
    const policy = {
      when: "n > 1",
      action: "modify_params" as const,
      reason: "n is {{ n }}",
      params: { n: "{{ n }}", fixed: true },
    };
    expect(ask(policy, { context: { n: 2 } })).toEqual({
      applies: true,
      reason: "n is 2",
      params: { n: 2, fixed: true },
    });
    expect(prepareOverride({ name: "o", overrides: ["p"], ...policy }).action).toBe("modify_params");
  });

  it.each<[string, Partial<OverridePolicy>, Asked, string]>([
    ["before it is in effect", { effective_from: "2026-04-01" }, {}, "not in effect before 2026-04-01"],
    ["once it has expired", { expires_at: "2026-03-02T12:00:00Z" }, {}, "expired on 2026-03-02T12:00:00Z"],
    [
      "where the time is not known",
      { expires_at: "2030-01-01" },
      { at: undefined },
      "the time of the request is unknown",
    ],
    [
      "once it is used up",
      { max_applications: 2 },
      { facts: { uses: { o: 2 } } },
      "used up: 2 of 2 applications",
    ],
    ["where its uses cannot be counted", { max_applications: 2 }, {}, "its uses cannot be counted here"],
    [
      "where its condition does not hold",
      { when: "n > 1" },
      { context: { n: 1 } },
      "its condition does not hold",
    ],
  ])("does not apply %s", (_when, policy, asked, leftOut) => {
    expect(ask(policy, asked)).toMatchObject({ applies: false, leftOut });
    expect(ask(policy, asked)).not.toHaveProperty("error");
  });

  it.each<[string, Partial<OverridePolicy>, string]>([
    ["its condition cannot be evaluated", { when: "n > 1" }, "`n` is missing"],
    [
      "its condition is neither true nor false",
      { when: "'yes'" },
      "a condition must be true or false, this one is text",
    ],
    [
      "what it sets cannot be filled in",
      { action: "modify_params", params: { a: { b: ["{{ n }}"] } } },
      "`n` is missing",
    ],
  ])("does not apply if %s, and keeps the error", (_what, policy, error) => {
    const leftOut = `it could not be evaluated: ${error}`;
    expect(ask(policy)).toMatchObject({ applies: false, leftOut, error });
  });

  it("applies until the last use, however many there can be", () => {
    expect(ask({ max_applications: 2 }, { facts: { uses: { o: 1 } } })).toMatchObject({ applies: true });
    expect(ask({}, { facts: { uses: { o: 1000 } } })).toMatchObject({ applies: true });
  });

  it("does not ask its condition if its window is closed", () => {
    expect(ask({ expires_at: "2020-01-01", when: "n > 1" })).not.toHaveProperty("error");
  });

  it("applies with nothing in place of what of its rationale cannot be filled in", () => {
    expect(ask({ reason: "for {{ nobody }}" })).toMatchObject({
      applies: true,
      reason: "for (`nobody` is missing)",
    });
  });

  it("reads what its condition, its rationale and its params read", () => {
    const policy = { when: "a.b", reason: "{{ c }}", params: { d: "{{ e }}" } };
    const prepared = prepareOverride({ name: "o", overrides: ["p"], ...policy });
    expect([prepared.reads, prepared.inputs]).toEqual([["a.b", "c", "e"], ["a.b"]]);
    expect(prepareOverride({ name: "o", overrides: ["p"] })).toMatchObject({ reads: [], inputs: [] });
  });
});
