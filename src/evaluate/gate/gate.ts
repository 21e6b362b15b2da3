import type { PreparedRule } from "./gate-rule.js";
import { prepareRule } from "./gate-rule.js";
import { toGateResult } from "./gate-result.js";
import { prepareAggregation } from "./aggregation.js";
import { maskedPathTest } from "../../definition/definition-reads.js";
import { declaresOutputs } from "../../definition/outputs.js";
import { uniqueFetches } from "../../definition/fetches.js";
import { compileContextSchema } from "../../definition/context-schema.js";
import { DecisionError } from "../../errors.js";
import { isObject } from "../../expression/equal.js";
import { Failure } from "../../expression/failure.js";
import { pathGetter } from "../../expression/path.js";
import type { Template } from "../../expression/template.js";
import { compileInput } from "../../expression/template.js";
import type { GateDefinition } from "../../model/definition.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { ErroredPredicate } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import type { PreparedType } from "../evaluate.js";
import { prepareShadowCheck } from "../evaluate.js";
import type { PreparedLimit } from "../limits.js";
import { prepareLimits } from "../limits.js";
import { needsOf } from "../policy/policy-facts.js";
import { explainMissing } from "./errored-texts.js";

/** `gate`: decides whether and how an agent may continue. It is never GREEN if anything cannot be evaluated. */
export function prepareGate(
  definition: GateDefinition,
  input: Template | undefined,
  masks: readonly string[] = definition.logging?.mask ?? [],
): PreparedType {
  const schema = definition.context_schema;
  const findIssues = schema === undefined ? () => [] : compileContextSchema(schema);
  const computed = prepareComputed(definition.computed);
  const isMasked = maskedPathTest(input, masks);
  const rules = definition.rules.map((rule) =>
    prepareRule(rule, (path) => readsBehind([path], computed).some(isMasked)),
  );
  const hasOutputs = declaresOutputs(definition);
  const aggregateRules = prepareAggregation(rules);
  const requiredFetches = prepareRequiredFetches(definition);
  const limits = prepareLimits(definition, {
    owner: definition.id,
    masks,
    sourcesOf: (paths) => readsBehind(paths, computed),
  });
  const needs = needsOf([], limits);
  const declared = declaredReads({ computed, rules, limits });
  const rejectShadowing = prepareShadowCheck([...(input?.reads ?? []), ...declared]);
  return {
    reads: [
      ...readsOfGate({ input, computed, rules, limits, checksContext: schema !== undefined }),
      ...requiredFetches.reads,
      ...(needs === undefined ? [] : ["facts"]),
    ],
    conditionReads: declared.filter((path) => !computed.some(({ name }) => isUnder(path, name))),
    inputsByCondition: new Map(rules.map(({ when, conditions }) => [when, conditions.when.inputs])),
    inputsRead: prepareInputsRead(rules, limits),
    inputsBehind: (path) => inputsBehind([path], computed),
    ...(needs !== undefined && { needs }),
    evaluate(scope) {
      rejectSystemKey(scope.context);
      rejectShadowing(scope.context);
      const issues = findIssues(scope.context);
      const errors: ErroredPredicate[] = [
        ...requiredFetches.errorsIn(scope),
        ...issues.map(({ message: error, missing }) => ({
          ...({ source: "context_schema" } as const),
          ...(missing !== undefined && { missing }),
          error,
        })),
      ];
      const value = evaluateInput(input, { scope, computed, errors });
      const { context, facts, system } = scope;
      const extended = compute(computed, { context, input: value, facts, system }, errors);
      return toGateResult(aggregateRules(extended, errors), extended, {
        input: value ?? null,
        limits,
        hasOutputs,
      });
    },
  };
}

/**
 * Returns the paths that each evaluated rule and limit reads: those of `when` only if the rule applies, and those of the
 * output that the gate answers with.
 */
