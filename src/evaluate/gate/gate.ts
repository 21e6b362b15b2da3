import type { PreparedRule } from "./gate-rule.js";
import { prepareRule } from "./gate-rule.js";
import { toGateResult } from "./gate-result.js";
import { prepareAggregation } from "./aggregation.js";
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

/** `gate`: whether, and how, an agent may go on. Whatever cannot be evaluated keeps it from being GREEN. */
export function prepareGate(definition: GateDefinition, input: Template | undefined): PreparedType {
  const schema = definition.context_schema;
  const issuesOf = schema === undefined ? () => [] : compileContextSchema(schema);
  const computed = prepareComputed(definition.computed);
  const rules = definition.rules.map(prepareRule);
  const weigh = prepareAggregation(rules);
  const lacking = prepareRequiredFetches(definition);
  const written = declaredReads({ computed, rules });
  const refuseShadow = prepareShadowCheck([...(input?.reads ?? []), ...written]);
  return {
    reads: [
      ...readsOfGate({ input, computed, rules, checksContext: schema !== undefined }),
      ...lacking.reads,
    ],
    conditionReads: written.filter((path) => !computed.some(({ name }) => isUnder(path, name))),
    evaluate(scope) {
      rejectSystemKey(scope.context);
      refuseShadow(scope.context);
      const issues = issuesOf(scope.context);
      const errors: ErroredPredicate[] = [
        ...lacking.errorsIn(scope),
        ...issues.map(({ message: error }) => ({ source: "context_schema", error }) as const),
      ];
      const value = evaluateInput(input, { scope, computed, errors });
      const { context, facts, system } = scope;
      const extended = compute(computed, { context, input: value, facts, system }, errors);
      const missing = issues.flatMap((issue) => issue.missing ?? []);
      return toGateResult(weigh(extended, errors), extended, { input: value ?? null, missing });
    },
  };
}

const isUnder = (path: string, name: string): boolean => path === name || path.startsWith(`${name}.`);

/** What expressions read as `system` must be what we say it is, and no caller may believe otherwise. */
function rejectSystemKey(context: JsonObject): void {
  if (!Object.hasOwn(context, "system")) return;
  throw new DecisionError("input_invalid", "the context must not hold `system`, which is the tool's own", {
    hint: "leave it out, or give it another name: the time, the request and the caller are filled in",
  });
}

interface InputEvaluation {
  readonly scope: Scope;
  readonly computed: readonly ComputedValue[];
  readonly errors: ErroredPredicate[];
}

/** Undefined where it has no value; nothing is computed yet, and the context must not pass for it. */
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

/** A value that a gate derives from the others. */
export interface ComputedValue {
  readonly name: string;
  readonly expression: Template;
}

/**
 * In an order in which each comes after those it reads. It does not depend on the order of the file, as definitions
 * that differ in nothing else have the same hash.
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

/** Values that are not there yet: each name is taken, so that a key of the context is never read in its stead. */
export function undefinedValues(computed: readonly ComputedValue[]): Record<string, Json | undefined> {
  const values: Record<string, Json | undefined> = {};
  for (const { name } of computed) values[name] = undefined;
  return values;
}

/** The scope with all values that can be computed; one that errs stays unknown. */
export function compute(computed: readonly ComputedValue[], scope: Scope, errors: ErroredPredicate[]): Scope {
  if (computed.length === 0) return scope;
  const values = undefinedValues(computed);
  const { context, input, facts, system } = scope;
  // An unknown value is missing to whoever reads it, as `undefined` is no JSON.
  const extended: Scope = { context, input, computed: values as JsonObject, facts, system };
  for (const { name, expression } of computed) {
    const value = expression.evaluate(extended);
    if (value instanceof Failure) {
      errors.push({ source: "computed", name, expression: expression.text, error: value.message });
    } else {
      values[name] = value;
    }
  }
  return extended;
}

/** What a gate must have fetched. */
export interface RequiredFetches {
  readonly reads: readonly string[];
  /** One of each that did not come. */
  errorsIn(scope: Scope): readonly ErroredPredicate[];
}

export function prepareRequiredFetches(definition: GateDefinition): RequiredFetches {
  const needed = uniqueFetches(definition).filter(({ required }) => required);
  const facts = needed.map(({ key, endpoint }) => ({
    endpoint,
    get: pathGetter(["facts", "fetched", key]),
  }));
  return {
    reads: needed.map(({ key }) => `facts.fetched.${key}.ok`),
    errorsIn: (scope) =>
      facts.flatMap(({ endpoint, get }) => {
        const fact = get(scope);
        if (isObject(fact) && fact["ok"] === true) return [];
        const error = isObject(fact) && isObject(fact["error"]) ? fact["error"]["message"] : undefined;
        return [
          { source: "enrich", name: endpoint, error: typeof error === "string" ? error : "it was not asked" },
        ];
      }),
  };
}

interface GateExpressions {
  readonly input: Template | undefined;
  readonly computed: readonly ComputedValue[];
  readonly rules: readonly PreparedRule[];
  /** Whether there is a schema: it looks at the whole of the context. */
  readonly checksContext: boolean;
}

/** What a gate depends on. `input` and the computed values stand for what their own expressions read. */
export function readsOfGate({ input, computed, rules, checksContext }: GateExpressions): readonly string[] {
  const derived = new Set(["input", ...computed.map(({ name }) => name)]);
  const beside = declaredReads({ computed, rules });
  const asked = beside.filter((path) => !derived.has(rootOf(path)));
  const whole = checksContext || input === undefined ? ["context"] : [];
  return [...new Set([...whole, ...(input?.reads ?? []), ...asked])];
}

const rootOf = (path: string): string => path.replace(/\..*/s, "");

/** The paths as the expressions of the gate name them. */
export function declaredReads({
  computed,
  rules,
}: Pick<GateExpressions, "computed" | "rules">): readonly string[] {
  return [
    ...computed.flatMap(({ expression }) => expression.reads),
    ...rules.flatMap(({ conditions: { appliesWhen, when } }) => [
      ...(appliesWhen?.reads ?? []),
      ...when.reads,
    ]),
  ];
}
