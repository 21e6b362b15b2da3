import type { DecisionSchema } from "./common.js";
import { condition, decisionSchema, name, onError, text } from "./common.js";

const branch = {
  target: { ...name, description: "The stage, workflow or decision that this branch leads to." },
  label: {
    ...name,
    description: "The name of the branch in results and distributions. Default: the target.",
  },
  description: { type: "string" },
} as const;

const weight = {
  type: "number",
  minimum: 0,
  maximum: 1e12,
  description: "The share of the traffic, relative to the sum of all weights.",
} as const;
const priority = {
  type: "number",
  description: "The match with the lowest number wins, with `hit_policy: priority`.",
} as const;

const conditionalCase = {
  type: "object",
  required: ["condition", "target"],
  additionalProperties: false,
  properties: { condition: { ...condition, minLength: 1 }, ...branch },
} as const;

const tableRule = { ...conditionalCase, properties: { ...conditionalCase.properties, priority } } as const;

const weightedCase = {
  type: "object",
  required: ["target"],
  additionalProperties: false,
  properties: {
    condition: { ...condition, description: "The case takes part only if this is true. Default: always." },
    ...branch,
    weight,
  },
} as const;

const routing = {
  default: {
    type: "object",
    required: ["target"],
    additionalProperties: false,
    properties: { target: name },
    description: "The target if no case matches.",
  },
  on_error: onError,
} as const;

const cases = (item: object): object => ({ type: "array", minItems: 1, items: item });

const firstMatch = (type: string): DecisionSchema =>
  decisionSchema(type, { ...routing, cases: cases(conditionalCase) }, ["cases", "default"]);

/** `binary`, `switch`, `weighted` and `rule_table`. */
export const routingTypes: readonly DecisionSchema[] = [
  firstMatch("binary"),
  firstMatch("switch"),
  decisionSchema(
    "weighted",
    {
      ...routing,
      cases: cases(weightedCase),
      salt: { ...text, description: "Makes the split independent of other decisions with the same input." },
    },
    ["cases", "default"],
  ),
  decisionSchema(
    "rule_table",
    {
      ...routing,
      hit_policy: {
        enum: ["first", "collect", "priority", "unique", "any"],
        description: "Which of the matching rules are used. Default: first.",
      },
      rules: cases(tableRule),
      cases: cases(tableRule),
    },
    ["default"],
    { oneOf: [{ required: ["rules"] }, { required: ["cases"] }] },
  ),
];
