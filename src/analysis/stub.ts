import type { Truth } from "./dimension.js";
import { partKey, withoutFields } from "./fields.js";
import type { Formula } from "./formula.js";
import type { DecisionModel, RoutingModel, RoutingRule } from "./model-decision.js";
import { answerContent, inputKey } from "./model-decision.js";
import { answerKey, Trial } from "./trial.js";
import { isLiteralOutput, outputsOf } from "../definition/outputs.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import type { PolicyNeeds } from "../evaluate/policy/policy-facts.js";
import type { Definition, Policy } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { EvaluationDetails, PolicyDetail } from "../model/result.js";

type TruthOf = (formula: Formula) => Truth;

/**
 * Returns a text that is equal for equal answers, given the results of the conditions. The answer comes from evaluating
 * a definition whose conditions are constants, and whose outputs are their templates. With `hasReasons` the text is equal
 * only if the reasons for the answers are equal, too.
 */
export function stubbedAnswer(model: DecisionModel, truthOf: TruthOf, hasReasons: boolean): string {
  switch (model.type) {
    case "routing":
      return routingAnswer(model, truthOf);
    case "scored": {
      const evaluators = model.definition.evaluators.map((evaluator, at) => {
        if ("static" in evaluator) return { ...evaluator, static: quoted(evaluator.static) };
        if (!("rules" in evaluator)) return evaluator;
        const rules = evaluator.rules.map(({ id, then }, index) => ({
          id,
          when: constantText(truthOf(model.evaluators[at]?.[index]?.formula ?? alwaysFalse)),
          then: quoted(then),
        }));
        return { ...evaluator, rules };
      });
      return answerOf({ ...stripped(model.definition), evaluators }, { hasReasons });
    }
    case "gate": {
      const rules = model.rules.map(({ rule, formula }) => ({
        ...quoted(withoutFields(rule, ["applies_when"])),
        when: constantText(truthOf(formula)),
      }));
      const isErrored = model.values.some((formula) => truthOf(formula) === "errored");
      const computed = isErrored ? { errored: erroredText } : {};
      return answerOf({ ...stripped(model.definition), computed, rules }, { hasReasons });
    }
    case "policy": {
      const truths = new Map<string, readonly Truth[]>([
        ...model.policies.map(
          ({ label, conditions }) => [label, conditions.map(({ formula }) => truthOf(formula))] as const,
        ),
        ...model.overrides.map(({ label, formula }) => [label, [truthOf(formula)]] as const),
      ]);
      const policies = (model.definition.policies ?? []).map((policy) =>
        stubbedPolicy(policy, truths.get(policy.name) ?? []),
      );
      const isTimed = (model.definition.policies ?? []).some(
        ({ effective_from, expires_at }) => effective_from !== undefined || expires_at !== undefined,
      );
      return answerOf({ ...stripped(model.definition), policies }, { hasReasons, isTimed });
    }
  }
}

const alwaysFalse: Formula = { type: "constant", truth: "false" };
const erroredText = "1 / 0";

function constantText(truth: Truth): string {
  return truth === "errored" ? `${erroredText} == 0` : truth;
}

function stubbedPolicy(policy: Policy, truths: readonly Truth[]): Policy {
  if (policy.overrides !== undefined) {
    const { params } = policy;
    return {
      ...withoutFields(policy, ["effective_from", "expires_at", "reason"]),
      ...(params !== undefined && { params: quoted(params) }),
      when: constantText(truths[0] ?? "true"),
    };
  }
  const conditions = (policy.conditions ?? []).map(({ name }, index) => ({
    name,
    expression: constantText(truths[index] ?? "true"),
  }));
  return { ...withoutFields(policy, ["effective_from", "expires_at", "reason", "deny_reason"]), conditions };
}

/** Leaves out what depends on more than the conditions. */
function stripped<Type extends Definition>(definition: Type): Type {
  const dependent: readonly string[] = [
    "input",
    "enrich",
    "logging",
    "context_schema",
    "max_calls",
    "max_sum",
  ];
  return withoutFields(definition, dependent) as Type;
}

/** Writes templates so that they stand for themselves. */
function quoted<Value>(value: Value): Value {
  if (typeof value === "string") return value.replaceAll("{{", "{ {").replaceAll("${", "$ {") as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly unknown[]).map(quoted) as Value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, quoted(each)])) as Value;
}

interface AnswerOptions {
  readonly hasReasons?: boolean;
  /** Whether the answer depends on the time. */
  readonly isTimed?: boolean;
}

