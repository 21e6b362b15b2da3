import type { Box } from "./box.js";
import { boxOf } from "./box.js";
import type { CellSet } from "./cell-set.js";
import { allCells, complementSet, intersectSets, isEmptySet, subtractSets, uniteAll } from "./cell-set.js";
import type { Test } from "./dimension.js";
import { PathDimension } from "./dimension.js";
import type { Space, SpaceBuilder } from "./space.js";
import { isList, isObject } from "../expression/equal.js";
import type { Literal, Relation } from "../expression/syntax.js";
import type { Json, JsonObject } from "../model/json.js";

/*
 * The keywords `type`, `enum`, `const`, `required` and the bounds of numbers. Others are ignored, so that the bounds
 * are never narrower than the schema.
 */

/** Makes the space tell apart what a JSON Schema allows and what it does not. */
export function addSchemaTests(schema: JsonObject, builder: SpaceBuilder): void {
  for (const segments of builder.paths())
    for (const test of testsOf(schemaAt(schema, segments))) builder.addTest(segments, test);
}

/** Adds the paths that a JSON Schema requires to the space. */
export function addRequiredPaths(
  schema: JsonObject,
  builder: SpaceBuilder,
  above: readonly string[] = [],
): void {
  for (const key of requiredBy(schema)) {
    const segments = [...above, key];
    builder.addTest(segments, { kind: { type: "present" } });
    addRequiredPaths(schemaAt(schema, [key]), builder, segments);
  }
}

/** Returns a simple value that a JSON Schema allows at a path. */
export const exampleValue = (schema: JsonObject, segments: readonly string[]): Json =>
  simpleValue(schemaAt(schema, segments));

/** Returns regions of contexts that a JSON Schema does not allow. */
export function schemaBounds(schema: JsonObject, { dimensions }: Space): readonly Box[] {
  return dimensions.flatMap((dimension, index): readonly Box[] => {
    if (!(dimension instanceof PathDimension) || dimension.segments.length === 0) return [];
    const { segments, missing } = dimension;
    const invalid = subtractSets(
      complementSet(allowedSet(schemaAt(schema, segments), dimension), dimension.size),
      missing,
    );
    const boxes = isEmptySet(invalid) ? [] : [boxOf(index, invalid)];
    if (isRequired(schema, segments)) return [...boxes, boxOf(index, missing)];
    const parent = dimensions.findIndex(
      (each) =>
        each.type === "path" &&
        each.segments.length === segments.length - 1 &&
        each.segments.every((step, at) => step === segments[at]),
    );
    const above = dimensions[parent];
    const requires = requiredBy(schemaAt(schema, segments.slice(0, -1))).includes(segments.at(-1) ?? "");
    if (!requires || !(above instanceof PathDimension)) return boxes;
    const pair = [
      { dimension: parent, set: above.container },
      { dimension: index, set: missing },
    ].sort((a, b) => a.dimension - b.dimension);
    return [...boxes, { dimensions: pair.map((each) => each.dimension), sets: pair.map((each) => each.set) }];
  });
}

/** Returns the schema of the value at a path; an empty one allows anything. */
function schemaAt(schema: Json | undefined, segments: readonly string[]): JsonObject {
  const own = isObject(schema) && !Object.hasOwn(schema, "$ref") ? schema : {};
  const [step, ...rest] = segments;
  if (step === undefined) return own;
  const { properties } = own;
  return schemaAt(
    isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : undefined,
    rest,
  );
}

const requiredBy = ({ required }: JsonObject): readonly string[] =>
  isList(required) ? required.filter((key) => typeof key === "string") : [];

/** Whether every step of a path is required, of objects that cannot be anything else. */
function isRequired(schema: JsonObject, segments: readonly string[]): boolean {
  return segments.every((step, index) => {
    const above = schemaAt(schema, segments.slice(0, index));
    return (index === 0 || above["type"] === "object") && requiredBy(above).includes(step);
  });
}

const boundKeywords: readonly (readonly [keyword: string, relation: Relation])[] = [
  ["minimum", ">="],
  ["maximum", "<="],
  ["exclusiveMinimum", ">"],
  ["exclusiveMaximum", "<"],
];

function literalsOf({ enum: values, const: only }: JsonObject): readonly Literal[] | undefined {
  const listed = only === undefined ? values : [only];
  if (!Array.isArray(listed)) return undefined;
  const literals = (listed as readonly Json[]).filter(
    (value): value is Literal => value === null || typeof value !== "object",
  );
  return literals.length === listed.length ? literals : undefined;
}

function testsOf(schema: JsonObject): readonly Test[] {
  const values = literalsOf(schema);
  return [
    ...(values === undefined ? [] : [{ kind: { type: "in", values } } as const]),
    ...boundKeywords.flatMap(([keyword, relation]): readonly Test[] => {
      const value = schema[keyword];
      return typeof value === "number" ? [{ kind: { type: "compare", relation, value } }] : [];
    }),
  ];
}

function allowedSet(schema: JsonObject, dimension: PathDimension): CellSet {
  const { numbers, size } = dimension;
  let allowed = typeSet(schema["type"], dimension);
  for (const test of testsOf(schema)) {
    const holds = dimension.setOf(test, "true");
    // Bounds apply to numbers only.
    allowed = intersectSets(
      allowed,
      test.kind.type === "in" ? holds : uniteAll([holds, complementSet(numbers, size)]),
    );
  }
  return allowed;
}

function typeSet(type: Json | undefined, dimension: PathDimension): CellSet {
  const { numbers, texts, booleans, null: nothing, empty, container, size } = dimension;
  const sets: Readonly<Record<string, CellSet>> = {
    number: numbers,
    integer: numbers,
    string: texts,
    boolean: booleans,
    null: nothing,
    object: uniteAll([empty, container]),
    array: uniteAll([empty, container]),
  };
  const types = Array.isArray(type) ? (type as readonly Json[]) : [type];
  const allowed = types.map((each) => (typeof each === "string" ? sets[each] : undefined));
  return uniteAll(allowed.map((set) => set ?? allCells(size)));
}

/** Adds the values that a schema requires and that a context does not have, as simple ones as it allows. */
export function completeContext(schema: JsonObject, context: JsonObject): JsonObject {
  const { properties } = schema;
  const missing = requiredBy(schema).filter((key) => typeof key === "string" && !Object.hasOwn(context, key));
  const schemaOf = (key: string): JsonObject => {
    const found = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
    return isObject(found) ? found : {};
  };
  const added = missing.map((key) => [key, simpleValue(schemaOf(key))] as const);
  const present = Object.entries(context).map(
    ([key, value]) => [key, isObject(value) ? completeContext(schemaOf(key), value) : value] as const,
  );
  return Object.fromEntries([...present, ...added]);
}

function simpleValue(schema: JsonObject): Json {
  const { type, enum: values, const: only, minimum, exclusiveMinimum, maximum } = schema;
  if (only !== undefined) return only;
  if (Array.isArray(values)) return (values as readonly Json[])[0] ?? null;
  switch (Array.isArray(type) ? (type as readonly Json[])[0] : type) {
    case "number":
    case "integer":
      if (typeof exclusiveMinimum === "number") return exclusiveMinimum + 1;
      if (typeof minimum === "number") return minimum;
      return typeof maximum === "number" ? maximum : 1;
    case "boolean":
      return false;
    case "null":
      return null;
    case "array":
      return [];
    case "object":
      return completeContext(schema, {});
    default:
      return "text";
  }
}
