import { condition, decisionSchema, limits, name, output, text } from "./common.js";

/** A part of a gate key: ORG/DOMAIN/ACTION@VERSION. */
const keyPart = { type: "string", pattern: "^[^\\s/@\\u0000-\\u001f\\u007f-\\u009f]{1,128}$" } as const;
const names = { type: "array", items: name } as const;

const rule = {
  type: "object",
  required: ["id", "tier", "severity", "when", "status"],
  additionalProperties: false,
  properties: {
    id: { ...name, description: "The id of the rule, unique in the gate." },
    tier: { enum: ["T1", "T2", "T3"], description: "T1 rules win over all others and cannot be suppressed." },
    severity: { type: "number", description: "The matching rule with the highest severity decides." },
    applies_when: {
      ...condition,
      minLength: 1,
      description: "Whether the rule is evaluated at all. Default: always.",
    },
    when: { ...condition, minLength: 1 },
    status: { enum: ["GREEN", "GREEN-SKIP", "YELLOW", "RED"] },
    reason: { ...text, description: "The reason, for people. {{ … }} is filled in." },
    suppresses: { ...names, minItems: 1, description: "The rules that are ignored if this one matches." },
    work_frame: {
      type: "object",
      additionalProperties: false,
      properties: {
        mode: { enum: ["execute", "skip", "review", "stop"] },
        next_action: name,
        allowed_actions: names,
        forbidden_actions: names,
        required_output: {},
        missing_evidence: names,
        next_human_owner: name,
      },
      description: "What the agent may do next.",
    },
    output,
    description: { type: "string" },
  },
} as const;

export const gateType = decisionSchema(
  "gate",
  {
    action: {
      type: "object",
      required: ["org", "domain", "name"],
      additionalProperties: false,
      properties: {
        org: keyPart,
        domain: keyPart,
        name: keyPart,
        world_model_version: {
          type: "integer",
          minimum: 0,
          description: "The version of the action. Default: 1.",
        },
      },
      description: "The key that the gate is found by: ORG/DOMAIN/NAME@VERSION.",
    },
    context_schema: {
      type: "object",
      description: "A JSON Schema (draft-07) of the context that the caller supplies.",
    },
    computed: {
      type: "object",
      additionalProperties: { ...text, maxLength: 4200 },
      description: "Values computed from the context, by name. Each can use the values above it.",
    },
    rules: { type: "array", minItems: 1, items: rule },
    aggregation: { enum: ["winner_takes_all"] },
    ...limits,
  },
  ["action", "rules"],
);
