import { casesOf, labelsOf } from "../definition/branches.js";
import { gateKeyText } from "../definition/gate-key.js";
import { toolsOf } from "../definition/tool-match.js";
import { compileRule } from "../expression/rule/compile-rule.js";
import type {
  Definition,
  EvaluatorDefinition,
  GateDefinition,
  Limits,
  Policy,
  PolicyDefinition,
  RoutingDefinition,
  ScoredDefinition,
  ScoredRule,
} from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Column } from "./grid.js";
import { oneLine } from "../text.js";

/** The cases, rules or policies of a definition as a table. */
interface DefinitionRows {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  /** Fields to show above the table. */
  readonly fields: readonly (readonly [name: string, value: string | undefined])[];
}

export function definitionRows(definition: Definition): DefinitionRows {
  const { columns, rows, fields } = rowsOf(definition);
  return { columns, fields, rows: rows.map((row) => row.map(oneLine)) };
}

function rowsOf(definition: Definition): DefinitionRows {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return routingRows(definition);
    case "scored":
      return scoredRows(definition);
    case "policy":
      return policyRows(definition);
    case "gate":
      return gateRows(definition);
  }
}

const flexible = (title: string): Column => ({ title, flexible: true });
const fixed = (title: string): Column => ({ title });

function routingRows(definition: RoutingDefinition): DefinitionRows {
  const cases = casesOf(definition).map(({ each }) => each);
  const labels = labelsOf(cases);
  const isTable = definition.type === "rule_table";
  const isWeighted = definition.type === "weighted";
  const { aggregate, output_values: values } = isTable ? definition : {};
  const { target, output } = definition.default;
  const hasTargets = [definition.default, ...cases].some((each) => each.target !== undefined);
  const hasOutputs = cases.some((each) => each.output !== undefined);
  return {
    columns: [
      fixed("label"),
      flexible(isWeighted ? "weight" : "condition"),
      ...(hasTargets ? [fixed("target")] : []),
      ...(hasOutputs ? [flexible("output")] : []),
      ...(isTable ? [fixed("priority")] : []),
    ],
    rows: cases.map((each, index) => {
      const condition = each.condition?.trim() ? ` if ${each.condition}` : "";
      const second = isWeighted ? `${each.weight ?? 0}${condition}` : (each.condition ?? "");
      return [
        labels[index] ?? "",
        second,
        ...(hasTargets ? [each.target ?? ""] : []),
        ...(hasOutputs ? [outputText(each.output)] : []),
        ...(isTable ? [String(each.priority ?? 0)] : []),
      ];
    }),
    fields: [
      ["salt", definition.type === "weighted" ? definition.salt : undefined],
      ["aggregate", aggregate],
      ["order", values?.map(outputText).join(", ")],
      [
        "default",
        [target ?? [], output === undefined ? [] : `output ${outputText(output)}`].flat().join(", "),
      ],
    ],
  };
}

/** Formats an output as a definition has it: text as it is, other values as JSON; nothing without one. */
const outputText = (output: Json | undefined): string =>
  output === undefined ? "" : typeof output === "string" ? output : JSON.stringify(output);

function scoredRows({ evaluators, scoring, targets = {} }: ScoredDefinition): DefinitionRows {
  const { strategy, ...parameters } = scoring ?? { strategy: "weighted_average" as const };
  const settings = Object.entries(parameters).map(([name, value]) => `${name} ${value}`);
  const routes = Object.entries(targets).map(([decision, target]) => `${decision} → ${target}`);
  return {
    columns: [fixed("evaluator"), fixed("rule"), flexible("when"), fixed("vote")],
    rows: evaluators.flatMap(evaluatorRows),
    fields: [
      ["scoring", [strategy, ...settings].join(", ")],
      ["targets", routes.length === 0 ? undefined : routes.join(", ")],
    ],
  };
}

function evaluatorRows(evaluator: EvaluatorDefinition): readonly (readonly string[])[] {
  const { name } = evaluator;
  if ("static" in evaluator) return [[name, "static", "always", voteText(evaluator.static)]];
  if ("custom" in evaluator) return [[name, "custom", evaluator.custom, ""]];
  return evaluator.rules.map((rule) => [name, rule.id, conditionText(rule), voteText(rule.then)]);
}

