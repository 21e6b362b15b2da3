import { isList, isObject } from "../expression/equal.js";
import { pathGetter } from "../expression/path.js";
import { pathText } from "../expression/syntax.js";
import type { Json, JsonObject } from "../model/json.js";

/** A change of one path of a context. */
export interface Edit {
  readonly segments: readonly string[];
  /** The new value; undefined: it is removed. */
  readonly value: Json | undefined;
}

/** A path with its value before and after a change. */
export interface PathChange {
  readonly path: string;
  /** Absent: there was no value. */
  readonly from?: Json;
  /** Absent: the value is removed. */
  readonly to?: Json;
}

/** Returns the value at a path of a context, as conditions read it. */
export function valueAt(context: JsonObject, segments: readonly string[]): Json | undefined {
  if (segments.length === 0) return context;
  // Within `context`, no key is shadowed by a reserved name.
  return pathGetter(["context", ...segments])({
    context: { context },
    input: undefined,
    facts: {},
    system: {},
  });
}

/** Returns the context with the edits; undefined if a path names an item that a list cannot have. */
export function applyEdits(context: JsonObject, edits: readonly Edit[]): JsonObject | undefined {
  let edited: Json | undefined = context;
  for (const { segments, value } of edits) {
    edited = value === undefined ? withoutPath(edited, segments) : withPath(edited, segments, value);
    if (edited === undefined) return undefined;
  }
  return isObject(edited) ? edited : undefined;
}

/** A value on the way that has no place for the next step is replaced by an object. */
function withPath(part: Json | undefined, [step, ...rest]: readonly string[], value: Json): Json | undefined {
  if (step === undefined) return value;
  const index = indexOf(step);
  if (isList(part) && index !== undefined) {
    if (index > part.length) return undefined;
    const item = withPath(part[index], rest, value);
    return item === undefined ? undefined : [...part.slice(0, index), item, ...part.slice(index + 1)];
  }
  const object = isObject(part) ? part : {};
  const inner = withPath(Object.hasOwn(object, step) ? object[step] : undefined, rest, value);
  return inner === undefined ? undefined : { ...object, [step]: inner };
}

/** Of a list only the last item can be removed: the others would move. */
function withoutPath(part: Json | undefined, [step = "", ...rest]: readonly string[]): Json | undefined {
  if (isList(part)) {
    const index = indexOf(step);
    if (index === undefined || index >= part.length) return undefined;
    if (rest.length === 0) return index === part.length - 1 ? part.slice(0, -1) : undefined;
    const item = withoutPath(part[index], rest);
    return item === undefined ? undefined : [...part.slice(0, index), item, ...part.slice(index + 1)];
  }
  if (!isObject(part) || !Object.hasOwn(part, step)) return undefined;
  if (rest.length === 0) return Object.fromEntries(Object.entries(part).filter(([key]) => key !== step));
  const inner = withoutPath(part[step], rest);
  return inner === undefined ? undefined : { ...part, [step]: inner };
}

const indexOf = (step: string): number | undefined =>
  /^(?:0|[1-9]\d*)$/.test(step) ? Number(step) : undefined;

/** Describes edits by the values that they change; where one replaces a value above its path, by that value. */
export function pathChanges(
  before: JsonObject,
  after: JsonObject,
  edits: readonly Edit[],
): readonly PathChange[] {
  const changes = new Map<string, PathChange>();
  for (const { segments } of edits) {
    const changed = replacedPath(before, segments);
    const path = pathText(changed);
    const [from, to] = [valueAt(before, changed), valueAt(after, changed)];
    changes.set(path, { path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) });
  }
  return [...changes.values()];
}

/** Returns the path, or the first part of it with a value that has nothing below it. */
function replacedPath(before: JsonObject, segments: readonly string[]): readonly string[] {
  for (let length = 1; length < segments.length; length++) {
    const above = valueAt(before, segments.slice(0, length));
    if (above === undefined) return segments;
    const isPlace = isObject(above) || (isList(above) && indexOf(segments[length] ?? "") !== undefined);
    if (!isPlace) return segments.slice(0, length);
  }
  return segments;
}
