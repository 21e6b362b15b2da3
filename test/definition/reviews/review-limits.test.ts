import { describe, expect, it } from "vitest";
import type { LocatedDefinition } from "../../../src/definition/read-definitions.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { reviewDefinition } from "../../../src/definition/reviews/review-definition.js";

function warningsOf(decision: object): readonly string[] {
  const located: LocatedDefinition[] = [];
  const text = Buffer.from(JSON.stringify({ decision }));
  expect(readDefinitions("f.yaml", text, (each) => located.push(each)).summary.diagnostics).toEqual([]);
  return located
    .flatMap(reviewDefinition)
    .filter(({ severity }) => severity === "warning")
    .map(({ message }) => message);
}

const policy = (limits: object, more: object = {}): object => ({
  id: "p",
  type: "policy",
  tool: "pay",
  policies: [{ name: "few", version: "1.0.0", ...limits }],
  ...more,
});

const gate = (limits: object, more: object = {}): object => ({
  id: "g",
  type: "gate",
  action: { org: "acme", domain: "payments", name: "wire" },
  rules: [{ id: "go", tier: "T3", severity: 1, when: "true", status: "GREEN" }],
  ...limits,
  ...more,
});

const max_calls = { count: 1, per: "caller", window: "1h" };
const max_sum = { of: "params.amount", most: 5, per: "org" };

describe("a review of policies", () => {
  const override = { name: "o", version: "1.0.0", overrides: ["few"], when: "params.n > 1" };

  it("finds nothing wrong with a decision that has only overrides of others", () => {
    expect(warningsOf({ id: "o", type: "policy", tool: "pay", policies: [override] })).toEqual([]);
    expect(warningsOf({ id: "o", type: "policy", tool: "pay", policies: [] })).toEqual([
      "no policy can deny, so every call is allowed",
    ]);
  });

  it.each([
    ["a condition", { conditions: [{ name: "c", expression: "denial.policy == 'p'" }] }],
    ["a reason", { max_calls: { count: 1, per: "session" }, deny_reason: "{{ denial }}" }],
  ])("says where the denial is known if %s reads it", (_where, part) => {
    const located: LocatedDefinition[] = [];
    const text = Buffer.from(JSON.stringify({ decision: policy(part) }));
    readDefinitions("f.yaml", text, (each) => located.push(each));
    expect(located.flatMap(reviewDefinition).map(({ message }) => message)).toContain(
      "`few` reads `denial` from the context; the denial itself is known in overrides only",
    );
  });
});

describe("a review of limits", () => {
  it.each([policy({ max_calls }), policy({ max_sum }), gate({ max_calls, max_sum })])(
    "finds nothing wrong with %j",
    (decision) => {
      expect(warningsOf(decision)).toEqual([]);
    },
  );

  it.each([policy, gate])("warns of a masked amount", (decision) => {
    expect(warningsOf(decision({ max_sum }, { logging: { mask: ["/params"] } }))).toEqual([
      "the amount is masked, so it cannot be counted and always denies",
    ]);
  });

  it("warns where nothing is recorded", () => {
    const logging = { log_decision: false };
    for (const limits of [{ max_calls }, { max_sum }]) {
      expect(warningsOf(policy(limits, { logging }))).toEqual([
        "without records nothing can be counted: overrides with `max_applications` never apply, and `max_calls` and `max_sum` deny",
      ]);
      expect(warningsOf(gate(limits, { logging }))).toEqual([
        "without records nothing can be counted, so the limits make every GREEN answer RED",
      ]);
    }
    expect(warningsOf(gate({}, { logging }))).toEqual([]);
  });
});
