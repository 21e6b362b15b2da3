import { frozenCopy } from "../digest/frozen-copy.js";
import { DecisionError } from "../errors.js";
import type { JsonObject } from "../model/json.js";

/** The caller's context as our own frozen copy: what is decided on can no longer change. */
export function bind(context: unknown): JsonObject {
  if (typeof context !== "object" || context === null || Array.isArray(context)) {
    throw new DecisionError("input_invalid", `the context must be a JSON object (got ${kindOf(context)})`, {
      hint: 'name the values, as in {"artifact": {"quality_score": 0.9}}',
    });
  }
  try {
    return frozenCopy(context) as JsonObject;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new DecisionError("input_invalid", `the context cannot be used: ${error.message}`, {
      cause: error,
    });
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return value === undefined ? "nothing" : `a ${typeof value}`;
}
