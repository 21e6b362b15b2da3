import { canonicalJson } from "../../digest/canonical-json.js";
import { Failure } from "../../expression/failure.js";
import type { Scope } from "../../model/scope.js";
import type { PreparedRule } from "./rule.js";

/** Why a rule decides: its reason, as it is written where it cannot be rendered, or else its condition. */
export function reasonOf({ rendered, when }: PreparedRule, scope: Scope): string {
  if (rendered === undefined) return when;
  const value = rendered.evaluate(scope);
  if (value instanceof Failure) return rendered.text;
  return typeof value === "string" ? value : canonicalJson(value);
}
