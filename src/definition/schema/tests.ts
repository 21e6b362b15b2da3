import { text } from "./common.js";
import type { ExpectationKind } from "../expectations.js";
import { expectations } from "../expectations.js";

/** The values of each kind; a text can also be a template that a row of `each` fills in. */
const schemaOfKind: Readonly<Record<ExpectationKind, object>> = {
  text: { type: "string" },
  "text or null": { type: ["string", "null"] },
  texts: { type: ["array", "string"], items: { type: "string" } },
  number: { type: ["number", "string"] },
  boolean: { type: ["boolean", "string"] },
  list: { type: ["array", "string"] },
  map: { type: ["object", "string"] },
  error: { type: ["boolean", "string"] },
  any: {},
};

const expect = {
  type: "object",
  minProperties: 1,
  additionalProperties: false,
  properties: Object.fromEntries(
    Object.entries(expectations).map(([key, { kind, description }]) => [
      key,
      { ...schemaOfKind[kind], description },
    ]),
  ),
  description: "The expected fields of the result.",
};

const result = {
  type: ["string", "object"],
  minLength: 1,
  required: ["tool"],
  additionalProperties: false,
  properties: {
    tool: text,
    ok: { type: ["boolean", "string"], description: "Whether the call succeeded. Default: true." },
    params: {
      type: ["object", "string"],
      description: "The params of the call, with the path that it read.",
    },
  },
};

const facts = {
  type: "object",
  additionalProperties: false,
  properties: {
    session: {
      type: "object",
      additionalProperties: false,
      properties: {
        results: {
          type: "array",
          items: result,
          description: "The earlier calls of the session: tools that succeeded, or { tool, ok, params }.",
        },
        state: { description: "`session` of the context, as an earlier call of the session sent it." },
      },
      description: "What has happened in the session before.",
    },
    counts: {
      type: "object",
      additionalProperties: { type: ["integer", "string"], minimum: 0 },
      description:
        "How often calls counted before, by the policy or gate with `max_calls`, or by the override with `max_applications`.",
    },
    sums: {
      type: "object",
      additionalProperties: { type: ["number", "string"], minimum: 0 },
      description: "How much is used, by the policy or gate with `max_sum`.",
    },
    fetched: {
      type: "object",
      description:
        "The responses of endpoints: by the name of the endpoint, or by `into`; `@file` reads JSON. An endpoint without one fails.",
    },
    caller: {
      type: ["object", "string"],
      description: "The authenticated caller, as system.authenticated_caller.",
    },
    distribution: {
      type: "object",
      required: ["sample"],
      additionalProperties: false,
      properties: {
        sample: { type: ["integer", "string"], minimum: 0 },
        p_value: { type: ["number", "string"], minimum: 0, maximum: 1 },
        e_value: { type: ["number", "string"], minimum: 0 },
      },
      description: "The distribution of a weighted decision so far, for `distribution_drift`.",
    },
    votes: {
      type: "object",
      additionalProperties: {
        type: ["object", "null", "string"],
        required: ["decision"],
        additionalProperties: false,
        properties: {
          decision: text,
          weight: { type: ["number", "string"], minimum: 0, maximum: 1 },
          reason: { type: "string" },
        },
      },
      description: "The votes of custom evaluators, by their name; null: no vote.",
    },
  },
  description: "What a decision would read from the store or fetch. Without them the store is empty.",
};

const test = {
  type: "object",
  required: ["decision", "expect"],
  additionalProperties: false,
  properties: {
    name: { type: "string", minLength: 1, description: "What the test shows; unique in the file." },
    decision: { ...text, description: "The id of the decision." },
    each: {
      type: "array",
      minItems: 1,
      items: { type: "object", minProperties: 1 },
      description:
        "One case for each row: {{ field }} in the rest of the test stands for a value of the row.",
    },
    input: {
      type: ["object", "string"],
      description: "The context: a map, or @file with JSON, relative to this file.",
    },
    tool: { ...text, description: "The tool of the call, for policies." },
    params: { type: ["object", "string"], description: "The params of the call, for policies." },
    expect,
    facts,
    now: { ...text, description: "The time of the decision, such as 2026-11-15T10:30:00Z. Default: now." },
    strict: {
      type: ["boolean", "string"],
      description: "Whether a condition that cannot be evaluated ends the decision with an error.",
    },
    workflow_id: { ...text, description: "The workflow, for `requires_approval`." },
    session_id: {
      type: ["string", "null"],
      minLength: 1,
      description: "The session. Default: a session of its own; null: none.",
    },
  },
};

export const tests = {
  type: "array",
  items: test,
  description: "Tests: inputs of decisions with the expected results.",
};
