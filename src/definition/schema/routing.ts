import type { DecisionSchema } from "./common.js";
import { condition, decisionSchema, name, onError, output, text } from "./common.js";

/** What a branch answers with. */
const answer = { target: name, output } as const;

/** A branch needs a target, an output or both. */
const leadsSomewhere = { anyOf: [{ required: ["target"] }, { required: ["output"] }] } as const;

const branch = {
  ...answer,
  target: { ...name, description: "The stage, workflow or decision that this branch leads to." },
  label: {
    ...name,
    description:
      "The name of the branch in results and distributions. Default: the target, or `rule-N` without one.",
  },
  description: { type: "string" },
} as const;

/** Everything of a branch but where it leads. */
const { target, ...naming } = branch;

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
  required: ["condition"],
  ...leadsSomewhere,
  additionalProperties: false,
  properties: { condition: { ...condition, minLength: 1 }, ...branch },
} as const;

const tableRule = { ...conditionalCase, properties: { ...conditionalCase.properties, priority } } as const;

const weightedCase = {
  type: "object",
  ...leadsSomewhere,
  additionalProperties: false,
  properties: {
    condition: { ...condition, description: "The case takes part only if this is true. Default: always." },
    target,
    weight,
    ...naming,
  },
} as const;

const routing = {
  default: {
    type: "object",
    ...leadsSomewhere,
    additionalProperties: false,
    properties: {
      ...answer,
      unexpected: {
        type: "boolean",
        description:
          "`true`: every input should match a branch, so `analyze --check` fails if one does not. `false`: some need not, also with `hit_policy: unique`.",
      },
    },
    description: "The target, the output or both if no case matches.",
  },
  on_error: onError,
} as const;

const cases = (item: object): object => ({ type: "array", minItems: 1, items: item });

const column = {
  type: "object",
  additionalProperties: false,
  properties: {
    if: { ...text, description: "The path that the column tests." },
    then: {
      ...text,
      description:
        "`target`, `output`, or `output.` and a key of the outputs: the part of the answers in the column.",
    },
    name: { ...text, description: "The name of the output in DMN." },
    label: { type: "string", description: "A readable heading." },
    type: {
      enum: ["string", "number", "boolean", "date", "time", "dateTime", "Any"],
      description: "The type of the values in DMN. Default: that of the values in the rules.",
    },
    values: { ...text, description: "The allowed values, as in a cell of the table, such as `[0..120]`." },
  },
  oneOf: [{ required: ["if"] }, { required: ["then"] }],
} as const;

const firstMatch = (type: string): DecisionSchema =>
  decisionSchema(type, { cases: cases(conditionalCase), ...routing }, ["cases", "default"]);

/** `binary`, `switch`, `weighted` and `rule_table`. */
export const routingTypes: readonly DecisionSchema[] = [
  firstMatch("binary"),
  firstMatch("switch"),
  decisionSchema(
    "weighted",
    {
      salt: { ...text, description: "Makes the split independent of other decisions with the same input." },
      cases: cases(weightedCase),
      ...routing,
    },
    ["cases", "default"],
  ),
  decisionSchema(
    "rule_table",
    {
      hit_policy: {
        enum: ["first", "collect", "priority", "unique", "any", "rule_order", "output_order"],
        description: "Which of the matching rules are used, and in which order. Default: first.",
      },
      aggregate: {
        enum: ["sum", "min", "max", "count"],
        description:
          "Combines the outputs of all matching rules into one number, with `hit_policy: collect` or `rule_order`.",
      },
      output_values: {
        type: "array",
        minItems: 1,
        description: "The outputs of the rules in their order, for `hit_policy: output_order`.",
      },
      columns: {
        type: "array",
        items: column,
        description: "How the rules are shown and exported as a table. It does not change any decision.",
      },
      rules: cases(tableRule),
      cases: cases(tableRule),
      ...routing,
    },
    ["default"],
    { oneOf: [{ required: ["rules"] }, { required: ["cases"] }] },
  ),
];
