import { Failure } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import type { RoutingDefinition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Judge, Judged } from "./evaluated.js";
import { prepareFirstMatch } from "./first-match.js";
import { readsWith } from "./reads.js";
import type { Router } from "./router.js";
import { prepareRuleTable } from "./rule-table.js";
import type { Errored, Selection } from "./selection.js";
import { routeToDefault } from "./selection.js";
import { prepareWeighted } from "./weighted.js";

/** The types that answer with where to go. */
export function prepareRouting(definition: RoutingDefinition, input: Template | undefined): Judge {
  const router = prepareRouter(definition);
  const asks = router.branches.flatMap((branch) => branch.condition?.reads ?? []);
  return {
    reads: readsWith(input, asks),
    asks,
    judge(scope) {
      const value = input === undefined ? scope.context : input.evaluate(scope);
      if (value instanceof Failure) return withoutInput(definition, value);
      const { context, facts, system } = scope;
      const selection = router.select(value, { context, input: value, facts, system });
      const { errors } = selection;
      if (errors.length === 0) return judged(selection, value, none, none);
      return judged(
        selection,
        value,
        errors.map((error) => describe(error, ", so it did not match")),
        errors.map((error) => describe(error)),
      );
    },
  };
}

const none: readonly string[] = Object.freeze([]);

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

/** Field by field: copying objects whole is what an evaluation would spend most of its time on. */
function judged(
  selection: Selection,
  input_value: Json,
  warnings: readonly string[],
  errors: readonly string[],
): Judged {
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

/** Without an input nothing is asked and nothing is rolled. */
function withoutInput(definition: RoutingDefinition, { message }: Failure): Judged {
  const reason = "the input could not be evaluated";
  const findings = { details: {}, because: [reason], failed: [], errors: [] };
  const selection = routeToDefault(definition.default.target, findings);
  const warning = `${reason}, so the default was taken: ${message}`;
  return judged(selection, null, [warning], [`${reason}: ${message}`]);
}

function describe({ branch, failure }: Errored, consequence = ""): string {
  return `\`${branch.label}\` could not be evaluated${consequence}: ${failure.message}`;
}
