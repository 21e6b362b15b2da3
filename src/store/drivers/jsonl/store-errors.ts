import { dirname } from "node:path";
import { DecisionError, fileErrorHint } from "../../../errors.js";

/** The log was changed by something other than this program, so nothing more is appended to it. */
export function damagedLogError(directory: string, problem: string): DecisionError {
  return new DecisionError("log_damaged", `the log in \`${directory}\` is damaged: ${problem}`, {
    hint: `run \`agent-33 decision verify\`; to start a new log, move \`${dirname(directory)}\` elsewhere and keep it`,
  });
}

/** The whole log was removed while this process used it. */
export function removedLogError(directory: string): DecisionError {
  return new DecisionError("store_failed", `the log in \`${directory}\` was removed while it was in use`, {
    hint: "restore it, or restart agent-33 to start a new log",
  });
}

/** Runs `read` and turns file system errors into `store_failed`. */
export function wrapReadErrors<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    return throwReadError(where)(error);
  }
}

/** Throws file system errors of a read as `store_failed`; other errors as they are. */
export const throwReadError =
  (where: string) =>
  (error: unknown): never => {
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof DecisionError || code === undefined) throw error;
    throw new DecisionError("store_failed", `cannot read the store in \`${where}\`: ${message}`, {
      hint: fileErrorHint(error, where) ?? `check the files in \`${where}\``,
      cause: error,
    });
  };

/** Turns file system errors of a write into `store_failed`; other errors stay as they are. */
export function toWriteError(where: string, target: "record" | "store"): (error: unknown) => unknown {
  return (error) => {
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof DecisionError || code === undefined) return error;
    const failure =
      target === "record"
        ? "the decision could not be recorded, so it was not made"
        : `cannot write to \`${where}\``;
    return new DecisionError("store_failed", `${failure}: ${message}`, {
      hint: `${fileErrorHint(error, where) ?? `check the disk of \`${where}\``}; no record was lost`,
      cause: error,
    });
  };
}
