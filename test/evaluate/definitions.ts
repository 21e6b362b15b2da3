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

type Extra<T extends Definition> = Partial<Omit<T, "type" | "id">>;

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

/** A rule whose label is its condition. */
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

/** The public fields of an answer. */
export type PublicFields = Pick<Evaluated, (typeof publicFields)[number]>;

const publicFields = [
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
): PublicFields {
  const evaluated = evaluate(prepare(definition), scopeOf(context), options.strict);
  return Object.fromEntries(
    publicFields.map((field) => [field, evaluated[field]]),
  ) as unknown as PublicFields;
}

export function detailOf(evaluated: PublicFields, label: string): ConditionDetail | undefined {
  return (evaluated.evaluation_details as Readonly<Record<string, ConditionDetail>>)[label];
}

export function rollOf(evaluated: PublicFields): RollDetails {
  return evaluated.evaluation_details as RollDetails;
}
