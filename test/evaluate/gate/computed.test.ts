import { describe, expect, it } from "vitest";
import { answerOf, ask, gateOf, rule, system } from "./gates.js";
import type { JsonObject } from "../../../src/model/json.js";

const errored = (computed: Readonly<Record<string, string>>, context: JsonObject = {}) =>
  answerOf(gateOf([rule("never", { when: "false" })], { computed }), context).decision_metadata
    .errored_predicates;

/** Returns the value of an expression over computed values, from a reason. */
function valueOf(
  computed: Readonly<Record<string, string>>,
  expression: string,
  context: JsonObject,
): string | undefined {
  const reporting = rule("reporting", { when: "true", reason: `{{ ${expression} }}` });
  return ask(gateOf([reporting], { computed, input: "n" }), context).because.at(-1);
}

describe("a computed value", () => {
  it.each<[string, Readonly<Record<string, string>>, string, string]>([
    ["the context", { a: "n + 1" }, "a", "6"],
    ["the input", { a: "input * 2" }, "a", "10"],
    ["what we know of the request", { a: "system.request_id" }, "a", system.request_id],
    ["those above it", { b: "n + 1", a: "b * 2" }, "a", "12"],
    ["text around expressions", { a: "n is {{ n }}" }, "a", "n is 5"],
    ["parts of one above it", { b: "[n, 7]", a: "b.1" }, "a", "7"],
  ])("sees %s", (_what, computed, expression, expected) => {
    expect(valueOf(computed, expression, { n: 5 })).toBe(expected);
  });

  it("is the same whatever the order of the file, as the definition's hash is", () => {
    const computed = { z: "n", m: "z + 1", a: "m + 1" };
    const sorted = { a: "m + 1", m: "z + 1", z: "n" };
    expect([valueOf(computed, "a", { n: 1 }), valueOf(sorted, "a", { n: 1 })]).toEqual(["3", "3"]);
    expect(errored(computed)).toEqual(errored(sorted));
  });

  it("wins over a key of the context", () => {
    expect(valueOf({ a: "n + 1" }, "a", { n: 5, a: 99 })).toBe("6");
  });

  it("that is errored is missing to those that read it, also if the context has such a key", () => {
    expect(errored({ a: "n > 1", b: "not a" }, { a: true })).toEqual([
      { source: "computed", name: "a", expression: "n > 1", error: "`n` is missing" },
      { source: "computed", name: "b", expression: "not a", error: "computed value `a`: `n` is missing" },
    ]);
  });

  it.each([
    { name: "a rule", gate: gateOf([rule("r", { when: "a.b" })], { computed: { a: "n" } }) },
    {
      name: "whether a rule applies",
      gate: gateOf([rule("r", { applies_when: "a" })], { computed: { a: "n" } }),
    },
    {
      name: "a rule, through another one",
      gate: gateOf([rule("r", { when: "z" })], { computed: { z: "not a", a: "n" } }),
      error: "computed value `z`: computed value `a`: `n` is missing",
    },
    {
      name: "an output",
      gate: gateOf([rule("r", { when: "true", output: "{{ a }}" })], { computed: { a: "n" } }),
    },
  ])(
    "that is errored is the reason why $name is",
    ({ gate, error = "computed value `a`: `n` is missing" }) => {
      const { errored_predicates, predicate_traces } = answerOf(gate, {}).decision_metadata;
      const last = errored_predicates.at(-1);
      expect(last).toMatchObject({ name: "r", error });
      if (last?.source !== "output") {
        expect(predicate_traces).toMatchObject([{ rule: "r", error }]);
        expect(ask(gate, {}).evaluation_details).toMatchObject({ r: { error } });
      }
    },
  );

  it("cannot be read by the input, even if the context has such a key", () => {
    const gate = gateOf([rule("always", { when: "true", status: "GREEN" })], {
      computed: { a: "1" },
      input: "a",
    });
    expect(answerOf(gate, { a: 5 })).toMatchObject({
      status: "YELLOW",
      decision_metadata: { errored_predicates: [{ source: "input", error: "`a` is missing" }] },
    });
  });

  it("that reads in a circle, which validation rejects, is errored", () => {
    expect(errored({ a: "b", b: "a" }, { a: true, b: true })).toHaveLength(2);
  });
});
