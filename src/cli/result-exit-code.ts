import type { Result } from "../model/result.js";
import type { ExitCode } from "./exit-codes.js";

/** What a script can tell of a decision from the exit code alone. */
export function resultExitCode(result: Result): ExitCode {
  if (result.blocked) return 4;
  if (result.type === "policy") return result.allowed ? 0 : 4;
  if (result.type !== "gate") return 0;
  switch (result.status) {
    case "GREEN":
    case "GREEN-SKIP":
      return 0;
    case "YELLOW":
      return 5;
    case "RED":
      return 4;
  }
}
