import { DecisionError } from "../errors.js";
import type { Json, JsonObject } from "../model/json.js";
import { isObject } from "./equal.js";

/** A copy of a document with a value at a path, and with the objects that lead there. */
export function putAt(document: JsonObject, path: string, value: Json): JsonObject {
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

/** A copy without what is at a path; the document itself where there is nothing. */
export function removeAt(document: JsonObject, path: string): JsonObject {
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

/** Whether one of two paths leads to, or past, where the other does. */
export function overlaps(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}
