import { describe, expect, it } from "vitest";
import { uniqueFetches } from "../../src/definition/fetches.js";
import { foreignOverridesOf } from "../../src/definition/loaded-definition.js";
import { suggestPolicyChange } from "../../src/definition/policy-change.js";
import { prepareLoaded } from "../../src/evaluate/prepare-lazily.js";
import type { PolicyDefinition } from "../../src/model/definition.js";
import type { BacktestReport } from "../../src/replay/backtest.js";
import { backtestLog } from "../../src/replay/backtest.js";
import type { OverridePattern } from "../../src/replay/override-patterns.js";
import { findOverridePatterns } from "../../src/replay/override-patterns.js";
import { readYaml } from "../../src/definition/yaml-source.js";
import type { Deciding } from "../decide/deciding.js";
import { deciding } from "../decide/deciding.js";

const refunds = {
  decision: {
    id: "refunds",
    type: "policy",
    tool: "refund",
    policies: [
      {
        name: "small_refunds",
        version: "1.0.0",
        conditions: [
          { name: "small", expression: "params.amount <= 100" },
          { name: "recent", expression: "params.days <= 30" },
        ],
      },
      { name: "known_reason", conditions: [{ name: "known", expression: "exists(params.reason)" }] },
      { name: "gold", version: "1.0.0", overrides: ["small_refunds"], when: "params.tier == 'gold'" },
      { name: "goodwill", overrides: ["known_reason"], when: "params.amount < 5" },
    ],
  },
};

const calls = [
  { amount: 20, days: 3, tier: "gold", reason: "late" },
  { amount: 500, days: 3, tier: "gold", reason: "late" },
  { amount: 500, days: 90, tier: "gold", reason: "broken" },
  { amount: 50, days: 90, tier: "gold", reason: "broken" },
  { amount: 500, days: 3, tier: "silver", reason: "late" },
  { amount: 500, days: 3, reason: "late" },
  { amount: 500, days: 3, tier: "gold" },
  { amount: 2, days: 90, tier: "gold" },
  { amount: 2, days: 3, tier: "silver" },
];

/** Tests the change that makes the override of a pattern unnecessary with the calls that it was found in. */
async function backtestChange(place: Deciding, pattern: OverridePattern): Promise<BacktestReport> {
  const current = await place.world.definitions.find(pattern.decision_id);
  const change = await suggestPolicyChange(pattern.policy, {
    definition: current.definition as PolicyDefinition,
    foreign: foreignOverridesOf(current),
    others: [],
    text: JSON.stringify(refunds),
    override: pattern.override,
    declaredIn: pattern.override_decision_id,
    countErrors: () => pattern.errors,
  });
  if ("reason" in change) throw new Error(change.reason);
  const changed = place.redefine(...readYaml(change.document).documents.map(({ value }) => value as object));
  const loaded = await changed.world.definitions.find(pattern.decision_id);
  const fetches = uniqueFetches(loaded.definition);
  const ready = { loaded, prepared: await prepareLoaded(loaded), fetches };
  return backtestLog(ready, place.world.records.store, { decision_id: "refunds", kind: "decision" });
}

/** "Policy learning: surface common exception patterns for policy updates", a future extension of spec 2. */
describe("policy learning", () => {
  it("finds the overrides that are used often, and the policy update that makes them unnecessary", async () => {
    const place = deciding(refunds);
    for (const params of calls) await place.check("refund", params);
    const { patterns } = await findOverridePatterns(place.world.records.store, {});
    const [gold, goodwill, ...others] = patterns;
    if (gold === undefined || goodwill === undefined) throw new Error("there are two patterns");
    expect(others).toEqual([]);
    expect(gold).toMatchObject({ override: "gold", policy: "small_refunds", flips: 4, denials: 7 });
    expect(gold.inputs).toMatchObject([{ path: "params.tier", values: [{ value: "gold", count: 4 }] }]);
    expect(goodwill).toMatchObject({ override: "goodwill", policy: "known_reason", flips: 2, denials: 3 });

    // One of the four calls is also allowed by the other override.
    expect(await backtestChange(place, gold)).toMatchObject({
      total: calls.length,
      not_replayable: 0,
      transitions: [{ from: "allowed_by_exception", to: "allowed", count: 3 }],
    });
    expect(await backtestChange(place, goodwill)).toMatchObject({
      not_replayable: 0,
      transitions: [{ from: "allowed_by_exception", to: "allowed", count: 1 }],
    });
  });
});
