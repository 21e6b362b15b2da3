import type { Branch, Router, ErroredBranch, Selection } from "./branch.js";
import {
  routeToDefault,
  toConditionDetail,
  evaluateBranch,
  prepareBranches,
  noneMatched,
  routeTo,
} from "./branch.js";
import type { PreparedType, EvaluatedWithErrors } from "./evaluate.js";
import { readsWithInput } from "./evaluate.js";
import { prepareRuleTable } from "./rule-table.js";
import { prepareWeighted } from "./weighted.js";
import { Failure } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import type { RoutingDefinition, FirstMatchDefinition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { ConditionDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";

/** `binary`, `switch`, `weighted` and `rule_table`: the answer is a target to route to. */
export function prepareRouting(definition: RoutingDefinition, input: Template | undefined): PreparedType {
  const router = prepareRouter(definition);
  const { branches } = router;
  const readsByCondition = new Map(
    branches.map(({ text, condition }) => [text, condition?.reads ?? none] as const),
  );
  const conditionReads = [...readsByCondition.values()].flat();
  return {
    reads: readsWithInput(input, conditionReads),
    conditionReads,
    inputsByCondition: new Map(branches.map(({ text, condition }) => [text, condition?.inputs ?? none])),
    inputsRead: prepareInputsRead(definition, branches),
    evaluate(scope) {
      const value = input === undefined ? scope.context : input.evaluate(scope);
      if (value instanceof Failure) return routeWithoutInput(definition, value);
      const { context, facts, system } = scope;
      const selection = router.select(value, { context, input: value, facts, system });
      const { errors } = selection;
      if (errors.length === 0) return toEvaluated(selection, value, none, none);
      return toEvaluated(
        selection,
        value,
        errors.map((error) => describeError(error, ", so it did not match")),
        errors.map((error) => describeError(error)),
      );
    },
  };
}

const none: readonly string[] = Object.freeze([]);

/** `binary` and `switch` end with the first match; the others evaluate every condition. */
function prepareInputsRead(
  { type }: RoutingDefinition,
  branches: readonly Branch[],
): PreparedType["inputsRead"] {
  const all = branches.map(({ condition }) => condition?.inputs ?? none);
  if (type === "weighted" || type === "rule_table") return () => all;
  const evaluated: (readonly (readonly string[])[])[] = [];
  return ({ evaluation_details: details }) => {
    const count = Object.keys(details).length;
    return (evaluated[count] ??= all.slice(0, count));
  };
}

function prepareRouter(definition: RoutingDefinition): Router {
  switch (definition.type) {
    case "binary":
    case "switch":
      return prepareFirstMatch(definition);
    case "weighted":
      return prepareWeighted(definition);
    case "rule_table":
      return prepareRuleTable(definition);
  }
}

/** Copies field by field: spreading would take most of the time of an evaluation. */
function toEvaluated(
  selection: Selection,
  input_value: Json,
  warnings: readonly string[],
  errors: readonly string[],
): EvaluatedWithErrors {
  return {
    selected_targets: selection.selected_targets,
    selected_labels: selection.selected_labels,
    input_value,
    evaluation_details: selection.evaluation_details,
    rules_total: selection.rules_total,
    because: selection.because,
    failed_conditions: selection.failed_conditions,
    warnings,
    errors,
  };
}

/** Routes to the default without evaluating conditions or rolling. */
function routeWithoutInput(definition: RoutingDefinition, { message }: Failure): EvaluatedWithErrors {
  const reason = "the input could not be evaluated";
  const findings = { details: {}, because: [reason], failed: [], errors: [] };
  const selection = routeToDefault(definition.default.target, findings);
  const warning = `${reason}, so the default was taken: ${message}`;
  return toEvaluated(selection, null, [warning], [`${reason}: ${message}`]);
}

function describeError({ branch, failure }: ErroredBranch, consequence = ""): string {
  return `\`${branch.label}\` could not be evaluated${consequence}: ${failure.message}`;
}

/** `binary` and `switch`: selects the first case that matches; the cases after it are not evaluated. */
function prepareFirstMatch(definition: FirstMatchDefinition): Router {
  const branches = prepareBranches(definition.cases);
  const fallback = definition.default.target;
  return {
    branches,
    select(_input, scope: Scope) {
      const details: Record<string, ConditionDetail> = {};
      const failed: string[] = [];
      const errors: ErroredBranch[] = [];
      for (const branch of branches) {
        const result = evaluateBranch(branch, scope);
        details[branch.label] = toConditionDetail(branch, result);
        if (result === true) return routeTo([branch], { details, because: [branch.text], failed, errors });
        failed.push(branch.text);
        if (result instanceof Failure) errors.push({ branch, failure: result });
      }
      return routeToDefault(fallback, { details, because: [noneMatched], failed, errors });
    },
  };
}
