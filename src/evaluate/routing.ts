import type { Branch, Router, RouterParts, ErroredBranch, Selection } from "./branch.js";
import { toConditionDetail, evaluateBranch, prepareBranches, prepareDefault, noneMatched } from "./branch.js";
import type { Evaluated, PreparedType, EvaluatedWithErrors } from "./evaluate.js";
import { readsWithInput } from "./evaluate.js";
import type { PreparedOutput } from "./outputs.js";
import { aggregateOutputs, defaultAggregate, outputValue, prepareOutput } from "./outputs.js";
import { prepareRuleTable } from "./rule-table.js";
import { prepareWeighted } from "./weighted.js";
import { maskedPathTest } from "../definition/definition-reads.js";
import { declaresOutputs } from "../definition/outputs.js";
import { Failure } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import type { RoutingDefinition, FirstMatchDefinition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { ConditionDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";

/** `binary`, `switch`, `weighted` and `rule_table`: the answer is a target to route to, an output, or both. */
export function prepareRouting(
  definition: RoutingDefinition,
  input: Template | undefined,
  masks: readonly string[] = definition.logging?.mask ?? [],
): PreparedType {
  const isMasked = maskedPathTest(input, masks);
  const prepare = (written: Json): PreparedOutput => prepareOutput(written, isMasked);
  const fallback = prepareDefault(definition.default, prepare);
  const router = prepareRouter(definition, { fallback, prepareOutput: prepare });
  const { branches } = router;
  const readsByCondition = new Map(
    branches.map(({ text, condition }) => [text, condition?.reads ?? none] as const),
  );
  const outputReads = [...branches, fallback].flatMap(({ output }) => output?.reads ?? none);
  const conditionReads = [...[...readsByCondition.values()].flat(), ...outputReads];
  const answer = prepareAnswer(definition, fallback);
  return {
    reads: readsWithInput(input, conditionReads),
    conditionReads,
    inputsByCondition: new Map(branches.map(({ text, condition }) => [text, condition?.inputs ?? none])),
    inputsRead: prepareInputsRead(definition, [...branches, fallback]),
    evaluate(scope) {
      const { context, facts, system } = scope;
      const value = input === undefined ? context : input.evaluate(scope);
      if (value instanceof Failure) {
        const withoutInput = { context, input: undefined, facts, system };
        return answer(selectWithoutInput(fallback), withoutInput, inputFailure(value));
      }
      const withInput = { context, input: value, facts, system };
      return answer(router.select(value, withInput), withInput, { value, warnings: none, errors: none });
    },
  };
}

const none: readonly string[] = Object.freeze([]);

/** The value of the input, and what is to be said about it. */
interface InputValue {
  readonly value: Json;
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
}

const withoutInputReason = "the input could not be evaluated";

const inputFailure = ({ message }: Failure): InputValue => ({
  value: null,
  warnings: [`${withoutInputReason}, so the default was taken: ${message}`],
  errors: [`${withoutInputReason}: ${message}`],
});

/** Routes to the default without evaluating conditions or rolling. */
const selectWithoutInput = (fallback: Branch): Selection => ({
  branches: [fallback],
  details: {},
  because: [withoutInputReason],
  failed: [],
  errors: [],
});

type ToAnswer = (selection: Selection, scope: Scope, input: InputValue) => EvaluatedWithErrors;

/** Turns selections into answers, field by field: spreading would take most of the time of an evaluation. */
function prepareAnswer(definition: RoutingDefinition, fallback: Branch): ToAnswer {
  const hasOutputs = declaresOutputs(definition);
  return ({ branches, details, rulesTotal, because, failed, errors }, scope, input) => {
    const hasErrors = errors.length > 0;
    const answered: EvaluatedWithErrors = {
      selected_targets: targetsOf(branches),
      selected_labels: branches.map(({ label }) => label),
      input_value: input.value,
      evaluation_details: details,
      rules_total: rulesTotal,
      because,
      failed_conditions: failed,
      warnings: hasErrors
        ? errors.map((error) => describeError(error, ", so it did not match"))
        : input.warnings,
      errors: hasErrors ? errors.map((error) => describeError(error)) : input.errors,
    };
    return hasOutputs ? { ...answered, ...outputsFor(definition, { branches, fallback }, scope) } : answered;
  };
}

function targetsOf(branches: readonly Branch[]): readonly string[] {
  const targets: string[] = [];
  for (const { target } of branches) if (target !== undefined) targets.push(target);
  return targets;
}

interface Selected {
  readonly branches: readonly Branch[];
  readonly fallback: Branch;
}

/** Evaluates the outputs of the selected branches, and combines them where the definition says so. */
function outputsFor(
  definition: RoutingDefinition,
  { branches, fallback }: Selected,
  scope: Scope,
): Pick<Evaluated, "outputs" | "aggregate"> {
  const { id } = definition;
  const values = branches.map((branch) => outputValue(branch, scope, id));
  if (definition.type !== "rule_table" || definition.aggregate === undefined) return { outputs: values };
  const isDefault = branches[0] === fallback;
  const combine = definition.aggregate;
  const value = isDefault
    ? defaultAggregate(fallback, values[0] ?? null, id)
    : aggregateOutputs(combine, branches, { values, id });
  return { outputs: [value], aggregate: { function: combine, value, of: isDefault ? [] : values } };
}

/**
 * `binary` and `switch` end with the first match; the others evaluate every condition. Of the outputs, only those of
 * the selected branches are evaluated.
 */
function prepareInputsRead(
  { type }: RoutingDefinition,
  branches: readonly Branch[],
): PreparedType["inputsRead"] {
  const all = branches.map(({ condition }) => condition?.inputs ?? none);
  const evaluated: (readonly (readonly string[])[])[] = [];
  const outputs = new Map(branches.flatMap(({ label, output }) => (output ? [[label, output.inputs]] : [])));
  return ({ evaluation_details: details, selected_labels: labels }) => {
    const evaluatesAll = type === "weighted" || type === "rule_table";
    const count = evaluatesAll ? all.length : Object.keys(details).length;
    const conditions = (evaluated[count] ??= all.slice(0, count));
    return outputs.size === 0
      ? conditions
      : [...conditions, ...labels.map((label) => outputs.get(label) ?? none)];
  };
}

function prepareRouter(definition: RoutingDefinition, parts: RouterParts): Router {
  switch (definition.type) {
    case "binary":
    case "switch":
      return prepareFirstMatch(definition, parts);
    case "weighted":
      return prepareWeighted(definition, parts);
    case "rule_table":
      return prepareRuleTable(definition, parts);
  }
}

function describeError({ branch, failure }: ErroredBranch, consequence = ""): string {
  return `\`${branch.label}\` could not be evaluated${consequence}: ${failure.message}`;
}

/** `binary` and `switch`: selects the first case that matches; the cases after it are not evaluated. */
function prepareFirstMatch(
  definition: FirstMatchDefinition,
  { fallback, prepareOutput: prepare }: RouterParts,
): Router {
  const branches = prepareBranches(definition.cases, prepare);
  return {
    branches,
    select(_input, scope: Scope) {
      const details: Record<string, ConditionDetail> = {};
      const failed: string[] = [];
      const errors: ErroredBranch[] = [];
      for (const branch of branches) {
        const result = evaluateBranch(branch, scope);
        details[branch.label] = toConditionDetail(branch, result);
        if (result === true) return { branches: [branch], details, because: [branch.text], failed, errors };
        failed.push(branch.text);
        if (result instanceof Failure) errors.push({ branch, failure: result });
      }
      return { branches: [fallback], details, because: [noneMatched], failed, errors };
    },
  };
}
