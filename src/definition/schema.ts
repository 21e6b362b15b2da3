import type { DecisionSchema } from "./schema/common.js";
import { name, pointers, text } from "./schema/common.js";
import { endpoints, enrich } from "./schema/endpoints.js";
import { gateType } from "./schema/gate.js";
import { guardrails } from "./schema/guardrails.js";
import { observers } from "./schema/observers.js";
import { policyType } from "./schema/policy.js";
import { routingTypes } from "./schema/routing.js";
import { ruleCondition, scoredType } from "./schema/scored.js";
import { tests } from "./schema/tests.js";

/** A target: its id alone, or an object with more properties. */
const target = {
  type: ["string", "object"],
  minLength: 1,
  required: ["id"],
  additionalProperties: false,
  properties: {
    id: name,
    kind: { enum: ["stage", "workflow"], description: "What the target is." },
    depends_on: { type: "array", items: text, description: "The targets that this one depends on." },
    disabled: { type: "boolean", description: "Whether no decision may lead to it. Default: false." },
  },
} as const;

/** The JSON Schema (draft-07) of one document of a definition file, for validation and for editors. */
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
    masks: {
      ...pointers,
      description:
        "JSON pointers of values that no decision records, such as /params/password; also for tools without a policy.",
    },
    observers,
    tests,
  },
} as const;
