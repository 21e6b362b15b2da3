import { isObject } from "../../expression/equal.js";
import type { JsonObject, Json } from "../../model/json.js";
import type { LineageCondition, OverrideApplication, PolicyEvaluation } from "../../model/lineage.js";
import type { PolicyOutcome } from "../../model/result.js";

/** What the policies made of a call, with all that led to it. */
export interface DetailedPolicyOutcome extends PolicyOutcome {
  readonly conditions: readonly LineageCondition[];
  readonly policies: readonly PolicyEvaluation[];
  /** The overrides that were applied, in the order of the denials that they flipped. */
  readonly overrides: readonly OverrideApplication[];
  /** What they set of the params; nothing where the call is denied. */
  readonly set_params: JsonObject;
  /** What counts the calls that are made. */
  readonly calls: readonly CountedCall[];
}

interface CountedCall {
  readonly policy: string;
  /** It passed on the count, so that must still hold when the call is recorded. */
  readonly limited: boolean;
}

/** The params with what overrides set; only the top level is merged. */
export function mergeParams(params: Json, set: JsonObject): Json {
  if (Object.keys(set).length === 0) return params;
  return isObject(params) ? { ...params, ...set } : set;
}

/** Why an override had no say where no policy that it names denied. */
export const nothingToOverride = "there was nothing for it to override";