function answerOf(
  definition: Definition,
  { hasReasons = false, isTimed = false }: AnswerOptions = {},
): string {
  const trial = new Trial(definition);
  const answer = trial.run({});
  const { evaluated } = answer;
  // The answer may depend on votes, earlier calls and the time, too: then every verdict must be equal.
  const { needs, customEvaluators } = trial.prepared;
  const dependsOnFacts = customEvaluators !== undefined || isTimed || dependsOnCalls(needs);
  if (evaluated === undefined || !(hasReasons || dependsOnFacts)) return answerKey(answer);
  return `${answerKey(answer)} ${partKey(verdictsOf(evaluated, hasReasons))}`;
}

const dependsOnCalls = (needs: PolicyNeeds | undefined): boolean =>
  needs !== undefined &&
  (needs.requires.length > 0 ||
    needs.reads.length > 0 ||
    needs.limits.length > 0 ||
    needs.uses.some(({ most }) => most !== undefined));

function verdictsOf({ outcome, evaluation_details }: Evaluated, hasReasons: boolean): unknown {
  switch (outcome?.type) {
    case undefined:
      return null;
    case "scored":
      return outcome.evaluations;
    case "gate":
      return [outcome.decision_metadata.matched_rules, outcome.decision_metadata.aggregation];
    case "policy":
      return policyVerdicts(evaluation_details, hasReasons);
  }
}

/** The results of policies, without their texts. The first condition that fails is the reason for a denial. */
const policyVerdicts = (details: EvaluationDetails, hasReasons: boolean): readonly Json[] =>
  Object.entries(details as Readonly<Record<string, PolicyDetail>>).map(
    ([name, { result, overridden_by = null, conditions }]) => [
      name,
      result,
      overridden_by,
      hasReasons ? conditions.map((each) => [each.name, each.result]) : null,
    ],
  );

function routingAnswer(model: RoutingModel, truthOf: TruthOf): string {
  const { definition, rules, inputPresent } = model;
  const hasInput = inputPresent === undefined || truthOf(inputPresent) === "true";
  // Without an input no rule matches, or the decision fails, as it does for an error in a condition.
  const withoutInput: Truth = definition.on_error === "fail" ? "errored" : "false";
  const truths = rules.map(({ formula }) => (hasInput ? truthOf(formula) : withoutInput));
  const selected = selectedRules(
    model,
    rules.filter((_, index) => truths[index] === "true"),
  );
  const isDrawn = definition.type === "weighted" && selected.length > 1;
  if (!isDrawn && outputsOf(definition).every(({ output }) => isLiteralOutput(output))) {
    const stubbed = rules.map(({ each }, index) => ({
      ...each,
      condition: constantText(truths[index] ?? "false"),
    }));
    const constant = stripped(definition);
    return constant.type === "rule_table"
      ? answerOf({ ...withoutFields(constant, ["cases"]), rules: stubbed })
      : answerOf({ ...constant, cases: stubbed });
  }
  if (selected === "violation") return selected;
  const last = definition.type === "rule_table" || definition.type === "weighted" ? undefined : selected[0];
  const evaluated = last === undefined ? truths : truths.slice(0, rules.indexOf(last));
  if (definition.on_error === "fail" && evaluated.includes("errored")) return "error";
  if (selected.length === 0) return `default ${answerContent(definition.default)}`;
  const answers = selected.map(({ label, each }) => `${JSON.stringify(label)} ${answerContent(each)}`);
  return partKey([...answers, ...combination(model, selected)]);
}

/** The rules that are selected, or drawn from. */
function selectedRules(
  { policy }: RoutingModel,
  matched: readonly RoutingRule[],
): readonly RoutingRule[] | "violation" {
  const priorityOf = ({ each }: RoutingRule): number => each.priority ?? 0;
  switch (policy) {
    case "first":
      return matched.slice(0, 1);
    case "priority":
      return matched.toSorted((a, b) => priorityOf(a) - priorityOf(b)).slice(0, 1);
    case "unique":
      return matched.length > 1 ? "violation" : matched;
    case "any":
      return new Set(matched.map(({ each }) => answerContent(each))).size > 1
        ? "violation"
        : matched.slice(0, 1);
    case "weighted":
      return matched.filter(({ each }) => (each.weight ?? 0) > 0);
    case "collect":
    case "rule_order":
    case "output_order":
      return matched;
  }
}

/** How several branches become one answer. */
function combination(
  { definition, policy }: RoutingModel,
  selected: readonly RoutingRule[],
): readonly string[] {
  if (definition.type === "weighted") {
    const { salt = null } = definition;
    const isCertain = selected.length === 1;
    return isCertain
      ? []
      : [partKey([inputKey(definition), salt]), ...selected.map(({ each }) => String(each.weight))];
  }
  if (definition.type !== "rule_table") return [];
  const { aggregate = null, output_values = null } = definition;
  const order = policy === "output_order" ? output_values : null;
  return aggregate === null && order === null ? [] : [partKey([aggregate, order])];
}
