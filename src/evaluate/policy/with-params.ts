import { isObject } from "../../expression/equal.js";
import type { Json, JsonObject } from "../../model/json.js";

/** The params with what overrides set; only the top level is merged. */
export function withParams(params: Json, set: JsonObject): Json {
  if (Object.keys(set).length === 0) return params;
  return isObject(params) ? { ...params, ...set } : set;
}
