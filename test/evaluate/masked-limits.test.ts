import { expect, it } from "vitest";
import { prepareLazily } from "../../src/evaluate/prepare-lazily.js";
import { prepare } from "../../src/evaluate/prepare.js";
import type { GateDefinition, PolicyDefinition } from "../../src/model/definition.js";

const max_sum = { of: "params.amount", most: 10, per: "session" } as const;
const policy: PolicyDefinition = {
  id: "p",
  type: "policy",
  tool: "pay",
  policies: [{ name: "spending", max_sum }],
};
const gate: GateDefinition = {
  id: "g",
  type: "gate",
  action: { org: "acme", domain: "payments", name: "pay" },
  rules: [{ id: "routine", tier: "T3", severity: 10, when: "true", status: "GREEN" }],
  max_sum,
};
const scope = {
  context: { tool: "pay", params: { amount: 1 } },
  facts: { sums: { spending: 0, g: 0 } },
  system: {},
  input: undefined,
};
const masks = ["/params/amount"];

it.each([policy, gate])(
  "a $type does not count an amount that masks of all definitions hide",
  async (definition) => {
    for (const prepared of [prepare(definition, masks), await prepareLazily(definition, masks)]) {
      expect(JSON.stringify(prepared.evaluate(scope))).toContain(
        "`params.amount` is masked and cannot be counted",
      );
    }
  },
);
