import type { JsonObject } from "../../model/json.js";
import type { LineageCondition, OverrideApplication, PolicyEvaluation } from "../../model/lineage.js";
import type { PolicyOutcome } from "../../model/result.js";

/** What the policies made of a call, with all that led to it. */
export interface Deliberation extends PolicyOutcome {
  readonly conditions: readonly LineageCondition[];
  readonly policies: readonly PolicyEvaluation[];
  /** The overrides that were applied, in the order of the denials that they flipped. */
  readonly overrides: readonly OverrideApplication[];
  /** What they set of the params; nothing where the call is denied. */
  readonly set_params: JsonObject;
  /** What counts the calls that are made. */
  readonly calls: readonly CountedCall[];
}

export interface CountedCall {
  readonly policy: string;
  /** It passed on the count, so that must still hold when the call is recorded. */
  readonly limited: boolean;
}
