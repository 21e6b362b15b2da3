import { DecisionError } from "../errors.js";
import { Failure } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import { compileInput } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import { prepareFirstMatch } from "./first-match.js";
import { prepareRuleTable } from "./rule-table.js";
import type { Router } from "./router.js";
import type { Errored, Selection } from "./selection.js";
import { routeToDefault } from "./selection.js";
import { prepareWeighted } from "./weighted.js";

/** A definition made ready to be evaluated many times. */
export interface Prepared {
  readonly definition: Definition;
  readonly input: Template | undefined;
  readonly router: Router;
  /** Everything the answer depends on, as paths into the scope; `context` where it is the whole of it. */
  readonly reads: readonly string[];
}

/** The answer, before anybody has asked whether it may be acted on. */
export interface Evaluated extends Omit<Selection, "errors"> {
  readonly input_value: Json;
  readonly warnings: readonly string[];
}

export function prepare(definition: Definition): Prepared {
  const input = definition.input === undefined ? undefined : compileInput(definition.input);
  const router = prepareRouter(definition);
  return { definition, input, router, reads: readsOf(input, router) };
}

/** Chooses a branch; pure, so the same definition and scope always give the same answer. */
export function evaluate(prepared: Prepared, scope: Scope, strict = false): Evaluated {
  const { definition, input, router } = prepared;
  const value = input === undefined ? scope.context : input.evaluate(scope);
  const failsOnError = strict || definition.on_error === "fail";
  if (value instanceof Failure) return withoutInput(definition, value, failsOnError);

  const { context, facts, system } = scope;
  const selection = router.select(value, { context, input: value, facts, system });
  const { errors } = selection;
  if (failsOnError && errors.length > 0) {
    const reasons = errors.map((error) => describe(error));
    throw errored(definition.id, reasons);
  }
  const warnings = errors.map((error) => describe(error, ", so it did not match"));
  return evaluated(selection, value, warnings);
}

/** The value of the definition's input; `otherwise` where it cannot be evaluated. */
export function inputOf({ input }: Prepared, scope: Scope, otherwise: Json = null): Json {
  const value = input === undefined ? scope.context : input.evaluate(scope);
  return value instanceof Failure ? otherwise : value;
}

/** Field by field: copying objects whole is what an evaluation would spend most of its time on. */
function evaluated(selection: Selection, input_value: Json, warnings: readonly string[]): Evaluated {
  return {
    selected_targets: selection.selected_targets,
    selected_labels: selection.selected_labels,
    input_value,
    evaluation_details: selection.evaluation_details,
    rules_total: selection.rules_total,
    because: selection.because,
    failed_conditions: selection.failed_conditions,
    warnings,
  };
}

function prepareRouter(definition: Definition): Router {
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

/** Without an input nothing is asked and nothing is rolled. */
function withoutInput(definition: Definition, failure: Failure, failsOnError: boolean): Evaluated {
  const reason = "the input could not be evaluated";
  if (failsOnError) throw errored(definition.id, [`${reason}: ${failure.message}`]);
  const selection = routeToDefault(definition.default.target, {
    details: {},
    because: [reason],
    failed: [],
    errors: [],
  });
  return evaluated(selection, null, [`${reason}, so the default was taken: ${failure.message}`]);
}

function describe({ branch, failure }: Errored, consequence = ""): string {
  return `\`${branch.label}\` could not be evaluated${consequence}: ${failure.message}`;
}

function few(reasons: readonly string[]): readonly string[] {
  return reasons.length <= 3 ? reasons : [...reasons.slice(0, 3), `and ${reasons.length - 3} more`];
}

function errored(id: string, errors: readonly string[]): DecisionError {
  return new DecisionError("condition_errored", `\`${id}\`: ${few(errors).join("; ")}`, {
    hint: "give the missing values, or ask for them with exists(…) or get(…)",
    details: { decision_id: id, errors },
  });
}

/** `input` stands for what its own expression reads. */
function readsOf(input: Template | undefined, router: Router): readonly string[] {
  const conditions = router.branches.flatMap((branch) => branch.condition?.reads ?? []);
  const beside = conditions.filter((path) => path !== "input" && !path.startsWith("input."));
  return [...new Set([...(input?.reads ?? ["context"]), ...beside])];
}
