import { describe, expect, it } from "vitest";
import { evaluateRule, prepareRule } from "../../../src/evaluate/gate/gate-rule.js";
import type { GateRule } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";
import { rule, scopeOf } from "./gates.js";

const isMasked = (): boolean => false;

const judged = (written: GateRule, context: JsonObject) =>
  evaluateRule(prepareRule(written, isMasked), scopeOf(context));

const trace = { rule: "hot", tier: "T2", severity: 10, status: "YELLOW", when: "hot" };

describe("a rule", () => {
  it.each([true, false])("matches if its condition is true: %s", (hot) => {
    expect(judged(rule("hot"), { hot })).toEqual({
      matched: hot,
      trace: { ...trace, result: hot },
      detail: { condition: "hot", result: hot },
      errored: undefined,
    });
  });

  it.each([true, false])("that applies matches if its condition is true: %s", (hot) => {
    expect(judged(rule("hot", { applies_when: "here" }), { hot, here: true })).toMatchObject({
      matched: hot,
      trace: { ...trace, applies: true, result: hot },
    });
  });

  it("that does not apply does not match, and its condition is not evaluated", () => {
    expect(judged(rule("hot", { applies_when: "exists(hot)" }), {})).toEqual({
      matched: false,
      trace: { ...trace, applies: false, result: false },
      detail: { condition: "hot", result: false },
      errored: undefined,
    });
  });

  it.each<[string, JsonObject, string]>([
    ["a missing path", {}, "`hot` is missing"],
    ["a text", { hot: "true" }, "a condition must be true or false, this one is text"],
    ["a number", { hot: 1 }, "a condition must be true or false, this one is a number"],
  ])("whose condition is errored does not match: %s", (_what, context, error) => {
    expect(judged(rule("hot"), context)).toEqual({
      matched: false,
      trace: { ...trace, result: false, error },
      detail: { condition: "hot", result: false, error },
      errored: { source: "when", name: "hot", expression: "hot", error },
    });
  });

  it("whose `applies_when` is errored does not match", () => {
    const error = "`here` is missing";
    expect(judged(rule("hot", { applies_when: "here" }), { hot: true })).toEqual({
      matched: false,
      trace: { ...trace, applies: false, result: false, error },
      detail: { condition: "hot", result: false, error },
      errored: { source: "applies_when", name: "hot", expression: "here", error },
    });
  });

  it("shares its answers among evaluations, frozen", () => {
    const prepared = prepareRule(rule("hot", { work_frame: { allowed_actions: ["a"] } }), isMasked);
    const [first, second] = [1, 2].map(() => evaluateRule(prepared, scopeOf({ hot: true })));
    expect(second).toBe(first);
    const parts = [first, first?.trace, first?.detail, prepared.frame, prepared.frame.allowed_actions];
    expect(parts.every(Object.isFrozen)).toBe(true);
  });
});
