import { DecisionError } from "../errors.js";
import { isObject } from "../expression/equal.js";
import type { Json, JsonObject } from "../model/json.js";

/** Of the details of an error, those that are about the request; where files lie is nobody's business on the other side. */
const told = ["errors", "candidates", "scope", "way"];

export function toldDetails({ details }: DecisionError): JsonObject | undefined {
  if (!isObject(details as Json)) return undefined;
  const kept = Object.entries(details as JsonObject).filter(([key]) => told.includes(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The same error as the other side may know it. */
export function toldError(error: DecisionError): DecisionError {
  return new DecisionError(error.code, error.message, { hint: error.hint, details: toldDetails(error) });
}
