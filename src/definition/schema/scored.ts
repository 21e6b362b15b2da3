import { ruleOperators } from "../../expression/rule/rule-operators.js";
import { condition, decisionSchema, name, onError } from "./common.js";

/** A number from 0 to 1. */
const share = { type: "number", minimum: 0, maximum: 1 } as const;

/** The keys that `checkMetadata` refuses are left out here, because it explains them better. */
const metadata = { type: "object" } as const;

const vote = {
  type: "object",
  required: ["decision"],
  additionalProperties: false,
  properties: {
    decision: { ...name, description: "The decision that the evaluator votes for." },
    weight: { ...share, description: "The confidence of the vote, from 0 to 1. Default: 1." },
    reason: { type: "string", maxLength: 8192, description: "The reason of the vote, for people." },
    output: {
      description:
        "The output of the decision if this is the strongest vote for it: any value. {{ … }} in texts is filled in.",
    },
    metadata: { ...metadata, description: "Recorded with the vote, over that of the evaluator." },
  },
} as const;

const nested = { type: "array", minItems: 1, items: { $ref: "#/definitions/ruleCondition" } } as const;

/** `if`, for editors; the conditions themselves are checked by `checkRuleConditions`. */
export const ruleCondition = {
  type: "object",
  additionalProperties: false,
  properties: {
    all: { ...nested, description: "All of these must be true." },
    any: { ...nested, description: "At least one of these must be true." },
    none: { ...nested, description: "None of these may be true." },
    field: { type: "string", description: "A path into the context, such as credit.score." },
    op: {
      enum: [...ruleOperators().keys()],
      description: "An operator; `agent-33 help operators` lists them.",
    },
    value: { description: "The value that the field is compared with." },
  },
} as const;

const rule = {
  type: "object",
  required: ["id", "then"],
  additionalProperties: false,
  properties: {
    id: { ...name, description: "The id of the rule, unique in its evaluator. It is recorded as `rule_id`." },
    if: { $ref: "#/definitions/ruleCondition" },
    when: { ...condition, minLength: 1, description: "An expression, instead of `if`." },
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
    name: { ...name, description: "The name, unique in the decision." },
    ruleset: { ...name, description: "The name of the set of rules. It is recorded with each vote." },
    metadata: { ...metadata, description: "Recorded with each vote, in addition to its rule and ruleset." },
    rules: {
      type: "array",
      minItems: 1,
      items: rule,
      description: "The rules in order. The first that matches votes.",
    },
    static: { ...vote, description: "A vote that is always cast." },
    custom: {
      ...name,
      description: "The name of an evaluator that a program registers with `compose`; see the library.",
    },
  },
  oneOf: [{ required: ["rules"] }, { required: ["static"] }, { required: ["custom"] }],
} as const;

const scoring = {
  type: "object",
  required: ["strategy"],
  additionalProperties: false,
  properties: {
    strategy: { enum: ["weighted_average", "max_weight", "consensus", "threshold"] },
    threshold: {
      ...share,
      description: "The weight that the strongest decision must reach, for `threshold`.",
    },
    fallback_decision: { ...name, description: "The decision below the threshold, for `threshold`." },
    minimum_agreement: { ...share, description: "The share of votes that must agree, for `consensus`." },
  },
} as const;

export const scoredType = decisionSchema(
  "scored",
  {
    evaluators: { type: "array", minItems: 1, items: evaluator },
    scoring: { ...scoring, description: "How the votes are combined into one decision." },
    targets: {
      type: "object",
      additionalProperties: name,
      description: "The target of each decision.",
    },
    on_error: onError,
  },
  ["evaluators"],
);
