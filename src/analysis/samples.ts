import { allCells, areEqualSets, hasCell } from "./cell-set.js";
import { valueAt } from "./context-edit.js";
import type { Domains } from "./cover.js";
import type { SampledPath } from "./dimension.js";
import { opaqueCellOf, PathDimension } from "./dimension.js";
import type { Space } from "./space.js";
import { buildContext, chooseCells, setPath } from "./witness.js";
import type { Json, JsonObject } from "../model/json.js";

/** How many contexts are tried where a region depends on parts of conditions that are not analysed. */
const maxSamples = 400;

/**
 * Yields contexts in the domains. A region without parts that are not analysed has one; otherwise values of the paths
 * that such parts read are tried, and those of `variables`. The result of a part that depends on more than the context
 * is not checked.
 */
export function* sampleContexts(
  domains: Domains,
  space: Space,
  variables: readonly SampledPath[] = [],
): Generator<JsonObject> {
  const choice = chooseCells(domains, space);
  if (choice === undefined) return;
  const context = buildContext(choice, space);
  if (isWithin(context, domains, space)) yield context;
  const varied = [...opaqueVariables(domains, space), ...variables].map((variable) => ({
    ...variable,
    values: valuesWithin(variable, domains, space),
  }));
  let left = maxSamples;
  for (const changed of variations(context, varied)) {
    if (left-- === 0) return;
    if (isWithin(changed, domains, space)) yield changed;
  }
}

function isWithin(context: JsonObject, domains: Domains, { dimensions }: Space): boolean {
  return dimensions.every((dimension, index) => {
    const domain = domains[index] ?? [];
    if (dimension.type === "path")
      return hasCell(domain, dimension.cellOf(valueAt(context, dimension.segments)));
    const truth = areEqualSets(domain, allCells(dimension.size)) ? undefined : dimension.truthOf?.(context);
    return truth === undefined || hasCell(domain, opaqueCellOf(truth));
  });
}

/** The paths that the parts read whose result the domains determine. */
function opaqueVariables(domains: Domains, { dimensions }: Space): readonly SampledPath[] {
  const variables = new Map<string, SampledPath>();
  for (const [index, each] of dimensions.entries()) {
    if (each.type !== "opaque" || areEqualSets(domains[index] ?? [], allCells(each.size))) continue;
    for (const variable of each.variables) {
      const key = JSON.stringify(variable.segments);
      const values = [...(variables.get(key)?.values ?? []), ...variable.values];
      variables.set(key, { segments: variable.segments, values });
    }
  }
  return [...variables.values()];
}

/** Leaves out values that are not in the domain of their path. */
function valuesWithin(
  { segments, values }: SampledPath,
  domains: Domains,
  { dimensions }: Space,
): readonly Json[] {
  const index = dimensions.findIndex(
    (each) =>
      each instanceof PathDimension &&
      each.segments.length === segments.length &&
      each.segments.every((step, at) => step === segments[at]),
  );
  const dimension = dimensions[index];
  if (!(dimension instanceof PathDimension)) return values;
  return values.filter((value) => hasCell(domains[index] ?? [], dimension.cellOf(value)));
}

/** Yields the context with each combination of values, those with few changes first. */
function* variations(context: JsonObject, variables: readonly SampledPath[]): Generator<JsonObject> {
  for (let count = 1; count <= variables.length; count++) yield* changes(context, variables, count);
}

function* changes(
  context: JsonObject,
  variables: readonly SampledPath[],
  count: number,
): Generator<JsonObject> {
  if (count === 0) {
    yield context;
    return;
  }
  for (const [index, { segments, values }] of variables.entries()) {
    for (const value of values) {
      const changed = setPath(context, segments, value);
      if (changed !== undefined) yield* changes(changed, variables.slice(index + 1), count - 1);
    }
  }
}
