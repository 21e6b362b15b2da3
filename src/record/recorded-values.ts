import { maskMarker } from "./mask.js";
import { DecisionError } from "../errors.js";
import { pathGetter } from "../expression/path.js";
import { splitPath } from "../expression/syntax.js";
import type { Template } from "../expression/template.js";
import { compileCondition, compileInput } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Scope } from "../model/scope.js";

/** The values that an expression read when the decision was made. */
export interface RecordedValues {
  readonly values: Readonly<Record<string, Json>>;
  /** Paths without a value. */
  readonly missing?: readonly string[];
  /** Paths into data that was not recorded. */
  readonly not_recorded?: readonly string[];
}

/** Finds the values that a condition read; `input` is replaced with the context paths it stands for. */
export type ReadValues = (condition: string) => RecordedValues;

/**
 * Returns a function that finds the values a condition read when the decision was recorded. `computed` has values that
 * are not in the context, such as `denial`.
 */
export function conditionValueReader(
  record: DecisionRecord,
  definition: Definition | undefined,
  computed?: JsonObject,
): ReadValues {
  const sources = inputSourceResolver(definition, recordedScope(record));
  const readingsAt = pathValueReader(record, computed);
  return (condition) => readingsAt([...new Set(pathsIn(condition).flatMap(sources))]);
}

/** The same for a decision that has just been made. */
export function scopeValueReader(scope: Scope, definition: Definition): ReadValues {
  const sources = inputSourceResolver(definition, scope);
  return (condition) => valuesAt([...new Set(pathsIn(condition).flatMap(sources))], scope);
}

/** Returns a function that finds the values at paths when the decision was made. */
export function pathValueReader(
  record: DecisionRecord,
  computed: JsonObject = {},
): (paths: readonly string[]) => RecordedValues {
  const scope = { ...recordedScope(record), computed };
  const isRecorded = (path: string): boolean =>
    record.context !== undefined ||
    /^(?:facts|system)\b/.test(path) ||
    Object.hasOwn(computed, path.split(".")[0] ?? "");
  return (paths) => {
    const unrecorded = paths.filter((path) => !isRecorded(path));
    return {
      ...valuesAt(paths.filter(isRecorded), scope),
      ...(unrecorded.length > 0 && { not_recorded: unrecorded }),
    };
  };
}

function valuesAt(paths: readonly string[], scope: Scope): RecordedValues {
  const found = paths.map((path) => [path, read(path, scope)] as const);
  const missing = found.flatMap(([path, value]) => (value === undefined ? [path] : []));
  return {
    values: Object.fromEntries(found.filter(isFound)),
    ...(missing.length > 0 && { missing }),
  };
}

const recordedScope = (record: DecisionRecord): Scope => ({
  context: record.context ?? {},
  input: record.context === undefined ? undefined : record.input_value,
  facts: record.facts,
  system: recordedSystem(record),
});

const isFound = (entry: readonly [string, Json | undefined]): entry is readonly [string, Json] =>
  entry[1] !== undefined;

/** Returns no paths for a condition that does not compile, which only a changed record can have. */
function pathsIn(condition: string): readonly string[] {
  try {
    return condition.trim() === "" ? [] : compileCondition(condition).reads;
  } catch (error) {
    if (error instanceof DecisionError) return [];
    throw error;
  }
}

/** A masked value hides everything below it. */
function read(path: string, scope: Scope): Json | undefined {
  const segments = splitPath(path);
  const isMasked = segments.some(
    (_, index) => pathGetter(segments.slice(0, index + 1))(scope) === maskMarker,
  );
  return isMasked ? maskMarker : pathGetter(segments)(scope);
}

const reserved = new Set(["input", "facts", "system", "context"]);

/** Resolves `input` and computed values to the context paths they are made from, where possible. */
function inputSourceResolver(
  definition: Definition | undefined,
  scope: Scope,
): (path: string) => readonly string[] {
  if (definition === undefined) return (path) => [path];
  const input = compileInputOf(definition);
  const computed = definition.type === "gate" ? (definition.computed ?? {}) : {};
  const sources = (path: string): readonly string[] => {
    const [root = "", ...rest] = path.split(".");
    if (Object.hasOwn(computed, root)) return compileInput(computed[root] ?? "").reads.flatMap(sources);
    if (root !== "input") return [path];
    if (input === undefined) return [withoutContext(["context", ...rest], scope) ?? path];
    if (input.tree?.kind !== "path") return [path, ...input.reads];
    const segments = [...input.tree.segments, ...rest];
    return [withoutContext(segments, scope) ?? segments.join(".")];
  };
  return sources;
}

function compileInputOf({ input }: Definition): Template | undefined {
  return input === undefined ? undefined : compileInput(input);
}

/** Shortens `context.a.b` to `a.b`, unless that has another meaning. */
function withoutContext(segments: readonly string[], { context }: Scope): string | undefined {
  const [root, next, ...rest] = segments;
  if (root !== "context" || next === undefined) return undefined;
  if (reserved.has(next) || Object.hasOwn(context, "context")) return undefined;
  return [next, ...rest].join(".");
}

/** Returns what expressions could read as `system` when the record was made. */
export function recordedSystem({ timestamp, record_id, facts }: DecisionRecord): JsonObject {
  const { authenticated_caller } = facts;
  return {
    request_time: timestamp,
    request_id: record_id,
    ...(authenticated_caller !== undefined && { authenticated_caller }),
  };
}
