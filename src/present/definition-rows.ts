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
  WrittenFrame,
} from "../model/definition.js";
import { isObject } from "../expression/equal.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Column } from "./grid.js";
import { oneLine } from "../text.js";

interface DefinitionTable {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

/** The cases, rules or policies of a definition as a table. */
export interface DefinitionRows extends DefinitionTable {
  /** What rules answer with, in addition to the columns. */
  readonly details?: DefinitionTable;
  /** Fields to show above the table. */
  readonly fields: readonly (readonly [name: string, value: string | undefined])[];
}

export function definitionRows(definition: Definition): DefinitionRows {
  const { rows, details, ...others } = rowsOf(definition);
  const printed = (cells: DefinitionTable["rows"]): DefinitionTable["rows"] =>
    cells.map((row) => row.map(oneLine));
  return {
    ...others,
    rows: printed(rows),
    ...(details !== undefined && { details: { ...details, rows: printed(details.rows) } }),
  };
}

/** A table of the rows that say more than a name, with the columns that are not empty; undefined without any. */
function detailsOf(
  titles: readonly string[],
  rows: DefinitionTable["rows"],
): { readonly details?: DefinitionTable } {
  const isUsed = titles.map((_, index) => rows.some((row) => row[index] !== ""));
  const used = <Item>(items: readonly Item[]): readonly Item[] => items.filter((_, index) => isUsed[index]);
  const said = rows.filter(([, ...cells]) => cells.some((cell) => cell !== ""));
  if (said.length === 0) return {};
  const [first = "", ...others] = used(titles);
  return { details: { columns: [fixed(first), ...others.map(flexible)], rows: said.map(used) } };
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
    ...detailsOf(
      ["policy", "reason", "deny reason"],
      policies.map((policy) => [
        policy.name,
        policy.reason ?? "",
        ("deny_reason" in policy ? policy.deny_reason : undefined) ?? "",
      ]),
    ),
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
  const { action, rules: fileOrder, computed = {}, context_schema: schema } = definition;
  const rules = fileOrder.toSorted((a, b) => b.severity - a.severity);
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
    rows: rules.map(({ id, tier, severity, applies_when, when, status, suppresses = [], output }) => {
      const precondition = applies_when === undefined ? "" : ` (if ${applies_when})`;
      const suppressed = suppresses.length === 0 ? "" : `; suppresses ${suppresses.join(", ")}`;
      const cells = [id, tier, String(severity), `${when}${precondition}${suppressed}`, status];
      return hasOutputs ? [...cells, outputText(output)] : cells;
    }),
    fields: [
      ["action", gateKeyText(action)],
      ["schema", schema && schemaText(schema)],
      ["computed", expressions.length === 0 ? undefined : expressions.join("; ")],
      ["limits", limits.length === 0 ? undefined : limits.join("; ")],
    ],
    ...detailsOf(
      ["rule", "reason", "work frame"],
      rules.map(({ id, reason = "", work_frame: frame = {} }) => [id, reason, frameText(frame)]),
    ),
  };
}

/** Describes the top level of a JSON Schema: the names of the properties, with their types. */
function schemaText(schema: JsonObject): string {
  const { properties, required } = schema;
  if (!isObject(properties)) return JSON.stringify(schema);
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties)
    .map(([name, property]) => {
      const type = isObject(property) ? [property["type"] ?? []].flat().map(outputText).join(" or ") : "";
      const notes = [type, names.includes(name) ? "" : "optional"].filter((note) => note !== "");
      return notes.length === 0 ? name : `${name} (${notes.join(", ")})`;
    })
    .join(", ");
}

/** Describes a work frame, with the names that results have. */
function frameText(frame: WrittenFrame): string {
  const parts: readonly (readonly [name: string, value: Json | undefined])[] = [
    ["mode", frame.mode],
    ["next", frame.next_action],
    ["owner", frame.next_human_owner],
    ["allowed", frame.allowed_actions],
    ["forbidden", frame.forbidden_actions],
    ["evidence", frame.missing_evidence],
    ["required", frame.required_output],
  ];
  return parts
    .flatMap(([name, value]) =>
      value === undefined
        ? []
        : [`${name} ${Array.isArray(value) ? value.map(outputText).join(", ") : outputText(value)}`],
    )
    .join("; ");
}
