import type { Scope } from "../../model/scope.js";
import type { PreparedRule } from "./rule.js";

/** Why a rule decides: its reason, or else its condition. */
export const reasonOf = ({ rendered, when }: PreparedRule, scope: Scope): string =>
  rendered === undefined ? when : rendered.render(scope);