function prepareInputsRead(
  rules: readonly PreparedRule[],
  limits: readonly PreparedLimit[],
): PreparedType["inputsRead"] {
  const outputs = new Map(
    rules.flatMap(({ id, preparedOutput }) => (preparedOutput ? [[id, preparedOutput.inputs]] : [])),
  );
  const byRule = new Map(
    rules.map(({ id, conditions: { appliesWhen, when } }) => {
      const skipped = appliesWhen?.inputs ?? [];
      return [id, { skipped, applied: [...skipped, ...when.inputs] }];
    }),
  );
  return ({ outcome }) => {
    if (outcome?.type !== "gate") return [];
    const { predicate_traces, aggregation, limits: tested } = outcome.decision_metadata;
    const ofRules = predicate_traces.map(({ rule, applies }) => {
      const inputs = byRule.get(rule);
      return (applies === false ? inputs?.skipped : inputs?.applied) ?? [];
    });
    const ofOutput = aggregation.deciding_rules
      .map((id) => outputs.get(id))
      .find((inputs) => inputs !== undefined);
    if (ofOutput !== undefined) ofRules.push(ofOutput);
    return tested === undefined ? ofRules : [...ofRules, ...limits.map(({ inputs }) => inputs)];
  };
}

const isUnder = (path: string, name: string): boolean => path === name || path.startsWith(`${name}.`);

/** `system` has the time, the request and the caller; a context must not contain it, or a caller could forge them. */
function rejectSystemKey(context: JsonObject): void {
  if (!Object.hasOwn(context, "system")) return;
  throw new DecisionError("input_invalid", "the context must not have the reserved key `system`", {
    hint: "remove or rename the key `system`: it is filled with the time, the request and the caller",
  });
}

interface InputEvaluation {
  readonly scope: Scope;
  readonly computed: readonly ComputedValue[];
  readonly errors: ErroredPredicate[];
}

/** Returns undefined if the input has no value. Computed values are missing at this point. */
function evaluateInput(
  input: Template | undefined,
  { scope, computed, errors }: InputEvaluation,
): Json | undefined {
  if (input === undefined) return scope.context;
  const { context, facts, system } = scope;
  const values = undefinedValues(computed) as JsonObject;
  const value = input.evaluate({ context, input: undefined, computed: values, facts, system });
  if (!(value instanceof Failure)) return value;
  errors.push({ source: "input", expression: input.text, error: value.message });
  return undefined;
}

/** A compiled entry of `computed`. */
export interface ComputedValue {
  readonly name: string;
  readonly expression: Template;
}

/**
 * Compiles computed values, each after those that it reads. The order does not depend on the order in the
 * file, because definitions that differ only in the order of keys have the same hash.
 */
export function prepareComputed(computed: Readonly<Record<string, string>> = {}): readonly ComputedValue[] {
  const entries = Object.entries(computed).sort(([a], [b]) => (a < b ? -1 : 1));
  const prepared = new Map<string, ComputedValue>();
  const seen = new Set<string>();
  const visit = ([name, text]: readonly [string, string]): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const expression = compileInput(text);
    const reads = new Set(expression.reads.map((path) => path.split(".")[0]));
    entries.filter(([each]) => reads.has(each)).forEach(visit);
    prepared.set(name, { name, expression });
  };
  entries.forEach(visit);
  return [...prepared.values()];
}

/** Returns undefined for every name, so that an expression never reads a key of the context instead. */
export function undefinedValues(computed: readonly ComputedValue[]): Record<string, Json | undefined> {
  const values: Record<string, Json | undefined> = {};
  for (const { name } of computed) values[name] = undefined;
  return values;
}

