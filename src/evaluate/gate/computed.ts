import { Failure } from "../../expression/failure.js";
import type { Template } from "../../expression/template.js";
import { compileInput } from "../../expression/template.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { ErroredPredicate } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";

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
export function unknownValues(computed: readonly ComputedValue[]): Record<string, Json | undefined> {
  const values: Record<string, Json | undefined> = {};
  for (const { name } of computed) values[name] = undefined;
  return values;
}

/** The scope with all values that can be computed; one that errs stays unknown. */
export function compute(computed: readonly ComputedValue[], scope: Scope, errors: ErroredPredicate[]): Scope {
  if (computed.length === 0) return scope;
  const values = unknownValues(computed);
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
