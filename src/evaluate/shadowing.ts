import { DecisionError } from "../errors.js";
import type { JsonObject } from "../model/json.js";

/**
 * Refuses a context whose key `context` would be read where the whole context is meant: it gives way to a key
 * of that name, and a caller could tell a gate or a policy something else by it.
 */
export function shadowGuard(paths: readonly string[]): (context: JsonObject) => void {
  const isRead = paths.some((path) => path === "context" || path.startsWith("context."));
  return (context) => {
    if (!isRead || !Object.hasOwn(context, "context")) return;
    throw new DecisionError(
      "input_invalid",
      "the context must not hold `context`, which stands for all of it",
      {
        hint: "leave it out, or give it another name",
      },
    );
  };
}
