const semanticVersion = "^(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)(?:[-+][0-9A-Za-z.+-]+)?$";

export const version = {
  type: "string",
  pattern: semanticVersion,
  description: "A semantic version. It is recorded with every decision.",
} as const;

export const policyVersion = {
  type: "string",
  pattern: `${semanticVersion}|^[0-9a-f]{7,40}$`,
  description:
    "A semantic version, or a commit hash of 7 to 40 hex digits. It is recorded with every decision.",
} as const;

/** Parts of the JSON Schema (draft-07) that several kinds of documents share. */
export const text = { type: "string", minLength: 1, maxLength: 8192 } as const;

export const duration = {
  type: "string",
  pattern: "^(?:[0-9]+(?:\\.[0-9]+)?(?:ms|s|m|h|d|w))+$",
  description: "A duration: 500ms, 30s, 5m, 1h, 7d, 2w, or a combination such as 1h30m.",
} as const;

export const cacheAdapter = {
  enum: ["store", "memory"],
  description:
    "Where values are cached: in the store for all processes (store, the default), or in this process only (memory).",
} as const;

/** JSON pointers (RFC 6901). */
export const pointers = {
  type: "array",
  items: { type: "string", pattern: "^(?:/(?:[^~/]|~[01])*)*$" },
} as const;

/** The properties that every decision starts with. */
const leading = {
  id: {
    type: "string",
    pattern: "^[A-Za-z0-9._-]{1,128}$",
    description: "The id of the decision, unique in the directory.",
  },
  name: { type: "string", description: "A readable name." },
  version,
  description: { type: "string" },
} as const;

/** The data that a decision of any type is based on. */
const data = {
  enrich: { $ref: "#/definitions/enrich" },
  input: {
    ...text,
    description: 'The value to decide on, such as "{{ artifact.type }}". Default: the whole context.',
  },
} as const;

/** The properties that every decision ends with. */
const trailing = {
  entities: {
    type: "array",
    items: {
      type: "object",
      required: ["type", "id"],
      additionalProperties: false,
      properties: { type: text, id: text },
    },
    description: "The entities that the decision is about, for lineage and precedents.",
  },
  artifacts: {
    type: "array",
    items: text,
    description: "The ids of the input artifacts, for the lineage graph.",
  },
  guardrails: { $ref: "#/definitions/guardrails" },
  logging: {
    type: "object",
    additionalProperties: false,
    properties: {
      log_decision: { type: "boolean", description: "Whether decisions are recorded. Default: true." },
      include_inputs: { type: "boolean", description: "Whether records contain the context. Default: true." },
      include_evaluation: {
        type: "boolean",
        description: "Whether records contain the steps of the evaluation. Default: true.",
      },
      mask: {
        ...pointers,
        description: "JSON pointers of values that are never recorded, such as /customer/email.",
      },
    },
  },
  cache: {
    type: "object",
    additionalProperties: false,
    properties: { enabled: { type: "boolean" }, ttl: duration, adapter: cacheAdapter },
  },
} as const;

export interface DecisionSchema {
  readonly properties: object;
  readonly [keyword: string]: unknown;
}

/**
 * Returns the schema of one decision type, with its own properties between those of all types. `decision fmt` writes
 * keys in the order of the schema.
 */
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
    properties: { ...leading, type: { const: type }, ...data, ...properties, ...trailing },
    ...more,
  };
}

/** A name that scripts and terminals can print: without line breaks and control characters. */
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
  description:
    "What happens if a condition cannot be evaluated: it does not match (no_match, the default), or the decision ends in an error (fail).",
} as const;

/** Any JSON. `checkOutputs` checks its templates. */
export const output = {
  description: "What the decision answers with: any value. {{ … }} in texts is filled in.",
} as const;

const limitScopes = "session|caller|org";

/** The limits of a policy or a gate. */
export const limits = {
  max_calls: {
    type: "object",
    required: ["count", "per"],
    additionalProperties: false,
    properties: {
      count: { type: "integer", minimum: 1, maximum: 10_000 },
      per: {
        ...duration,
        pattern: `^(?:${limitScopes})$|${duration.pattern}`,
        description: "`session`, `caller` or `org`; or a duration, which means `session` with this window.",
      },
      window: {
        ...duration,
        description: "The period in which calls count, such as 1h. Default: all calls count.",
      },
    },
    description: "The number of calls allowed to a session, a caller or an organisation.",
  },
  max_sum: {
    type: "object",
    required: ["of", "most", "per"],
    additionalProperties: false,
    properties: {
      of: { ...text, description: "The amount of a call, such as params.amount." },
      most: { type: "number", minimum: 0, maximum: 1_000_000_000 },
      per: { enum: limitScopes.split("|") },
      window: {
        ...duration,
        description: "The period in which calls count, such as 1d. Default: all calls count.",
      },
    },
    description: "The sum of amounts allowed to a session, a caller or an organisation.",
  },
} as const;
