import type { DecisionSchema } from "./schema/common.js";
import { name, text } from "./schema/common.js";
import { endpoints, enrich } from "./schema/endpoints.js";
import { gateType } from "./schema/gate.js";
import { guardrails } from "./schema/guardrails.js";
import { policyType } from "./schema/policy.js";
import { routingTypes } from "./schema/routing.js";
import { ruleCondition, scoredType } from "./schema/scored.js";

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

/** The JSON Schema (draft 7) of one document of a definition file; checks and editors use the same. */
export const schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "agent-33 definition",
  type: "object",
  minProperties: 1,
  additionalProperties: false,
  definitions: { ruleCondition, guardrails, enrich },
  properties: {
    decision: {
      type: "object",
      required: ["type"],
      discriminator: { propertyName: "type" },
      oneOf: [...routingTypes, scoredType, policyType, gateType] as readonly DecisionSchema[],
    },
    guardrails: { $ref: "#/definitions/guardrails" },
    endpoints,
    targets: {
      type: "array",
      items: target,
      description: "The stages and workflows that decisions may lead to.",
    },
    tests: { type: "array", items: test, description: "Cases that the decisions must answer as written." },
  },
} as const;
