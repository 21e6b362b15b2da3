import { describe, expect, it } from "vitest";
import { rationaleOf } from "../../src/lineage/rationale.js";
import type { DecisionRecord } from "../../src/model/record.js";
import { deciding } from "../decide/deciding.js";

/** A recorded decision with these fields instead of its own. */
async function recorded(decision: object, fields: object = {}): Promise<DecisionRecord> {
  const place = deciding({ decision: { id: "d", ...decision } });
  await place.decide("d", { n: 1 });
  return { ...(await place.newest()), ...fields };
}

const routed = { type: "binary", cases: [{ condition: "n > 0", target: "up" }], default: { target: "down" } };

const blockedBy = (check_name: string, message: string): object => ({
  blocked: true,
  guardrails: [
    { check_name, passed: false, message, on_fail: "block" },
    { check_name: "weight_bounds", passed: false, message: "a warning", on_fail: "warn" },
  ],
});

describe("the rationale of a decision", () => {
  it("that a guardrail blocked is the guardrail, without what it measured", async () => {
    const drifted = await recorded(routed, blockedBy("distribution_drift", "e-value 1234.5"));
    expect(rationaleOf(drifted)).toEqual({ basis: ["distribution_drift"], reasons: ["e-value 1234.5"] });
    const disabled = await recorded(routed, blockedBy("no_disabled_targets", "Target 'up' is disabled"));
    expect(rationaleOf(disabled).basis).toEqual(["Target 'up' is disabled"]);
  });

  it("that votes made has the conditions of rules, and evaluators without rules by name", async () => {
    const scored = await recorded({
      type: "scored",
      evaluators: [
        { name: "rules", rules: [{ id: "r", when: "n > 0", then: { decision: "yes", reason: "any" } }] },
        { name: "fixed", static: { decision: "yes", weight: 0.5, reason: "as always" } },
        { name: "other", static: { decision: "no", weight: 0.1, reason: "as never" } },
      ],
    });
    expect(scored.because).toContain("as always");
    expect(rationaleOf(scored).basis).toEqual(["n > 0", "fixed"]);
  });

  it("can be told of a damaged record", async () => {
    const gate = await recorded(
      {
        type: "gate",
        action: { org: "o", domain: "d", name: "act" },
        rules: [{ id: "g", tier: "T3", severity: 1, when: "n > 0", status: "GREEN" }],
      },
      { because: ["said"] },
    );
    expect(rationaleOf(gate)).toEqual({ basis: ["g: n > 0"], reasons: ["said"] });
    const damaged = { ...gate, decision_metadata: 1, guardrails: [1] } as unknown as DecisionRecord;
    expect(rationaleOf(damaged)).toEqual({ basis: [], reasons: ["said"] });
  });
});
