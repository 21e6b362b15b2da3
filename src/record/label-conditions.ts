import { denialOf } from "./explain-call.js";
import { maskMarker } from "./mask.js";
import type { RecordedValues } from "./recorded-values.js";
import { conditionValueReader, pathValueReader } from "./recorded-values.js";
import { casesOf, labelsOf } from "../definition/branches.js";
import { isDenialPath } from "../definition/definition-reads.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { compute, prepareComputed, undefinedValues } from "../evaluate/gate/gate.js";
import { compileRuleCondition } from "../evaluate/scored/evaluator.js";
import { Failure, typeName } from "../expression/failure.js";
import { interpret } from "../expression/interpret.js";
import { nodeText } from "../expression/node-text.js";
import { compileRule } from "../expression/rule/compile-rule.js";
import type { Node } from "../expression/syntax.js";
import { conjunctsOf, readsOf } from "../expression/syntax.js";
import { compileCondition } from "../expression/template.js";
import type {
  BasePolicy,
  Definition,
  PolicyDefinition,
  RuleCondition,
  ScoredRule,
} from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { EvaluationDetails, NamedCondition, PolicyDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";

/** A part of the condition of a label; all parts must hold. */
export interface LabelCondition extends RecordedValues {
  /** The branch, rule, policy or override that it belongs to. */
  readonly label: string;
  readonly text: string;
  /** Null: it could not be evaluated. */
  readonly result: boolean | null;
  readonly error?: string;
}

export interface LabelQuestion {
  readonly record: DecisionRecord;
  readonly prepared: Prepared;
  /** With the overrides of other decisions. */
  readonly definition: Definition;
  readonly scope: Scope;
  /** The details of the answer. */
  readonly details: EvaluationDetails;
}

interface ConditionContext {
  readonly record: DecisionRecord;
  readonly definition: Definition;
  /** With the input and computed values. */
  readonly scope: Scope;
}

/**
 * Returns the conditions under which a label is chosen, each divided into its parts, with their results and the values
 * that they read.
 */
export function labelConditions(
  label: string,
  { record, prepared, definition, scope, details }: LabelQuestion,
): readonly LabelCondition[] {
  const context: ConditionContext = { record, definition, scope: conditionScope(prepared, scope) };
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table": {
      const cases = casesOf(definition).map(({ each }) => each);
      const { condition = "" } = cases[labelsOf(cases).indexOf(label)] ?? {};
      return partsOf(label, condition, context);
    }
    case "scored":
      return definition.evaluators.flatMap((evaluator) => {
        if (!("rules" in evaluator)) return [];
        const voting = evaluator.rules.filter(({ then }) => then.decision === label);
        return voting.flatMap((rule) => rulePartsOf(`${evaluator.name} / ${rule.id}`, rule, context));
      });
    case "gate":
      return definition.rules
        .filter(({ id, status }) => id === label || status === label)
        .flatMap(({ id, applies_when = "", when }) => [
          ...partsOf(id, applies_when, context),
          ...partsOf(id, when, context),
        ]);
    case "policy":
      return policyPartsOf(label, definition, {
        context,
        details: details as Readonly<Record<string, PolicyDetail>>,
      });
  }
}

/** Returns the scope in which conditions are evaluated. */
function conditionScope({ definition, input }: Prepared, scope: Scope): Scope {
  const computed = definition.type === "gate" ? prepareComputed(definition.computed) : [];
  const withoutValues = { ...scope, computed: undefinedValues(computed) as JsonObject };
  const value = input === undefined ? scope.context : input.evaluate(withoutValues);
  return compute(computed, { ...scope, input: value instanceof Failure ? undefined : value }, []);
}

/** Divides a condition at its top-level `and`. An empty one has no parts: it always holds. */
function partsOf(
  label: string,
  condition: string,
  { record, definition, scope }: ConditionContext,
): readonly LabelCondition[] {
  if (condition.trim() === "") return [];
  const { tree } = compileCondition(condition);
  const parts = conjunctsOf(tree);
  // Computed values of a gate are shown by the paths behind them.
  const read = conditionValueReader(
    record,
    definition,
    definition.type === "policy" ? scope.computed : undefined,
  );
  return parts.map((part) => {
    const text = parts.length === 1 ? condition.trim() : nodeText(part);
    const values = read(nodeText(part));
    return { label, text, ...withoutMasked(values, () => evaluatePart(part, scope)), ...values };
  });
}

