import { condition, decisionSchema, duration, name, text, version } from "./common.js";

const tools = { type: "array", minItems: 1, items: name } as const;
const moment = { type: "string", description: "A date, or a time with its zone, in ISO 8601." } as const;

const namedCondition = {
  type: "object",
  required: ["name", "expression"],
  additionalProperties: false,
  properties: { name, expression: { ...condition, minLength: 1 } },
} as const;

const base = {
  conditions: {
    type: "array",
    minItems: 1,
    items: namedCondition,
    description: "All must hold, else it denies.",
  },
  requires: { ...tools, description: "Tools that must have succeeded in the session before." },
  read_before_write: {
    type: "object",
    required: ["read_tools", "write_tools", "path"],
    additionalProperties: false,
    properties: {
      read_tools: tools,
      write_tools: tools,
      path: { ...text, description: "Which of the params is the path, such as params.path." },
    },
    description: "What is written must have been read in the session before.",
  },
  max_calls: {
    type: "object",
    required: ["count", "per"],
    additionalProperties: false,
    properties: {
      count: { type: "integer", minimum: 1, maximum: 10_000 },
      per: { ...duration, pattern: `^session$|${duration.pattern}`, description: "session, or a duration." },
    },
    description: "How many calls a session may make, in all or in the time before.",
  },
  deny_reason: { ...text, description: "What the agent is told; {{ … }} is filled in." },
} as const;

const override = {
  overrides: { ...tools, description: "The policies whose denials it may flip; this makes it an override." },
  when: { ...condition, minLength: 1, description: "When it applies; always, when left out." },
  action: { enum: ["allow", "allow_with_warning", "modify_params"] },
  params: { type: "object", minProperties: 1, description: "What `modify_params` sets." },
  max_applications: { type: "integer", minimum: 1, description: "How often it may be applied in all." },
} as const;

const policy = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { ...name, description: "Unique in the decision." },
    version,
    description: { type: "string" },
    priority: { type: "number", description: "Higher first." },
    effective_from: moment,
    expires_at: moment,
    reason: { ...text, description: "Why the call is allowed; {{ … }} is filled in." },
    ...base,
    ...override,
  },
} as const;

/** The keys that only one of the two kinds of policies may have. */
export const baseKeys: readonly string[] = Object.keys(base);
export const overrideKeys: readonly string[] = Object.keys(override);

export const policyType = decisionSchema(
  "policy",
  {
    tool: {
      type: ["string", "array"],
      minLength: 1,
      maxLength: 256,
      pattern: name.pattern,
      minItems: 1,
      items: name,
      description: "The name of a tool, or a glob such as write_*; or a list of these.",
    },
    policies: { type: "array", items: policy },
  },
  ["tool"],
);
