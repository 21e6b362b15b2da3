import type { EvaluatedWithErrors } from "../../../src/evaluate/evaluate.js";
import { prepareGate } from "../../../src/evaluate/gate/gate.js";
import { compileInput } from "../../../src/expression/template.js";
import type { GateDefinition, GateRule } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";
import type { GateOutcome } from "../../../src/model/result.js";
import type { Scope } from "../../../src/model/scope.js";

export const system = { request_id: "request-1", request_time: "2026-03-02T12:00:00.000000Z" };

export function gateOf(
  rules: readonly GateRule[],
  extra: Partial<Omit<GateDefinition, "type" | "rules">> = {},
): GateDefinition {
  const action = { org: "acme", domain: "payments", name: "wire.approve" };
  return { id: "gate-under-test", type: "gate", action, ...extra, rules };
}

/** A rule that matches if the key of the context with its name is true. */
export function rule(id: string, extra: Partial<GateRule> = {}): GateRule {
  return { id, tier: "T2", severity: 10, when: id, status: "YELLOW", ...extra };
}

export const scopeOf = (context: JsonObject, facts: JsonObject = {}): Scope => ({
  context,
  input: undefined,
  facts,
  system,
});

export function ask(
  definition: GateDefinition,
  context: JsonObject = {},
  facts: JsonObject = {},
): EvaluatedWithErrors {
  const input = definition.input === undefined ? undefined : compileInput(definition.input);
  return prepareGate(definition, input).evaluate(scopeOf(context, facts));
}

export function outcomeOf({ outcome }: EvaluatedWithErrors): GateOutcome {
  if (outcome?.type !== "gate") throw new Error("the answer is not that of a gate");
  return outcome;
}

export const answerOf = (definition: GateDefinition, context: JsonObject = {}): GateOutcome =>
  outcomeOf(ask(definition, context));

export const readsOf = (definition: GateDefinition): readonly string[] =>
  prepareGate(definition, definition.input === undefined ? undefined : compileInput(definition.input)).reads;

/** DESIGN §3. */
export const wireTransfer = gateOf(
  [
    {
      id: "sanctioned-payee",
      tier: "T1",
      severity: 100,
      applies_when: "exists(payee.country)",
      when: "payee.country in ('XX', 'YY')",
      status: "RED",
      reason: "Payee country is sanctioned",
      work_frame: { next_human_owner: "compliance", forbidden_actions: ["wire.approve"] },
    },
    {
      id: "large-needs-review",
      tier: "T2",
      severity: 50,
      when: "is_large",
      status: "YELLOW",
      suppresses: ["routine"],
      work_frame: { next_action: "prepare_review_packet", missing_evidence: ["second_approval"] },
    },
    { id: "routine", tier: "T3", severity: 10, when: "true", status: "GREEN" },
  ],
  {
    id: "approve-wire-transfer",
    context_schema: {
      type: "object",
      required: ["amount", "payee"],
      properties: { amount: { type: "number", minimum: 0 }, payee: { type: "object" } },
    },
    computed: { is_large: "amount > 10000" },
    aggregation: "winner_takes_all",
  },
);
