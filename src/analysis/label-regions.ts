import { alwaysOutranks, ranksAbove } from "./analyze-gate.js";
import type { Box } from "./box.js";
import { everything } from "./box.js";
import type { Truth } from "./dimension.js";
import type { Formula, WorkLimit } from "./formula.js";
import { product, regionOf } from "./formula.js";
import type {
  DecisionModel,
  GateModel,
  ModelCondition,
  PolicyModel,
  RoutingModel,
  RoutingRule,
  ScoredModel,
  ScoredModelRule,
} from "./model-decision.js";
import { answerContent } from "./model-decision.js";
import { schemaBounds } from "./schema-bounds.js";
import type { Space } from "./space.js";
import { defaultLabel } from "../definition/branches.js";
import { isLiteralOutput } from "../definition/outputs.js";

/** Inputs that may select a label. No input outside of all regions of a label selects it. */
export interface LabelRegion {
  /** Every input of the region is in one of these boxes, */
  readonly needed: readonly Box[];
  /** and in none of these. */
  readonly excluded: readonly Box[];
  /** Of the inputs that all these boxes treat alike, either all select the label or none. */
  readonly distinguished: readonly Box[];
}

interface Search {
  readonly space: Space;
  readonly limit: WorkLimit;
}

/** Returns where a label may be selected: that of a branch, a decision, a status or the id of a gate rule, or an outcome. */
export function labelRegions(model: DecisionModel, label: string, search: Search): readonly LabelRegion[] {
  switch (model.type) {
    case "routing":
      return routingRegions(model, label, search);
    case "scored":
      return scoredRegions(model, label, search);
    case "gate":
      return gateRegions(model, label, search);
    case "policy":
      return [policyRegion(model, label, search)];
  }
}

const boxesOf = (formula: Formula, truth: Truth, { space, limit }: Search): readonly Box[] =>
  regionOf(formula, truth, space, limit);

/** Returns the boxes that tell the results of conditions apart. */
const resultsOf = (conditions: readonly Pick<ModelCondition, "formula">[], search: Search): readonly Box[] =>
  conditions.flatMap(({ formula }) => [
    ...boxesOf(formula, "true", search),
    ...boxesOf(formula, "errored", search),
  ]);

/** Returns where conditions hold. */
const matchesOf = (conditions: readonly Pick<ModelCondition, "formula">[], search: Search): readonly Box[] =>
  conditions.flatMap(({ formula }) => boxesOf(formula, "true", search));

function routingRegions(model: RoutingModel, label: string, search: Search): readonly LabelRegion[] {
  const { definition, rules, policy, inputPresent } = model;
  const matched = (some: readonly RoutingRule[]): readonly Box[] => matchesOf(some, search);
  const errored = (some: readonly RoutingRule[]): readonly Box[] =>
    definition.on_error === "fail" ? some.flatMap(({ formula }) => boxesOf(formula, "errored", search)) : [];
  const withInput = inputPresent === undefined ? [everything] : boxesOf(inputPresent, "true", search);
  if (label === defaultLabel) {
    const deciding = policy === "weighted" ? rules.filter(({ each: { weight = 0 } }) => weight > 0) : rules;
    const unmatched = {
      needed: withInput,
      excluded: [...matched(deciding), ...errored(rules)],
      distinguished: [],
    };
    // Without its input, a decision takes the default.
    if (definition.input === undefined || definition.on_error === "fail") return [unmatched];
    const needed = inputPresent === undefined ? [everything] : boxesOf(inputPresent, "errored", search);
    return [unmatched, { needed, excluded: [], distinguished: [] }];
  }
  const order = policy === "priority" ? rules.toSorted((a, b) => priorityOf(a) - priorityOf(b)) : rules;
  const position = order.findIndex((each) => each.label === label);
  const rule = order[position];
  if (rule === undefined) return [];
  const earlier = order.slice(0, position);
  const others = order.filter((each) => each !== rule);
  // `binary` and `switch` evaluate no condition after the first match.
  const evaluated = definition.type === "binary" || definition.type === "switch" ? earlier : order;
  const region = (
    excluding: readonly RoutingRule[],
    distinguishing: readonly RoutingRule[] = [],
  ): LabelRegion => ({
    needed: product(withInput, boxesOf(rule.formula, "true", search), search.limit),
    excluded: [...matched(excluding), ...errored(evaluated)],
    distinguished: matched(distinguishing),
  });
  switch (policy) {
    case "first":
    case "priority":
      return [region(earlier)];
    case "unique":
      return [region(others)];
    case "any": {
      const later = others.filter((each) => !earlier.includes(each) && mayDisagree(each, rule));
      const isCertain = (each: RoutingRule): boolean => hasLiteralOutput(each) && hasLiteralOutput(rule);
      return [region([...earlier, ...later.filter(isCertain)], later)];
    }
    case "weighted":
      return rule.each.weight === 0 ? [] : [region([], order)];
    case "collect":
    case "rule_order":
    case "output_order":
      return [region([])];
  }
}

