import { duration, text, version } from "./values.js";

export * from "./values.js";

/** What a decision of any type may have. */
export const common = {
  id: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$", description: "Unique in the directory." },
  name: { type: "string" },
  version,
  description: { type: "string" },
  input: {
    ...text,
    description: 'What is asked about, such as "{{ artifact.type }}"; the whole context when left out.',
  },
  entities: {
    type: "array",
    items: {
      type: "object",
      required: ["type", "id"],
      additionalProperties: false,
      properties: { type: text, id: text },
    },
    description: "What the decision is about, for lineage and precedents.",
  },
  guardrails: { $ref: "#/definitions/guardrails" },
  enrich: { $ref: "#/definitions/enrich" },
  artifacts: { type: "array", items: text, description: "Input artifacts, for the lineage graph." },
  logging: {
    type: "object",
    additionalProperties: false,
    properties: {
      log_decision: { type: "boolean" },
      include_inputs: { type: "boolean" },
      include_evaluation: { type: "boolean" },
      mask: { type: "array", items: { type: "string", pattern: "^(?:/(?:[^~/]|~[01])*)*$" } },
    },
  },
  cache: {
    type: "object",
    additionalProperties: false,
    properties: { enabled: { type: "boolean" }, ttl: duration },
  },
} as const;

export interface DecisionSchema {
  readonly properties: object;
  readonly [keyword: string]: unknown;
}

/** A decision of one type: what it may have beside the common keys, and what it must have. */
export function decisionSchema(
  type: string,
  properties: object,
  required: readonly string[],
  more: object = {},
): DecisionSchema {
  return {
    type: "object",
    required: ["id", "type", ...required],
    additionalProperties: false,
    properties: { ...common, type: { const: type }, ...properties },
    ...more,
  };
}
