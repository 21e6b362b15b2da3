import type { CountedLimit } from "../limits.js";
import { isObject } from "../../expression/equal.js";
import type { JsonObject, Json } from "../../model/json.js";
import type { LineageCondition, OverrideApplication, PolicyEvaluation } from "../../model/lineage.js";
import type { PolicyOutcome } from "../../model/result.js";

/** The outcome of a tool call, with the policies and overrides that led to it. */
export interface DetailedPolicyOutcome extends PolicyOutcome {
  readonly conditions: readonly LineageCondition[];
  readonly policies: readonly PolicyEvaluation[];
  /** The applied overrides, in the order of the denials. */
  readonly overrides: readonly OverrideApplication[];
  /** The params that they set; empty if the call is denied. */
  readonly set_params: JsonObject;
  /** The limits that count the call. */
  readonly counted: readonly CountedLimit[];
}

/** Merges the params of a call with those that overrides set; only at the top level. */
export function mergeParams(params: Json, set: JsonObject): Json {
  if (Object.keys(set).length === 0) return params;
  return isObject(params) ? { ...params, ...set } : set;
}

/** The reason why an override was not evaluated: none of the policies that it names denied. */
export const nothingToOverride = "there was no denial to override";
