import { evaluate } from "../../src/evaluate/evaluate.js";
import { prepare } from "../../src/evaluate/prepare.js";
import type { Guarded } from "../../src/guard/guard.js";
import { guard } from "../../src/guard/guard.js";
import type {
  Definition,
  GateDefinition,
  LoadedDefinition,
  PolicyDefinition,
  RuleTableDefinition,
  ScoredDefinition,
  WeightedDefinition,
  Guardrail,
} from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";

export interface GuardOptions {
  readonly context?: JsonObject;
  readonly workflow?: string;
  readonly facts?: JsonObject;
  /** As it was loaded, valid or not. */
  readonly environment?: unknown;
}

const system = { request_time: "2026-03-02T12:00:00.000000Z", request_id: "request-1" };

/** Evaluates a definition, then runs its guardrails. */
export function guardedAs(definition: Definition, options: GuardOptions = {}): Guarded {
  const { context = {}, workflow, facts = {}, environment = { targets: [] } } = options;
  const evaluated = evaluate(prepare(definition), { context, input: undefined, facts: {}, system });
  return guard(loadedAs(definition, environment), evaluated, { context, workflow, facts });
}

export const loadedAs = (definition: Definition, environment: unknown = {}): LoadedDefinition => ({
  definition,
  definition_hash: "d".repeat(64),
  environment: environment as JsonObject,
  environment_hash: "e".repeat(64),
  file: "decisions/under-test.yaml",
  line: 1,
});

type Guardrails = readonly Guardrail[];

/** A table that selects all of these targets at once. */
export const leadingTo = (targets: readonly string[], guardrails?: Guardrails): RuleTableDefinition => ({
  id: "route",
  type: "rule_table",
  hit_policy: "collect",
  rules: targets.map((target) => ({ condition: "true", target, label: `to ${target}` })),
  default: { target: "stage-default" },
  ...(guardrails && { guardrails }),
});

export const split = (
  weights: Readonly<Record<string, number | undefined>>,
  guardrails?: Guardrails,
): WeightedDefinition => ({
  id: "split",
  type: "weighted",
  input: "{{ id }}",
  cases: Object.entries(weights).map(([label, weight]) => ({
    target: `stage-${label}`,
    label,
    ...(weight !== undefined && { weight }),
  })),
  default: { target: "stage-default" },
  ...(guardrails && { guardrails }),
});

export const voted = (guardrails: Guardrails): ScoredDefinition => ({
  id: "vote",
  type: "scored",
  evaluators: [{ name: "house", static: { decision: "approve", weight: 0.9, reason: "House rule" } }],
  targets: { approve: "stage-approve" },
  guardrails,
});

/** A policy that denies, and an override that allows and changes the params. */
export const excepted = (guardrails: Guardrails): PolicyDefinition => ({
  id: "calls",
  type: "policy",
  tool: "pay",
  policies: [
    { name: "never", conditions: [{ name: "no", expression: "false" }], deny_reason: "never" },
    {
      name: "but",
      overrides: ["never"],
      action: "modify_params",
      params: { amount: 1 },
      reason: "a small one",
    },
  ],
  guardrails,
});

export const gateOf = (
  status: "GREEN" | "GREEN-SKIP" | "YELLOW",
  guardrails: Guardrails,
): GateDefinition => ({
  id: "wire",
  type: "gate",
  action: { org: "acme", domain: "payments", name: "wire.approve" },
  rules: [
    {
      id: "routine",
      tier: "T3",
      severity: 10,
      when: "true",
      status,
      reason: "routine",
      work_frame: {
        next_action: "pay",
        allowed_actions: ["wire.approve"],
        forbidden_actions: ["wire.cancel"],
        required_output: ["receipt"],
        missing_evidence: ["invoice"],
        next_human_owner: "treasury",
      },
    },
  ],
  guardrails,
});