const priorityOf = ({ each }: RoutingRule): number => each.priority ?? 0;
const mayDisagree = (a: RoutingRule, b: RoutingRule): boolean =>
  answerContent(a.each) !== answerContent(b.each);
const hasLiteralOutput = ({ each: { output = null } }: RoutingRule): boolean => isLiteralOutput(output);

/** An evaluator votes by its first rule that matches. Other votes, or none, may lead to the decision, too. */
function scoredRegions(
  { definition, evaluators }: ScoredModel,
  label: string,
  search: Search,
): readonly LabelRegion[] {
  const { scoring, on_error } = definition;
  const resultsOfRules = (rules: readonly ScoredModelRule[]): readonly Box[] =>
    on_error === "fail" ? resultsOf(rules, search) : matchesOf(rules, search);
  const isWithoutRule =
    definition.evaluators.some(
      (each) => "custom" in each || ("static" in each && each.static.decision === label),
    ) ||
    (scoring?.strategy === "threshold" && scoring.fallback_decision === label);
  if (isWithoutRule)
    return [{ needed: [everything], excluded: [], distinguished: resultsOfRules(evaluators.flat()) }];
  return evaluators.flatMap((rules, at) => {
    const others = resultsOfRules(evaluators.filter((_, index) => index !== at).flat());
    return rules.flatMap((rule, position): readonly LabelRegion[] => {
      if (rule.rule.then.decision !== label) return [];
      const earlier = rules.slice(0, position);
      return [
        {
          needed: matchesOf([rule], search),
          excluded: matchesOf(earlier, search),
          distinguished: on_error === "fail" ? [...others, ...resultsOfRules(earlier)] : others,
        },
      ];
    });
  });
}

function gateRegions(
  { definition, rules, values }: GateModel,
  label: string,
  search: Search,
): readonly LabelRegion[] {
  const { max_calls, max_sum, context_schema = {} } = definition;
  const isLimited = max_calls !== undefined || max_sum !== undefined;
  const conditions = [...rules, ...values.map((formula) => ({ formula }))];
  const invalid = schemaBounds(context_schema, search.space);
  const named = rules.filter(({ rule }) => rule.id === label);
  const isStatus = named.length === 0;
  // Without any match, and with an error, a gate is YELLOW.
  if (isStatus && label === "YELLOW")
    return [
      { needed: [everything], excluded: [], distinguished: [...resultsOf(conditions, search), ...invalid] },
    ];
  // A used up limit makes GREEN RED.
  const statuses = label === "RED" && isLimited ? [label, "GREEN"] : [label];
  const deciding = isStatus ? rules.filter(({ rule }) => statuses.includes(rule.status)) : named;
  const isPermissive = isStatus && label !== "RED";
  const unevaluated = isPermissive
    ? [...conditions.flatMap(({ formula }) => boxesOf(formula, "errored", search)), ...invalid]
    : [];
  return deciding.map((each) => {
    const { rule } = each;
    const all = rules.map((other) => other.rule);
    const outranking = rules.filter((other) => alwaysOutranks(other.rule, rule, all));
    // Other rules matter only where they rank above it, or suppress one that does.
    const others = rules.filter(
      (other) =>
        other !== each &&
        !outranking.includes(other) &&
        (ranksAbove(other.rule, rule) || (other.rule.suppresses ?? []).length > 0),
    );
    return {
      needed: matchesOf([each], search),
      excluded: [...matchesOf(outranking, search), ...unevaluated],
      distinguished: matchesOf(others, search),
    };
  });
}

/** A product of more boxes than this is not multiplied by further conditions. */
const maxProduct = 500;

function policyRegion({ policies, overrides }: PolicyModel, label: string, search: Search): LabelRegion {
  const conditions = [...policies.flatMap((each) => each.conditions), ...overrides];
  switch (label) {
    case "allowed":
      return allowedRegion(policies, search);
    case "allowed_by_exception":
      return {
        needed: matchesOf(overrides, search),
        excluded: [],
        distinguished: resultsOf(conditions, search),
      };
    default:
      return { needed: [everything], excluded: [], distinguished: resultsOf(conditions, search) };
  }
}

/** All conditions must hold; those of a policy that may not be in effect only tell inputs apart. */
function allowedRegion(policies: PolicyModel["policies"], search: Search): LabelRegion {
  let needed: readonly Box[] = [everything];
  const others: ModelCondition[] = [];
  for (const { policy, conditions } of policies) {
    const isTimed = policy.effective_from !== undefined || policy.expires_at !== undefined;
    for (const condition of conditions) {
      if (isTimed || needed.length > maxProduct) others.push(condition);
      else needed = product(needed, matchesOf([condition], search), search.limit);
    }
  }
  return { needed, excluded: [], distinguished: resultsOf(others, search) };
}
