import { canonicalJson } from "../../digest/canonical-json.js";
import type { Json, JsonObject } from "../../model/json.js";

/** A difference between two documents; an absent side does not have the value. */
export interface Change {
  /** A JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** Returns the differences between two documents, at the deepest possible paths. */
export function changesBetween(
  before: Json | undefined,
  after: Json | undefined,
  path = "",
): readonly Change[] {
  if (isTree(before) && isTree(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => changesBetween(at(before, key), at(after, key), `${path}/${escaped(key)}`));
  }
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after))
    return [];
  if (before === undefined && after === undefined) return [];
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

const isTree = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null;

const at = (tree: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(tree, key) ? tree[key] : undefined;

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** Returns a document with its keys in the order of another one. */
export function orderedLike(value: Json, model: Json | undefined): Json {
  if (Array.isArray(value)) {
    const models = Array.isArray(model) ? (model as readonly Json[]) : [];
    return (value as readonly Json[]).map((each, index) => orderedLike(each, models[index]));
  }
  if (!isTree(value)) return value;
  const like = isTree(model) ? model : {};
  const shared = Object.keys(like).filter((key) => Object.hasOwn(value, key));
  const keys = new Set([...shared, ...Object.keys(value)]);
  return Object.fromEntries([...keys].map((key) => [key, orderedLike(value[key] ?? null, at(like, key))]));
}
