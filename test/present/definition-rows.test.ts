import { describe, expect, it } from "vitest";
import type { Definition, GateRule, Policy } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import { definitionRows } from "../../src/present/definition-rows.js";

const rule = (id: string, more: Partial<GateRule> = {}): GateRule => ({
  ...({ id, tier: "T2", severity: 50, status: "YELLOW", when: "true" } as const),
  ...more,
});

const gate = (rules: readonly GateRule[], schema?: JsonObject): Definition => ({
  id: "g",
  type: "gate",
  action: { org: "acme", domain: "payments", name: "pay" },
  rules,
  ...(schema !== undefined && { context_schema: schema }),
});

const policy = (...policies: readonly Policy[]): Definition => ({
  id: "p",
  type: "policy",
  tool: "t",
  policies,
});

describe("the second table of a definition", () => {
  it.each<{
    name: string;
    definition: Definition;
    titles: readonly string[];
    rows: readonly (readonly string[])[];
  }>([
    {
      name: "has the reasons and the work frames of a gate, the most severe rule first",
      definition: gate([
        rule("plain"),
        rule("reasoned", { reason: "Ask\nfirst" }),
        rule("severe", {
          severity: 90,
          reason: "No",
          work_frame: {
            mode: "stop",
            next_action: "call",
            next_human_owner: "ops",
            allowed_actions: ["look"],
            forbidden_actions: ["pay", "retry"],
            missing_evidence: ["receipt"],
            required_output: { form: 7 },
          },
        }),
      ]),
      titles: ["rule", "reason", "work frame"],
      rows: [
        [
          "severe",
          "No",
          'mode stop; next call; owner ops; allowed look; forbidden pay, retry; evidence receipt; required {"form":7}',
        ],
        ["reasoned", "Ask first", ""],
      ],
    },
    {
      name: "has the reasons for denials of a policy, and no empty column",
      definition: policy({ name: "a", deny_reason: "Not {{ params.x }}" }, { name: "b" }),
      titles: ["policy", "deny reason"],
      rows: [["a", "Not {{ params.x }}"]],
    },
    {
      name: "has the reasons of overrides",
      definition: policy({ name: "a", reason: "Fine" }, { name: "b", overrides: ["a"], reason: "Exempt" }),
      titles: ["policy", "reason"],
      rows: [
        ["a", "Fine"],
        ["b", "Exempt"],
      ],
    },
  ])("$name", ({ definition, titles, rows }) => {
    const { details } = definitionRows(definition);
    expect(details?.columns.map(({ title }) => title)).toEqual(titles);
    expect(details?.rows).toEqual(rows);
  });

  it.each([gate([rule("plain")]), policy({ name: "a" })])(
    "is left out where it would be empty: $type",
    (definition) => {
      expect(definitionRows(definition)).not.toHaveProperty("details");
    },
  );
});

describe("the schema of a gate", () => {
  it.each([
    {
      schema: {
        type: "object",
        required: ["amount", "note"],
        properties: {
          amount: { type: "number" },
          note: { type: ["string", "null"] },
          any: {},
          paid: { type: "boolean" },
        },
      },
      text: "amount (number), note (string or null), any (optional), paid (boolean, optional)",
    },
    { schema: { type: "object", minProperties: 1 }, text: '{"type":"object","minProperties":1}' },
    { schema: undefined, text: undefined },
  ])("is shown as $text", ({ schema, text }) => {
    expect(new Map(definitionRows(gate([rule("r")], schema)).fields).get("schema")).toBe(text);
  });
});
