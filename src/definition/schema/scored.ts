import { ruleOperators } from "../../expression/rule/rule-operators.js";
import { condition, decisionSchema, name, onError } from "./common.js";

/** From 0 to 1. */
const share = { type: "number", minimum: 0, maximum: 1 } as const;

const vote = {
  type: "object",
  required: ["decision", "weight"],
  additionalProperties: false,
  properties: {
    decision: { ...name, description: "What the evaluator votes for." },
    weight: { ...share, description: "How sure it is, from 0 to 1." },
    reason: { type: "string", maxLength: 8192, description: "Why, for people." },
  },
} as const;

const nested = { type: "array", minItems: 1, items: { $ref: "#/definitions/ruleCondition" } } as const;

/** `if`: checked in words of its own (see rule-faults.ts), so that this one serves editors alone. */
export const ruleCondition = {
  type: "object",
  additionalProperties: false,
  properties: {
    all: { ...nested, description: "All of these must hold." },
    any: { ...nested, description: "At least one of these must hold." },
    none: { ...nested, description: "None of these may hold." },
    field: { type: "string", description: "A path into the context, such as credit.score." },
    op: { enum: [...ruleOperators.keys()], description: "See `agent-33 help operators`." },
    value: { description: "What the field is compared with." },
  },
} as const;

const rule = {
  type: "object",
  required: ["id", "then"],
  additionalProperties: false,
  properties: {
    id: { ...name, description: "Unique in its evaluator; recorded as `rule_id`." },
    if: { $ref: "#/definitions/ruleCondition" },
    when: { ...condition, minLength: 1, description: "An expression instead of `if`." },
    then: vote,
    description: { type: "string" },
  },
  oneOf: [{ required: ["if"] }, { required: ["when"] }],
} as const;

const evaluator = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { ...name, description: "Unique in the decision." },
    ruleset: { ...name, description: "The name of the set of rules; recorded with each vote." },
    rules: { type: "array", minItems: 1, items: rule, description: "The first rule that matches votes." },
    static: { ...vote, description: "A vote that is always cast." },
  },
  oneOf: [{ required: ["rules"] }, { required: ["static"] }],
} as const;

const scoring = {
  type: "object",
  required: ["strategy"],
  additionalProperties: false,
  properties: {
    strategy: { enum: ["weighted_average", "max_weight", "consensus", "threshold"] },
    threshold: { ...share, description: "What the highest weight must reach, for `threshold`." },
    fallback_decision: { ...name, description: "What is decided below the threshold." },
    minimum_agreement: { ...share, description: "The share of votes that must agree, for `consensus`." },
  },
} as const;

export const scoredType = decisionSchema(
  "scored",
  {
    on_error: onError,
    evaluators: { type: "array", minItems: 1, items: evaluator },
    scoring: { ...scoring, description: "How one decision is made of the votes." },
    targets: {
      type: "object",
      additionalProperties: name,
      description: "Where each decision leads.",
    },
  },
  ["evaluators"],
);
