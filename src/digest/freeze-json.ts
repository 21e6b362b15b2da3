import type { Json, JsonObject } from "../model/json.js";

/** The deepest nesting that a document may have. */
export const maxDepth = 128;

/** Returns a deeply frozen copy of a JSON document. Throws a TypeError on any value that is not JSON. */
export function frozenCopy(value: unknown): Json {
  return copy(value, 0);
}

function copy(value: unknown, depth: number): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`\`${value}\` is not a JSON number`);
      return value;
    case "object":
      if (value === null) return null;
      if (depth >= maxDepth) throw new TypeError(`it is nested deeper than ${maxDepth}`);
      return Array.isArray(value) ? copyList(value, depth + 1) : copyObject(value, depth + 1);
    default:
      throw new TypeError(`a value of type \`${typeof value}\` is not JSON`);
  }
}

function copyList(list: readonly unknown[], depth: number): Json {
  // `map` would skip the holes of a sparse list.
  return Object.freeze(Array.from(list, (item) => copy(item, depth)));
}

function copyObject(object: object, depth: number): JsonObject {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null)
    throw new TypeError("only plain objects are JSON");
  const copied: Record<string, Json> = {};
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const json = copy(value, depth);
    // Assigning to `__proto__` would set the prototype instead of a key.
    if (key === "__proto__") Object.defineProperty(copied, key, { value: json, enumerable: true });
    else copied[key] = json;
  }
  return Object.freeze(copied);
}

/** Freezes a document deeply. A part that is already frozen is assumed to be deeply frozen. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    // Not `for … in` for lists: it converts every index to a string.
    if (Array.isArray(value)) for (const item of value as readonly unknown[]) deepFreeze(item);
    else for (const key in value) deepFreeze(value[key]);
  }
  return value;
}
