import { isObject } from "./equal.js";
import { DecisionError } from "../errors.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** Reads a path from a scope; undefined if it is missing. */
export type PathGetter = (scope: Scope) => Json | undefined;

const forbidden = new Set(["constructor", "__proto__", "prototype"]);

export function isForbiddenKey(key: string): boolean {
  return forbidden.has(key);
}

/** Compiles a path. It reads own properties only, so it never leaves the document. */
export function pathGetter(segments: readonly string[]): PathGetter {
  const [root = "", ...rest] = segments;
  const getRoot = rootGetter(root);
  const [first, ...others] = rest;
  if (first === undefined) return getRoot;
  if (others.length === 0) return (scope) => readStep(getRoot(scope), first);
  return (scope) => {
    let value = readStep(getRoot(scope), first);
    for (const segment of others) value = readStep(value, segment);
    return value;
  };
}

/** Reserved and computed names shadow the keys of the context, so a caller cannot forge them. Only `context` does not. */
function rootGetter(root: string): PathGetter {
  switch (root) {
    case "input":
      return (scope) => scope.input;
    case "facts":
      return (scope) => scope.facts;
    case "system":
      return (scope) => scope.system;
    case "context":
      return (scope) => (Object.hasOwn(scope.context, "context") ? scope.context["context"] : scope.context);
    default:
      return ({ computed, context }) => {
        if (computed !== undefined && Object.hasOwn(computed, root)) return computed[root];
        return Object.hasOwn(context, root) ? context[root] : undefined;
      };
  }
}

function readStep(value: Json | undefined, segment: string): Json | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    return isIndex(segment) ? list[Number(segment)] : undefined;
  }
  const object = value as JsonObject;
  return Object.hasOwn(object, segment) ? object[segment] : undefined;
}

function isIndex(segment: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(segment);
}

/** Returns a copy of a document with a value at a path. Creates the objects on the way. */
export function setAtPath(document: JsonObject, path: string, value: Json): JsonObject {
  return put(document, path.split("."), { value, path });
}

function put(
  document: JsonObject,
  [step = "", ...rest]: readonly string[],
  what: { readonly value: Json; readonly path: string },
): JsonObject {
  if (rest.length === 0) return { ...document, [step]: what.value };
  const inner = Object.hasOwn(document, step) ? document[step] : {};
  if (isObject(inner)) return { ...document, [step]: put(inner, rest, what) };
  throw new DecisionError(
    "input_invalid",
    `what is fetched into \`${what.path}\` has no place: \`${step}\` is no object`,
  );
}

/** Returns a copy of a document without the value at a path, or the document itself if there is none. */
export function removeAtPath(document: JsonObject, path: string): JsonObject {
  return remove(document, path.split("."));
}

function remove(document: JsonObject, [step = "", ...rest]: readonly string[]): JsonObject {
  if (!Object.hasOwn(document, step)) return document;
  const inner = document[step];
  if (rest.length === 0) {
    return Object.fromEntries(Object.entries(document).filter(([key]) => key !== step));
  }
  if (!isObject(inner)) return document;
  const left = remove(inner, rest);
  return left === inner ? document : { ...document, [step]: left };
}

/** Tells whether two paths are equal or one is a prefix of the other. */
export function pathsOverlap(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}
