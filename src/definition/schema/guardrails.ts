import type { Guardrail } from "../../model/definition.js";
import { name } from "./common.js";

const names = { type: "array", minItems: 1, items: name } as const;

/** Returns the schema of one guardrail type, with its own properties in addition to the common ones. */
const guardrail = ([type, properties]: readonly [string, object]): object => ({
  type: "object",
  required: ["type"],
  additionalProperties: false,
  properties: {
    type: { const: type },
    description: { type: "string" },
    ...properties,
    on_fail: {
      enum: ["block", "escalate", "warn"],
      description:
        "What happens to an answer that fails the check: it is blocked (the default), sent to another target, or passed with a warning.",
    },
    escalate_to: { ...name, description: "The target of an escalated answer." },
  },
});

/** The properties of each type; a record, so that the compiler finds a type that is missing. */
const propertiesByType: Readonly<Record<Guardrail["type"], object>> = {
  no_disabled_targets: {
    disabled_stages: {
      type: "array",
      items: name,
      description:
        "Targets, or globs, that no answer may lead to, in addition to those disabled under `targets`.",
    },
  },
  weight_bounds: {
    min_weight: { type: "number", minimum: 0, description: "The smallest allowed weight of a case." },
    max_weight: { type: "number", minimum: 0, description: "The largest allowed weight of a case." },
  },
  requires_approval: {
    workflows: {
      ...names,
      description: "The workflows, or globs, that the guardrail applies to. Default: all.",
    },
    targets: { ...names, description: "The targets, or globs, that require an approval. Default: all." },
    approval_target: { ...name, description: "The target where approvals are given." },
  },
  distribution_drift: {
    p_value: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: 1,
      description:
        "The share of correct splits that may ever count as drifted: the bound of the e-value is 1 / p_value. Default: 0.001.",
    },
    minimum: {
      type: "integer",
      minimum: 1,
      description: "The number of distinct inputs below which nothing is checked. Default: 500.",
    },
  },
};

/** The guardrails of one decision, or of all. */
export const guardrails = {
  type: "array",
  items: {
    type: "object",
    required: ["type"],
    discriminator: { propertyName: "type" },
    oneOf: Object.entries(propertiesByType).map(guardrail),
  },
  description: "Checks that an answer must pass before it is used.",
} as const;
