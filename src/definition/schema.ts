/** The JSON Schema (draft 7) of one document of a definition file; checks and editors use the same. */
const text = { type: "string", minLength: 1, maxLength: 8192 } as const;
/** What scripts and terminals print as it is: no line breaks, nothing that commands a terminal. */
const name = {
  type: "string",
  minLength: 1,
  maxLength: 256,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$",
} as const;
const duration = {
  type: "string",
  pattern: "^(?:[0-9]+(?:\\.[0-9]+)?(?:ms|s|m|h|d|w))+$",
  description: "A duration: 500ms, 30s, 5m, 1h, 7d, 2w; also put together, as in 1h30m.",
} as const;

const condition = {
  type: "string",
  maxLength: 4200,
  description: "An expression that is true or false.",
} as const;

const branch = {
  target: { ...name, description: "The stage, workflow or decision that this branch leads to." },
  label: { ...name, description: "Its name in results and distributions; the target when left out." },
  description: { type: "string" },
} as const;

const weight = {
  type: "number",
  minimum: 0,
  maximum: 1e12,
  description: "Its share of the traffic: any number from 0.",
} as const;
const priority = { type: "number", description: "The lowest number wins." } as const;

const conditionalCase = {
  type: "object",
  required: ["condition", "target"],
  additionalProperties: false,
  properties: { condition: { ...condition, minLength: 1 }, ...branch, weight, priority },
} as const;

const weightedCase = {
  type: "object",
  required: ["target"],
  additionalProperties: false,
  properties: {
    condition: { ...condition, description: "Left empty, or who takes part in the roll." },
    ...branch,
    weight,
    priority,
  },
} as const;

const common = {
  id: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$", description: "Unique in the directory." },
  name: { type: "string" },
  version: {
    type: "string",
    pattern: "^(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)(?:[-+][0-9A-Za-z.+-]+)?$",
    description: "A semantic version, recorded with every decision.",
  },
  description: { type: "string" },
  input: {
    ...text,
    description: 'What is asked about, such as "{{ artifact.type }}"; the whole context when left out.',
  },
  default: {
    type: "object",
    required: ["target"],
    additionalProperties: false,
    properties: { target: name },
    description: "Where to go when no case matches.",
  },
  on_error: {
    enum: ["no_match", "fail"],
    description:
      "What a condition that cannot be evaluated does: not match (the default), or end in an error.",
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

const cases = (item: object, most?: number): object => ({
  type: "array",
  minItems: 1,
  ...(most !== undefined && { maxItems: most }),
  items: item,
});

const firstMatch = (type: string): DecisionSchema => ({
  type: "object",
  required: ["id", "type", "cases", "default"],
  additionalProperties: false,
  properties: { ...common, type: { const: type }, cases: cases(conditionalCase) },
});

interface DecisionSchema {
  readonly properties: object;
  readonly [keyword: string]: unknown;
}

const decisionTypes = {
  binary: firstMatch("binary"),
  switch: firstMatch("switch"),
  weighted: {
    type: "object",
    required: ["id", "type", "cases", "default"],
    additionalProperties: false,
    properties: {
      ...common,
      type: { const: "weighted" },
      cases: cases(weightedCase),
      salt: { ...text, description: "Makes the buckets independent of other decisions on the same input." },
    },
  },
  rule_table: {
    type: "object",
    required: ["id", "type", "default"],
    additionalProperties: false,
    properties: {
      ...common,
      type: { const: "rule_table" },
      hit_policy: {
        enum: ["first", "collect", "priority", "unique", "any"],
        description: "Which of the matching rules are taken.",
      },
      rules: cases(conditionalCase),
      cases: cases(conditionalCase),
    },
    oneOf: [{ required: ["rules"] }, { required: ["cases"] }],
  },
} as const;

/** An id alone, or with what is known about it; the last three only bear on the latter. */
const target = {
  type: ["string", "object"],
  minLength: 1,
  required: ["id"],
  additionalProperties: false,
  properties: {
    id: name,
    kind: { enum: ["stage", "workflow"] },
    depends_on: { type: "array", items: text },
    disabled: { type: "boolean" },
  },
} as const;

const test = {
  type: "object",
  required: ["decision", "expect"],
  additionalProperties: false,
  properties: {
    name: { type: "string" },
    decision: text,
    input: {},
    expect: { type: "object", minProperties: 1 },
  },
} as const;

export const schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "agent-33 definition",
  type: "object",
  minProperties: 1,
  additionalProperties: false,
  properties: {
    decision: {
      type: "object",
      required: ["type"],
      discriminator: { propertyName: "type" },
      oneOf: Object.values(decisionTypes) as readonly DecisionSchema[],
    },
    targets: {
      type: "array",
      items: target,
      description: "The stages and workflows that decisions may lead to.",
    },
    tests: { type: "array", items: test, description: "Cases that the decisions must answer as written." },
  },
} as const;
