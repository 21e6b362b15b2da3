import type { Json, JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** Reads a path out of a scope; undefined where there is nothing. */
export type Getter = (scope: Scope) => Json | undefined;

const forbidden = new Set(["constructor", "__proto__", "prototype"]);

export function isForbiddenKey(key: string): boolean {
  return forbidden.has(key);
}

/** Own properties only, so a path never leaves the document it reads. */
export function pathGetter(segments: readonly string[]): Getter {
  const [root = "", ...rest] = segments;
  const getRoot = rootGetter(root);
  const [first, ...others] = rest;
  if (first === undefined) return getRoot;
  if (others.length === 0) return (scope) => step(getRoot(scope), first);
  return (scope) => {
    let value = step(getRoot(scope), first);
    for (const segment of others) value = step(value, segment);
    return value;
  };
}

/** The reserved and the computed names win over the context's keys, so a caller cannot forge them; `context` gives way. */
function rootGetter(root: string): Getter {
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

function step(value: Json | undefined, segment: string): Json | undefined {
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