const voteText = ({ decision, weight = 1, output }: ScoredRule["then"]): string =>
  `${decision} ${weight}${output === undefined ? "" : `, output ${outputText(output)}`}`;

function conditionText({ if: condition, when = "" }: ScoredRule): string {
  if (condition === undefined) return when;
  return compileRule(condition)
    .texts()
    .join("any" in condition ? " or " : " and ");
}

function policyRows(definition: PolicyDefinition): DefinitionRows {
  const { policies = [] } = definition;
  const hasPriorities = policies.some(({ priority = 0 }) => priority !== 0);
  return {
    columns: [
      fixed("policy"),
      fixed("version"),
      ...(hasPriorities ? [fixed("priority")] : []),
      flexible("requires"),
      flexible("window"),
    ],
    rows: policies.map((policy) => [
      policy.name,
      policy.version ?? "",
      ...(hasPriorities ? [String(policy.priority ?? 0)] : []),
      policyRequirements(policy),
      windowText(policy),
    ]),
    fields: [["tool", toolsOf(definition).join(", ")]],
  };
}

/** Formats the period in which a policy is in effect. */
export function windowText({
  effective_from: from = null,
  expires_at: until = null,
}: {
  readonly effective_from?: string | null;
  readonly expires_at?: string | null;
}): string {
  return from === null && until === null ? "always" : `${from ?? "…"} – ${until ?? "…"}`;
}

/** Describes what a policy requires, or what an override does. */
export function policyRequirements(policy: Policy): string {
  if (policy.overrides !== undefined) {
    const uses = policy.max_applications === undefined ? "" : `, at most ${policy.max_applications} times`;
    const when = policy.when === undefined ? "" : ` when ${policy.when}`;
    return `overrides ${policy.overrides.join(", ")}${when}: ${policy.action ?? "allow"}${uses}`;
  }
  const { conditions = [], requires = [], read_before_write: rule } = policy;
  return [
    ...conditions.map(({ expression }) => expression),
    ...requires.map((each) => `${each} has succeeded`),
    ...(rule === undefined ? [] : [`${rule.path} is read before it is written`]),
    ...limitTexts(policy),
  ].join("; ");
}

function limitTexts({ max_calls: calls, max_sum: sum }: Limits): readonly string[] {
  const windowOf = ({ window }: { readonly window?: string }): string =>
    window === undefined ? "" : ` in ${window}`;
  return [
    ...(calls === undefined ? [] : [`at most ${calls.count} calls per ${calls.per}${windowOf(calls)}`]),
    ...(sum === undefined ? [] : [`${sum.of} of at most ${sum.most} per ${sum.per}${windowOf(sum)}`]),
  ];
}

function gateRows(definition: GateDefinition): DefinitionRows {
  const { action, rules, computed = {} } = definition;
  const limits = limitTexts(definition);
  const hasOutputs = rules.some(({ output }) => output !== undefined);
  const expressions = Object.entries(computed).map(([name, expression]) => `${name} = ${expression}`);
  return {
    columns: [
      fixed("rule"),
      fixed("tier"),
      fixed("severity"),
      flexible("when"),
      fixed("status"),
      ...(hasOutputs ? [flexible("output")] : []),
    ],
    rows: rules
      .toSorted((a, b) => b.severity - a.severity)
      .map(({ id, tier, severity, applies_when, when, status, suppresses = [], output }) => {
        const precondition = applies_when === undefined ? "" : ` (if ${applies_when})`;
        const suppressed = suppresses.length === 0 ? "" : `; suppresses ${suppresses.join(", ")}`;
        const cells = [id, tier, String(severity), `${when}${precondition}${suppressed}`, status];
        return hasOutputs ? [...cells, outputText(output)] : cells;
      }),
    fields: [
      ["action", gateKeyText(action)],
      ["computed", expressions.length === 0 ? undefined : expressions.join("; ")],
      ["limits", limits.length === 0 ? undefined : limits.join("; ")],
    ],
  };
}
