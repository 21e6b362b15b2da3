import type { Json } from "../model/json.js";
import type { Result } from "../model/result.js";
import { oneLine } from "../text.js";

/** Returns the targets, or the labels where there are no targets, on one line. Scripts read them as they are. */
export function targetLine(
  result: Pick<Result, "selected_targets" | "selected_labels" | "final_targets">,
): string {
  const { selected_labels: labels, final_targets: targets = result.selected_targets } = result;
  return (targets.length > 0 ? targets : labels).join(" ").replaceAll(/\s*[\n\r]\s*/g, " ");
}

/**
 * Returns the output on one line, or the list of outputs of a table that selects several rules; nothing for a blocked
 * result. Text stays as it is; other values are JSON, as is text with line breaks or other control characters.
 */
export function outputLine(
  { outputs = [], blocked }: Pick<Result, "outputs" | "blocked">,
  isList: boolean,
): string {
  const [output] = outputs;
  if (blocked && output === undefined) return "";
  return isList ? JSON.stringify(outputs) : plainOutput(output ?? null);
}

const plainOutput = (output: Json): string =>
  typeof output === "string" && !/[\p{Cc}\u2028\u2029]/u.test(output) ? output : JSON.stringify(output);

/** Returns the answer for people: a blocked result has no target. */
export const answerText = (result: Result): string =>
  result.blocked && result.selected_labels.length === 0 ? "blocked" : oneLine(targetLine(result));

/** Returns the audit payload alone, as input for `replay --payload`. */
export function auditText(result: Result, indent?: number): string {
  return result.type === "scored" ? `${JSON.stringify(result.audit_payload, null, indent)}\n` : "";
}

export function plainResult(result: Result): string {
  const { decision_id, type, selected_labels, because } = result;
  const cells = [selected_labels.join(", "), decision_id, type, because.join("; ")];
  return [answerText(result), ...cells.map(oneLine)].join("\t");
}
