import { condition, decisionSchema, name, text } from "./common.js";

/** A part of the key that a gate is found by: ORG/DOMAIN/ACTION@VERSION. */
const keyPart = { type: "string", pattern: "^[^\\s/@\\u0000-\\u001f\\u007f-\\u009f]{1,128}$" } as const;
const names = { type: "array", items: name } as const;

const rule = {
  type: "object",
  required: ["id", "tier", "severity", "when", "status"],
  additionalProperties: false,
  properties: {
    id: { ...name, description: "Unique in the gate." },
    tier: { enum: ["T1", "T2", "T3"], description: "A T1 rule wins outright and cannot be suppressed." },
    severity: { type: "number", description: "The highest of those that match decides." },
    applies_when: { ...condition, minLength: 1, description: "Whether the rule is asked at all." },
    when: { ...condition, minLength: 1 },
    status: { enum: ["GREEN", "GREEN-SKIP", "YELLOW", "RED"] },
    reason: { ...text, description: "Why, for people; {{ … }} is filled in." },
    suppresses: { ...names, minItems: 1, description: "Rules that do not count where this one matches." },
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
        world_model_version: { type: "integer", minimum: 0, description: "1 when left out." },
      },
      description: "What the gate is found by.",
    },
    context_schema: { type: "object", description: "The JSON Schema of what the caller supplies." },
    computed: {
      type: "object",
      additionalProperties: { ...text, maxLength: 4200 },
      description: "Values made of the context, by name; each sees those above it.",
    },
    rules: { type: "array", minItems: 1, items: rule },
    aggregation: { enum: ["winner_takes_all"] },
  },
  ["action", "rules"],
);
