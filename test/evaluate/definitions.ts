import type { Evaluated } from "../../src/evaluate/evaluate.js";
import { evaluate } from "../../src/evaluate/evaluate.js";
import { prepare } from "../../src/evaluate/prepare.js";
import type {
  Case,
  Definition,
  FirstMatchDefinition,
  RuleTableDefinition,
  WeightedDefinition,
} from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import type { ConditionDetail, RollDetails } from "../../src/model/result.js";
import type { Scope } from "../../src/model/scope.js";

type Extra<T extends Definition> = Partial<Omit<T, "type" | "id" | "default">>;

const common = { id: "decision-under-test", default: { target: "stage-default" } } as const;

export function switchOn(cases: readonly Case[], extra: Extra<FirstMatchDefinition> = {}): Definition {
  return { ...common, type: "switch", ...extra, cases };
}

export function tableOf(rules: readonly Case[], extra: Extra<RuleTableDefinition> = {}): RuleTableDefinition {
  return { ...common, type: "rule_table", ...extra, rules };
}

export function weightedOf(cases: readonly Case[], extra: Extra<WeightedDefinition> = {}): Definition {
  return { ...common, type: "weighted", ...extra, cases };
}

/** A rule with the condition for its label, so that a test can tell rules apart by what they ask. */
export function rule(condition: string, extra: Partial<Case> = {}): Case {
  return { condition, target: `stage-${condition}`, label: condition, ...extra };
}

export function scopeOf(context: JsonObject): Scope {
  return {
    context,
    input: undefined,
    facts: {},
    system: { request_time: "2026-03-02T12:00:00.000000Z" },
  };
}

/** What is told to the outside of an answer. */
export type Told = Pick<Evaluated, (typeof told)[number]>;

const told = [
  "selected_targets",
  "selected_labels",
  "input_value",
  "evaluation_details",
  "rules_total",
  "because",
  "failed_conditions",
  "warnings",
] as const satisfies readonly (keyof Evaluated)[];

export function decideOn(
  definition: Definition,
  context: JsonObject = {},
  options: { readonly strict?: boolean } = {},
): Told {
  const evaluated = evaluate(prepare(definition), scopeOf(context), options.strict);
  return Object.fromEntries(told.map((field) => [field, evaluated[field]])) as unknown as Told;
}

export function detailOf(evaluated: Told, label: string): ConditionDetail | undefined {
  return (evaluated.evaluation_details as Readonly<Record<string, ConditionDetail>>)[label];
}

export function rollOf(evaluated: Told): RollDetails {
  return evaluated.evaluation_details as RollDetails;
}
