import { describe, expect, it } from "vitest";
import type { GateDefinition } from "../../../src/model/definition.js";
import { ask, gateOf, outcomeOf, readsOf, rule } from "./gates.js";

const go = rule("go", {
  when: "true",
  status: "GREEN",
  work_frame: { next_action: "pay", allowed_actions: ["pay"], next_human_owner: "treasury" },
});
const max_calls = { count: 2, per: "caller", window: "1h" };
const max_sum = { of: "amount", most: 100, per: "org", window: "1d" } as const;
const limited = (extra: Partial<GateDefinition> = {}): GateDefinition =>
  gateOf([go, rule("review", { severity: 20 }), rule("skip", { severity: 30, status: "GREEN-SKIP" })], {
    max_calls,
    max_sum,
    ...extra,
  });
const context = { amount: 40, review: false, skip: false };
const factsOf = (calls: number, sums: number): { calls: object; sums: object } & Record<string, never> =>
  ({ calls: { "gate-under-test": calls }, sums: { "gate-under-test": sums } }) as never;

describe("the limits of a gate", () => {
  it("leave a GREEN answer as it is while they are not used up", () => {
    const answer = ask(limited(), context, factsOf(1, 60));
    expect(answer).toMatchObject({ selected_labels: ["GREEN"], because: ["true"], warnings: [] });
    expect(outcomeOf(answer)).toMatchObject({
      status: "GREEN",
      work_frame: { mode: "execute", next_action: "pay" },
      decision_metadata: {
        limits: [
          { name: "max_calls", expression: "fewer than 2 calls by the caller in the last 1h", result: true },
          {
            name: "max_sum",
            expression: "`amount` adds up to at most 100 by the organisation in the last 1d",
            result: true,
          },
        ],
      },
      counted: [
        { name: "max_calls", owner: "gate-under-test", limited: true },
        { name: "max_sum", owner: "gate-under-test", limited: true, amount: 40_000_000 },
      ],
    });
  });

  it("make GREEN RED once they are used up, and grant nothing", () => {
    const answer = ask(limited(), context, factsOf(2, 61));
    expect(answer).toMatchObject({
      selected_labels: ["RED"],
      because: [
        "2 of 2 calls were made by the caller in the last 1h",
        "`amount` of 40 is too much: 61 of 100 are used by the organisation in the last 1d",
      ],
      warnings: [],
      errors: [],
    });
    expect(answer.failed_conditions.slice(-2)).toEqual([
      "fewer than 2 calls by the caller in the last 1h",
      "`amount` adds up to at most 100 by the organisation in the last 1d",
    ]);
    expect(outcomeOf(answer)).toMatchObject({
      status: "RED",
      work_frame: { mode: "stop", next_action: null, allowed_actions: [], next_human_owner: "treasury" },
      decision_metadata: {
        limits: [{ result: false }, { result: false }],
        aggregation: {
          raised: {
            from: "GREEN",
            to: "RED",
            reason:
              "2 of 2 calls were made by the caller in the last 1h; `amount` of 40 is too much: 61 of 100 are used by the organisation in the last 1d",
          },
        },
      },
    });
  });

  it("make GREEN RED where they cannot be counted, with a warning", () => {
    const answer = ask(limited(), { ...context, amount: "40" }, {});
    expect(answer.selected_labels).toEqual(["RED"]);
    expect(answer.errors).toEqual([
      "`max_calls` could not be evaluated: there is no recorded caller: only servers with authentication know callers",
      "`max_sum` could not be evaluated: `amount` must be a number of at least 0",
    ]);
    expect(answer.warnings).toEqual(answer.errors);
  });

  it.each(["review", "skip"])("are neither tested nor counted where the answer is not GREEN: %s", (key) => {
    const answer = ask(limited(), { ...context, [key]: true }, factsOf(2, 100));
    expect(answer.selected_labels).not.toContain("RED");
    expect(outcomeOf(answer).decision_metadata).not.toHaveProperty("limits");
    expect(outcomeOf(answer)).toMatchObject({ counted: [] });
  });

  it("are not tested where something could not be evaluated, so the gate is YELLOW", () => {
    const answer = ask(limited(), { amount: 40 }, factsOf(2, 100));
    expect(outcomeOf(answer)).toMatchObject({ status: "YELLOW", counted: [] });
  });

  it("can add up a computed value", () => {
    const gate = limited({ computed: { total: "amount * 2" }, max_sum: { ...max_sum, of: "total" } });
    expect(outcomeOf(ask(gate, context, factsOf(0, 20)))).toMatchObject({ status: "GREEN" });
    expect(outcomeOf(ask(gate, context, factsOf(0, 21)))).toMatchObject({ status: "RED" });
  });

  it("do not add up a value that is computed from a masked one", () => {
    const computed = { price: "amount * 2", total: "price + 1" };
    const gate = limited({
      computed,
      max_sum: { ...max_sum, of: "total" },
      logging: { mask: ["/amount"] },
    });
    expect(ask(gate, context, factsOf(0, 0)).because[0]).toBe("`total` is masked and cannot be counted");
  });

  it("are among what the gate reads, and a gate without limits reads no facts", () => {
    expect(readsOf(limited({ input: "skip" }))).toEqual(expect.arrayContaining(["amount", "facts"]));
    expect(readsOf(gateOf([go], { input: "skip" }))).toEqual(["skip"]);
  });
});
