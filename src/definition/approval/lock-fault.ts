import { DecisionError } from "../../errors.js";

/** What `decisions.lock` is called, in the directory of the definitions. */
export const lockName = "decisions.lock";

/** A lock that proves nothing. */
export function lockFault(file: string, what: string, hint?: string, cause?: unknown): DecisionError {
  return new DecisionError("not_approved", `\`${file}\` ${what}`, {
    hint: hint ?? "put the lock back as it was signed, or remove it on purpose and approve anew",
    cause,
  });
}