/** Returns the scope with the computed values; a value that cannot be evaluated stays undefined. */
export function compute(computed: readonly ComputedValue[], scope: Scope, errors: ErroredPredicate[]): Scope {
  if (computed.length === 0) return scope;
  const values = undefinedValues(computed);
  const { context, input, facts, system } = scope;
  // Expressions treat an undefined value as missing.
  const extended: Scope = { context, input, computed: values as JsonObject, facts, system };
  for (const { name, expression } of computed) {
    const value = expression.evaluate(extended);
    if (value instanceof Failure) {
      const error = explainMissing(value.message, errors);
      errors.push({ source: "computed", name, expression: expression.text, error });
    } else {
      values[name] = value;
    }
  }
  return extended;
}

/** The enrichments that a gate requires. */
export interface RequiredFetches {
  readonly reads: readonly string[];
  /** Returns an error for each enrichment without data. */
  errorsIn(scope: Scope): readonly ErroredPredicate[];
}

export function prepareRequiredFetches(definition: GateDefinition): RequiredFetches {
  const required = uniqueFetches(definition).filter((fetch) => fetch.required);
  const facts = required.map(({ key, endpoint, into }) => ({
    endpoint,
    into,
    get: pathGetter(["facts", "fetched", key]),
  }));
  return {
    reads: required.map(({ key }) => `facts.fetched.${key}.ok`),
    errorsIn: (scope) =>
      facts.flatMap(({ endpoint, into, get }) => {
        const fact = get(scope);
        if (isObject(fact) && fact["ok"] === true) return [];
        const error = isObject(fact) && isObject(fact["error"]) ? fact["error"]["message"] : undefined;
        return [
          {
            source: "enrich",
            name: endpoint,
            ...(into !== undefined && { missing: into }),
            error: typeof error === "string" ? error : "it was not fetched",
          },
        ];
      }),
  };
}

/** Returns the paths of the context that computed values stand for, and the other paths as they are. */
const readsBehind = (paths: readonly string[], computed: readonly ComputedValue[]): readonly string[] =>
  pathsBehind(paths, computed, ({ reads }) => reads);

const inputsBehind = (paths: readonly string[], computed: readonly ComputedValue[]): readonly string[] =>
  pathsBehind(paths, computed, ({ inputs }) => inputs);

function pathsBehind(
  paths: readonly string[],
  computed: readonly ComputedValue[],
  pathsOf: (expression: Template) => readonly string[],
): readonly string[] {
  // Each value reads only those before it.
  return computed
    .toReversed()
    .reduce<readonly string[]>(
      (all, { name, expression }) =>
        all.flatMap((path) => (isUnder(path, name) ? pathsOf(expression) : [path])),
      paths,
    );
}

interface GateExpressions {
  readonly input: Template | undefined;
  readonly computed: readonly ComputedValue[];
  readonly rules: readonly PreparedRule[];
  readonly limits: readonly Pick<PreparedLimit, "reads">[];
  /** True if there is a schema, which reads the whole context. */
  readonly checksContext: boolean;
}

/** Returns the paths that a gate depends on; `input` and computed values are replaced by the paths that they read. */
export function readsOfGate(expressions: GateExpressions): readonly string[] {
  const { input, computed, checksContext } = expressions;
  const derived = new Set(["input", ...computed.map(({ name }) => name)]);
  const direct = declaredReads(expressions).filter((path) => !derived.has(rootOf(path)));
  const whole = checksContext || input === undefined ? ["context"] : [];
  return [...new Set([...whole, ...(input?.reads ?? []), ...direct])];
}

const rootOf = (path: string): string => path.replace(/\..*/s, "");

/** Returns the paths in the expressions of the gate as they are written. */
export function declaredReads({
  computed,
  rules,
  limits,
}: Pick<GateExpressions, "computed" | "rules" | "limits">): readonly string[] {
  return [
    ...limits.flatMap(({ reads }) => reads),
    ...computed.flatMap(({ expression }) => expression.reads),
    ...rules.flatMap(({ conditions: { appliesWhen, when }, preparedOutput }) => [
      ...(appliesWhen?.reads ?? []),
      ...when.reads,
      ...(preparedOutput?.reads ?? []),
    ]),
  ];
}
