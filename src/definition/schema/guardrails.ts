import { name } from "./common.js";

const names = { type: "array", minItems: 1, items: name } as const;

/** What every guardrail may have, and what only one type has. */
const guardrail = (type: string, properties: object): object => ({
  type: "object",
  required: ["type"],
  additionalProperties: false,
  properties: {
    type: { const: type },
    description: { type: "string" },
    on_fail: {
      enum: ["block", "escalate", "warn"],
      description:
        "What becomes of an answer that fails: it is blocked (the default), led elsewhere, or let pass.",
    },
    escalate_to: { ...name, description: "Where an escalated answer leads instead." },
    ...properties,
  },
});

const types = [
  guardrail("no_disabled_targets", {
    disabled_stages: {
      type: "array",
      items: name,
      description: "Targets that nothing may lead to, or globs; those disabled under `targets` count too.",
    },
  }),
  guardrail("weight_bounds", {
    min_weight: { type: "number", minimum: 0, description: "The least weight of a case." },
    max_weight: { type: "number", minimum: 0, description: "The greatest weight of a case." },
  }),
  guardrail("requires_approval", {
    workflows: { ...names, description: "The workflows it is about, or globs; all when left out." },
    targets: { ...names, description: "What needs an approval, or globs; everything when left out." },
    approval_target: { ...name, description: "Where approvals are given." },
  }),
  guardrail("distribution_drift", {
    p_value: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: 1,
      description: "Below this the split has drifted; 0.001 when left out.",
    },
    minimum: {
      type: "integer",
      minimum: 1,
      description: "Of fewer distinct inputs nothing is said; 500 when left out.",
    },
  }),
] as const;

/** Of one decision, or of all. */
export const guardrails = {
  type: "array",
  items: {
    type: "object",
    required: ["type"],
    discriminator: { propertyName: "type" },
    oneOf: types,
  },
  description: "What must hold for an answer to be acted on.",
} as const;
