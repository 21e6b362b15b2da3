export const version = {
  type: "string",
  pattern: "^(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)(?:[-+][0-9A-Za-z.+-]+)?$",
  description: "A semantic version, recorded with every decision.",
} as const;

/** Parts of the JSON Schema (draft 7) that more than one kind of document has. */
export const text = { type: "string", minLength: 1, maxLength: 8192 } as const;

export const duration = {
  type: "string",
  pattern: "^(?:[0-9]+(?:\\.[0-9]+)?(?:ms|s|m|h|d|w))+$",
  description: "A duration: 500ms, 30s, 5m, 1h, 7d, 2w; also put together, as in 1h30m.",
} as const;

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

/** What scripts and terminals print as it is: no line breaks, nothing that commands a terminal. */
export const name = {
  type: "string",
  minLength: 1,
  maxLength: 256,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
} as const;

export const condition = {
  type: "string",
  maxLength: 4200,
  description: "An expression that is true or false.",
} as const;

export const onError = {
  enum: ["no_match", "fail"],
  description: "What a condition that cannot be evaluated does: not match (the default), or end in an error.",
} as const;