type PartResult = Pick<LabelCondition, "result" | "error">;

function evaluatePart(part: Node, scope: Scope): PartResult {
  const value = interpret(part, scope);
  if (typeof value === "boolean") return { result: value };
  const error =
    value instanceof Failure
      ? value.message
      : `a condition must be true or false, this one is ${typeName(value)}`;
  return { result: null, error };
}

/** The result of what reads a masked value is not known. */
function withoutMasked({ values }: RecordedValues, evaluate: () => PartResult): PartResult {
  return Object.values(values).some(containsMask)
    ? { result: null, error: "a value that it reads is masked" }
    : evaluate();
}

function containsMask(value: Json): boolean {
  if (typeof value !== "object" || value === null) return value === maskMarker;
  return Object.values(value).some(containsMask);
}

function rulePartsOf(label: string, rule: ScoredRule, context: ConditionContext): readonly LabelCondition[] {
  if (rule.if === undefined) return partsOf(label, rule.when ?? "", context);
  const read = pathValueReader(context.record);
  const parts = "all" in rule.if ? rule.if.all : [rule.if];
  return parts.map((part) => {
    const compiled = compileRuleCondition({ ...rule, if: part });
    const values = read(compiled.reads);
    const evaluated = withoutMasked(values, () => {
      const { result, traces } = compiled.evaluate(context.scope);
      const [trace] = traces;
      const note = "field" in part && trace !== undefined && "note" in trace ? trace.note : undefined;
      return { result, ...(note !== undefined && { error: note }) };
    });
    return { label, text: ruleText(part), ...evaluated, ...values };
  });
}

function ruleText(condition: RuleCondition): string {
  const joined = (parts: readonly RuleCondition[], word: string): string =>
    parts.map((part) => ("field" in part ? ruleText(part) : `(${ruleText(part)})`)).join(` ${word} `);
  if ("all" in condition) return joined(condition.all, "and");
  if ("any" in condition) return joined(condition.any, "or");
  if ("none" in condition) return `not (${joined(condition.none, "or")})`;
  return compileRule(condition).texts().join(" and ");
}

interface PolicyConditions {
  readonly context: ConditionContext;
  readonly details: Readonly<Record<string, PolicyDetail>>;
}

/**
 * Returns the conditions of the policies in effect, where those lead to the outcome, else those of overrides. The
 * results of conditions on earlier calls are as recorded.
 */
function policyPartsOf(
  label: string,
  { policies = [] }: PolicyDefinition,
  { context, details }: PolicyConditions,
): readonly LabelCondition[] {
  const isException = label === "allowed_by_exception";
  return policies.flatMap((policy): readonly LabelCondition[] => {
    const { name } = policy;
    const detail = details[name];
    if (policy.overrides !== undefined) {
      if (!isException) return [];
      const { when = "" } = policy;
      const denied = policy.overrides.find((each) => details[each]?.result === false);
      const denial =
        denied === undefined
          ? undefined
          : denialOf({ name: denied, version: "", ...details[denied] }, new Map(Object.entries(details)));
      if (denial === undefined && when !== "" && readsOf(compileCondition(when).tree).some(isDenialPath))
        return [];
      const scope = denial === undefined ? context.scope : { ...context.scope, computed: { denial } };
      return partsOf(name, when, { ...context, scope });
    }
    if (isException || detail?.left_out !== undefined) return [];
    const written = policy.conditions ?? [];
    const builtIn = (detail?.conditions ?? []).slice(written.length);
    return [
      ...written.flatMap(({ expression }) => partsOf(name, expression, context)),
      ...builtIn.map((each) => ({ ...toLabelCondition(name, each), ...readBy(each.name, policy, context) })),
    ];
  });
}

/** The values that a condition on earlier calls reads from the call itself. */
function readBy(
  name: string,
  { max_sum, read_before_write }: BasePolicy,
  { record, definition }: ConditionContext,
): RecordedValues {
  const text =
    name === "max_sum" ? max_sum?.of : name === "read_before_write" ? read_before_write?.path : undefined;
  return text === undefined ? { values: {} } : conditionValueReader(record, definition)(text);
}

const toLabelCondition = (
  label: string,
  { expression: text, result, error }: NamedCondition,
): LabelCondition => ({
  label,
  text,
  result: error === undefined ? result : null,
  values: {},
  ...(error !== undefined && { error }),
});
