import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import type { Evaluated } from "../../src/evaluate/evaluate.js";
import { evaluate } from "../../src/evaluate/evaluate.js";
import { prepare } from "../../src/evaluate/prepare.js";
import type { Definition } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";

const samples = fileURLToPath(new URL("../../decisions", import.meta.url));

/** A sample as the specification writes it: without the keys that only we know. */
function sample(file: string): Definition {
  const text = readFileSync(join(samples, file), "utf8").replace(/^ {2}(?:version|description): .*\n/gm, "");
  const { summary, body } = readDefinitions(file, Buffer.from(text));
  expect(summary.diagnostics).toEqual([]);
  const [definition] = body.definitions;
  if (definition === undefined) throw new Error(`${file} holds no definition`);
  return definition;
}

function ask(definition: Definition, context: JsonObject): Evaluated {
  return evaluate(prepare(definition), { context, input: undefined, facts: {}, system: {} });
}

interface Clause {
  readonly clause: string;
  readonly file: string;
  readonly context: JsonObject;
  readonly target: string;
  readonly label: string;
}

const gate = "quality-gate.yaml";
const router = "artifact-router.yaml";
const split = "prompt-ab-test.yaml";
const table = "escalation.yaml";

const clauses: readonly Clause[] = [
  {
    clause: "binary takes the first true case",
    file: gate,
    context: { artifact: { quality_score: 0.9 } },
    target: "stage-deploy",
    label: "Pass",
  },
  {
    clause: "binary includes its bound",
    file: gate,
    context: { artifact: { quality_score: 0.8 } },
    target: "stage-deploy",
    label: "Pass",
  },
  {
    clause: "binary takes the other case",
    file: gate,
    context: { artifact: { quality_score: 0.79 } },
    target: "stage-rework",
    label: "Fail",
  },
  {
    clause: "binary falls back to the default",
    file: gate,
    context: { artifact: {} },
    target: "stage-rework",
    label: "default",
  },
  {
    clause: "switch matches a value",
    file: router,
    context: { artifact: { type: "prompt" } },
    target: "stage-prompt-validation",
    label: "Prompt",
  },
  {
    clause: "switch matches the second value",
    file: router,
    context: { artifact: { type: "workflow" } },
    target: "stage-workflow-validation",
    label: "Workflow",
  },
  {
    clause: "switch matches the third value",
    file: router,
    context: { artifact: { type: "schema" } },
    target: "stage-schema-validation",
    label: "Schema",
  },
  {
    clause: "switch matches the last value",
    file: router,
    context: { artifact: { type: "agent" } },
    target: "stage-agent-validation",
    label: "Agent Config",
  },
  {
    clause: "switch falls back to the default",
    file: router,
    context: { artifact: { type: "video" } },
    target: "stage-generic-validation",
    label: "default",
  },
  {
    clause: "weighted rolls into the first share",
    file: split,
    context: { request: { id: "req-1" } },
    target: "stage-prompt-v1",
    label: "Control (v1)",
  },
  {
    clause: "weighted rolls into the last share",
    file: split,
    context: { request: { id: "req-2" } },
    target: "stage-prompt-v3",
    label: "Variant B (v3)",
  },
  {
    clause: "weighted never rolls without an input",
    file: split,
    context: {},
    target: "stage-prompt-v1",
    label: "default",
  },
  {
    clause: "first hit wins",
    file: table,
    context: { severity: "critical", attempts: 3, quality_score: 0.1 },
    target: "stage-human-escalation",
    label: "Critical + Retried",
  },
  {
    clause: "a rule's parts must all hold",
    file: table,
    context: { severity: "critical", attempts: 2, quality_score: 0.1 },
    target: "stage-senior-agent",
    label: "Critical",
  },
  {
    clause: "later rules are reached",
    file: table,
    context: { severity: "low", attempts: 9, quality_score: 0.49 },
    target: "stage-full-rework",
    label: "Low Quality",
  },
  {
    clause: "the last rule is reached",
    file: table,
    context: { severity: "low", attempts: 9, quality_score: 0.5 },
    target: "stage-minor-rework",
    label: "Needs Polish",
  },
  {
    clause: "a table falls back to the default",
    file: table,
    context: { severity: "low", attempts: 0, quality_score: 0.8 },
    target: "stage-continue",
    label: "default",
  },
];

describe("decision routing, as specified", () => {
  it.each(clauses)("$clause ($file → $label)", ({ file, context, target, label }) => {
    const { selected_targets, selected_labels } = ask(sample(file), context);
    expect(selected_targets).toEqual([target]);
    expect(selected_labels).toEqual([label]);
  });

  it("lists for binary and switch what was asked up to the match", () => {
    const { evaluation_details } = ask(sample(router), { artifact: { type: "workflow" } });
    expect(evaluation_details).toEqual({
      Prompt: { condition: "input == 'prompt'", result: false },
      Workflow: { condition: "input == 'workflow'", result: true },
    });
  });

  it("lists every rule of a table with its priority", () => {
    const { evaluation_details } = ask(sample(table), { severity: "low", attempts: 0, quality_score: 0.6 });
    expect(Object.entries(evaluation_details)).toEqual([
      [
        "Critical + Retried",
        { condition: "input.severity == 'critical' and input.attempts > 2", result: false, priority: 1 },
      ],
      ["Critical", { condition: "input.severity == 'critical'", result: false, priority: 2 }],
      ["Low Quality", { condition: "input.quality_score < 0.5", result: false, priority: 3 }],
      ["Needs Polish", { condition: "input.quality_score < 0.8", result: true, priority: 4 }],
    ]);
  });

  it("lists the roll, the total and the weights of a weighted decision", () => {
    const { evaluation_details } = ask(sample(split), { request: { id: "user-123" } });
    expect(evaluation_details).toEqual({
      roll: 20.261973261343126,
      total_weight: 100,
      weights: { "Control (v1)": 70, "Variant A (v2)": 20, "Variant B (v3)": 10 },
    });
  });

  it.each([
    ["collect", ["stage-human-escalation", "stage-senior-agent", "stage-full-rework", "stage-minor-rework"]],
    ["priority", ["stage-human-escalation"]],
    ["first", ["stage-human-escalation"]],
  ] as const)("takes the matches that hit policy %s says", (hit_policy, targets) => {
    const definition = { ...sample(table), hit_policy } as Definition;
    expect(
      ask(definition, { severity: "critical", attempts: 3, quality_score: 0.1 }).selected_targets,
    ).toEqual(targets);
  });

  it("takes the lowest number as the highest priority", () => {
    const definition: Definition = {
      id: "p",
      type: "rule_table",
      hit_policy: "priority",
      rules: [
        { condition: "true", target: "late", priority: 9 },
        { condition: "true", target: "early", priority: 1 },
        { condition: "true", target: "early-too", priority: 1 },
      ],
      default: { target: "none" },
    };
    expect(ask(definition, {}).selected_targets).toEqual(["early"]);
  });
});
