import { describe, expect, it } from "vitest";
import { decide } from "../../src/decide/decide.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import type { Definition } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { Result } from "../../src/model/result.js";
import { worldWith } from "../properties/worlds.js";

/** The branch outputs of DESIGN §12, one case for each clause. */
interface Clause {
  readonly clause: string;
  readonly yaml: string;
  readonly context: JsonObject;
  readonly expected: Partial<Result>;
}

const routing = (body: string): string => `decision:\n  id: under-test\n${body.replace(/^ {4}/gm, "  ")}`;

const clauses: readonly Clause[] = [
  {
    clause: "a case may carry any JSON, templates allowed",
    yaml: routing(`
    type: binary
    cases:
      - { condition: "n > 1", target: stage-a, output: { list: ["{{ n }}", "n = {{ n }}"], none: null } }
    default: { target: stage-b }`),
    context: { n: 2 },
    expected: { selected_targets: ["stage-a"], outputs: [{ list: [2, "n = 2"], none: null }] },
  },
  {
    clause: "a branch needs a target or an output",
    yaml: routing(`
    type: switch
    cases: [{ condition: "n > 1", output: 5 }]
    default: { output: 0 }`),
    context: { n: 2 },
    expected: { selected_targets: [], selected_labels: ["rule-1"], outputs: [5] },
  },
  {
    clause: "the default may carry an output",
    yaml: routing(`
    type: switch
    cases: [{ condition: "n > 1", output: 5 }]
    default: { target: stage-b, output: 0 }`),
    context: { n: 1 },
    expected: { selected_targets: ["stage-b"], selected_labels: ["default"], outputs: [0] },
  },
  {
    clause: "`outputs` is parallel to the targets, null where a branch has none",
    yaml: routing(`
    type: rule_table
    hit_policy: collect
    rules:
      - { condition: "true", target: a, output: 1 }
      - { condition: "true", target: b }
    default: { target: c }`),
    context: {},
    expected: { selected_targets: ["a", "b"], outputs: [1, null] },
  },
  {
    clause: "a weighted case may carry an output",
    yaml: routing(`
    type: weighted
    input: "{{ id }}"
    cases: [{ target: a, weight: 100, output: { prompt: "Hello {{ id }}" } }]
    default: { target: a }`),
    context: { id: "u" },
    expected: { selected_targets: ["a"], outputs: [{ prompt: "Hello u" }] },
  },
  {
    clause: "a gate rule may carry an output",
    yaml: routing(`
    type: gate
    action: { org: acme, domain: pay, name: wire }
    rules: [{ id: ok, tier: T3, severity: 1, when: "true", status: GREEN, output: { limit: "{{ n }}" } }]`),
    context: { n: 2 },
    expected: { selected_labels: ["GREEN"], outputs: [{ limit: 2 }] },
  },
  {
    clause: "an evaluator's `then` may carry an output",
    yaml: routing(`
    type: scored
    evaluators:
      - { name: e, rules: [{ id: r, when: "n > 1", then: { decision: approve, output: { rate: 0.1 } } }] }`),
    context: { n: 2 },
    expected: { selected_labels: ["approve"], outputs: [{ rate: 0.1 }] },
  },
  ...(
    [
      ["sum", "C+", 6],
      ["min", "C<", 1],
      ["max", "C>", 3],
      ["count", "C#", 3],
    ] as const
  ).map(([name, dmn, value]) => ({
    clause: `\`aggregate: ${name}\` is DMN's ${dmn}`,
    yaml: routing(`
    type: rule_table
    hit_policy: collect
    aggregate: ${name}
    rules: [{ condition: "true", output: 2 }, { condition: "true", output: 3 }, { condition: "true", output: 1 }]
    default: { output: 0 }`),
    context: {},
    expected: { outputs: [value], aggregate: { function: name, value, of: [2, 3, 1] } },
  })),
  {
    clause: "`rule_order` is as `collect`",
    yaml: routing(`
    type: rule_table
    hit_policy: rule_order
    rules: [{ condition: "true", output: b }, { condition: "true", output: a }]
    default: { output: c }`),
    context: {},
    expected: { selected_labels: ["rule-1", "rule-2"], outputs: ["b", "a"] },
  },
  {
    clause: "`output_order` sorts by the index in `output_values`",
    yaml: routing(`
    type: rule_table
    hit_policy: output_order
    output_values: [high, low]
    rules: [{ condition: "true", output: low, target: x }, { condition: "true", output: high, target: y }]
    default: { output: none }`),
    context: {},
    expected: { selected_targets: ["y", "x"], outputs: ["high", "low"] },
  },
];

function parsed(yaml: string): Definition {
  const { summary, body } = readDefinitions("f.yaml", Buffer.from(yaml));
  expect(summary.diagnostics).toEqual([]);
  const [definition] = body.definitions;
  if (definition === undefined) throw new Error("the file declares no definition");
  return definition;
}

describe("branch outputs", () => {
  it.each(clauses)("$clause", async ({ yaml, context, expected }) => {
    const result = await decide({ decision_id: "under-test", context }, worldWith(parsed(yaml)));
    expect(result).toMatchObject(expected);
  });

  it("are part of the deterministic hash of routing decisions and gates", async () => {
    const definition = parsed(clauses[0]?.yaml ?? "");
    const result = await decide({ decision_id: "under-test", context: { n: 2 } }, worldWith(definition));
    const hashed = {
      decision_id: "under-test",
      definition_hash: sha256Hex(canonicalJson(definition as unknown as Json)),
      outputs: result.outputs ?? null,
      selected_labels: ["stage-a"],
      selected_targets: ["stage-a"],
      values_read: { context: { n: 2 }, n: 2 },
    };
    expect(result.deterministic_hash).toBe(sha256Hex(canonicalJson(hashed)));
  });

  it("are absent where a definition declares none, so that its results are as before", async () => {
    const yaml = routing(`
    type: switch
    cases: [{ condition: "n > 1", target: a }]
    default: { target: b }`);
    const result = await decide({ decision_id: "under-test", context: { n: 2 } }, worldWith(parsed(yaml)));
    expect(Object.keys(result)).not.toContain("outputs");
  });
});
