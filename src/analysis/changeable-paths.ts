import { valueAt } from "./context-edit.js";
import type { SampledPath } from "./dimension.js";
import type { LabelRegion } from "./label-regions.js";
import type { DecisionModel } from "./model-decision.js";
import { exampleValue } from "./schema-bounds.js";
import type { Space } from "./space.js";
import { inputTemplate } from "../definition/definition-reads.js";
import { isList, isObject } from "../expression/equal.js";
import { splitPath } from "../expression/syntax.js";
import type { Json, JsonObject } from "../model/json.js";

/** A path that can be changed. */
export interface ChangeablePath {
  readonly segments: readonly string[];
  /** Undefined: only parts of conditions that are not analysed read it. */
  readonly dimension: number | undefined;
  /** Values to try in addition to those that the conditions tell apart. */
  readonly samples: readonly Json[];
  /** A value that the schema of a gate allows. */
  readonly example: Json | undefined;
  readonly current: Json | undefined;
}

export interface ChangeablePathsQuestion {
  readonly model: DecisionModel;
  readonly space: Space;
  /** Where a label may be selected: other paths do not matter. */
  readonly regions: readonly LabelRegion[];
  readonly context: JsonObject;
  /** The paths that the amounts of limits are computed from. */
  readonly limits: readonly SampledPath[];
  /** The schema of a gate. */
  readonly schema: JsonObject | undefined;
}

/** Returns the paths of a context whose change may select a label, with values to try. */
export function changeablePaths(question: ChangeablePathsQuestion): readonly ChangeablePath[] {
  const { model, space, regions, context, limits, schema } = question;
  const dimensions = dimensionsOf(regions);
  const variables = [
    ...opaqueVariables(dimensions, space, context),
    ...limits,
    ...drawVariables(model, context),
    // Outputs may need a value, too.
    ...model.variables.filter(({ segments }) => valueAt(context, segments) === undefined),
  ];
  const samples = new Map<
    string,
    { readonly segments: readonly string[]; readonly values: Map<string, Json> }
  >();
  const dimensionAt = new Map<string, number>();
  const add = (segments: readonly string[], values: readonly Json[]): void => {
    const key = JSON.stringify(segments);
    const path = samples.get(key) ?? { segments, values: new Map<string, Json>() };
    samples.set(key, path);
    for (const value of values) path.values.set(JSON.stringify(value), value);
  };
  for (const [index, each] of space.dimensions.entries()) {
    if (each.type !== "path") continue;
    dimensionAt.set(JSON.stringify(each.segments), index);
    if (dimensions.has(index)) add(each.segments, []);
  }
  for (const { segments, values } of variables) add(segments, values);
  return [...samples].flatMap(([key, { segments, values }]): readonly ChangeablePath[] => {
    if (segments.length === 0) return [];
    const current = valueAt(context, segments);
    const example = schema === undefined ? undefined : exampleValue(schema, segments);
    return [{ segments, dimension: dimensionAt.get(key), samples: [...values.values()], example, current }];
  });
}

/** Returns the paths behind the parts of conditions that are not analysed, with values to try. */
function opaqueVariables(
  dimensions: ReadonlySet<number>,
  space: Space,
  context: JsonObject,
): readonly SampledPath[] {
  return [...dimensions].flatMap((index) => {
    const dimension = space.dimensions[index];
    if (dimension?.type !== "opaque") return [];
    const { variables } = dimension;
    return variables.map(({ segments, values }) => {
      const current = valueAt(context, segments);
      const others = variables
        .filter((other) => other.segments !== segments)
        .flatMap((other) => valueAt(context, other.segments) ?? []);
      return {
        segments,
        values: [...others.flatMap(withNeighbours), ...listsNear(current, values), ...values],
      };
    });
  });
}

const withNeighbours = (value: Json): readonly Json[] =>
  typeof value === "number" ? [value, value + 1, value - 1] : [value];

/** A list with one of some values more or less. */
function listsNear(current: Json | undefined, values: readonly Json[]): readonly Json[] {
  if (!isList(current)) return [];
  const items = values.filter((value) => value === null || typeof value !== "object");
  const longer = items.map((item) => [...current, item]);
  const shorter = current.map((_, index) => current.filter((_other, at) => at !== index));
  return [...longer, ...shorter];
}

/** Returns the dimensions that the regions depend on. */
export function dimensionsOf(regions: readonly LabelRegion[]): ReadonlySet<number> {
  const boxes = regions.flatMap(({ needed, excluded, distinguished }) => [
    ...needed,
    ...excluded,
    ...distinguished,
  ]);
  return new Set(boxes.flatMap(({ dimensions }) => dimensions));
}

/** How many inputs of a draw are tried, and for how many paths. */
const triedDraws = 300;
const drawnPaths = 10;

/** A weighted decision draws by its input, so another value may select another branch. */
function drawVariables(model: DecisionModel, context: JsonObject): readonly SampledPath[] {
  if (model.definition.type !== "weighted") return [];
  const reads = inputTemplate(model.definition)?.reads.map((path) => splitPath(path)) ?? [[]];
  const roots = reads.map((path) =>
    path[0] === "context" && !Object.hasOwn(context, "context") ? path.slice(1) : path,
  );
  return roots
    .flatMap((path) => leavesBelow(valueAt(context, path), path))
    .slice(0, drawnPaths)
    .map((segments) => ({ segments, values: neighboursOf(valueAt(context, segments)) }));
}

function leavesBelow(value: Json | undefined, path: readonly string[]): readonly (readonly string[])[] {
  if (!isObject(value)) return path.length === 0 ? [] : [path];
  return Object.entries(value).flatMap(([key, each]) => leavesBelow(each, [...path, key]));
}

/** The next numbers, or texts with the next numbers at their end. */
function neighboursOf(value: Json | undefined): readonly Json[] {
  const numbers = Array.from({ length: triedDraws }, (_, index) => index + 1);
  if (typeof value === "number") return numbers.map((each) => value + each);
  if (typeof value !== "string") return value === undefined ? numbers.map(String) : [];
  const [, start = value, digits] = /^(.*?)(\d{1,9})$/s.exec(value) ?? [];
  if (digits === undefined) return numbers.map((each) => `${value}-${each}`);
  return numbers.map((each) => start + String(Number(digits) + each).padStart(digits.length, "0"));
}
