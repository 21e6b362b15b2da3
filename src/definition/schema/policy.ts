import { condition, decisionSchema, limits, name, policyVersion, text } from "./common.js";

const tools = { type: "array", minItems: 1, items: name } as const;
const moment = { type: "string", description: "A date, or a time with a time zone, in ISO 8601." } as const;

const namedCondition = {
  type: "object",
  required: ["name", "expression"],
  additionalProperties: false,
  properties: { name, expression: { ...condition, minLength: 1 } },
} as const;

const requirements = {
  conditions: {
    type: "array",
    minItems: 1,
    items: namedCondition,
    description: "All conditions must be true; otherwise the call is denied.",
  },
  requires: { ...tools, description: "Tools that must have succeeded earlier in the session." },
  read_before_write: {
    type: "object",
    required: ["read_tools", "write_tools", "path"],
    additionalProperties: false,
    properties: {
      read_tools: tools,
      write_tools: tools,
      path: { ...text, description: "The parameter that contains the path, such as params.path." },
    },
    description: "A file must have been read earlier in the session before it is written.",
  },
  ...limits,
} as const;

const base = {
  ...requirements,
  deny_reason: { ...text, description: "The reason of a denial, for the agent. {{ … }} is filled in." },
} as const;

const override = {
  overrides: {
    ...tools,
    description: "The policies whose denials it overrides. This makes the policy an override.",
  },
  when: { ...condition, minLength: 1, description: "When the override applies. Default: always." },
  action: { enum: ["allow", "allow_with_warning", "modify_params"] },
  params: { type: "object", minProperties: 1, description: "The parameters that `modify_params` sets." },
  max_applications: {
    type: "integer",
    minimum: 1,
    description: "How often the override may be applied in total.",
  },
} as const;

const policy = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { ...name, description: "The name, unique in the decision." },
    version: policyVersion,
    description: { type: "string" },
    priority: { type: "number", description: "Policies with a higher priority are evaluated first." },
    effective_from: moment,
    expires_at: moment,
    ...override,
    ...requirements,
    reason: { ...text, description: "Why the call is allowed. {{ … }} is filled in." },
    deny_reason: base.deny_reason,
  },
} as const;

/** The keys that only one of the two kinds of policies has. */
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
      description: "The name of a tool, a glob such as write_*, or a list of these.",
    },
    policies: { type: "array", items: policy },
  },
  ["tool"],
);
