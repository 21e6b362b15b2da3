import { DecisionError } from "../../../errors.js";

/** The log is not what was written; nothing is added to it before somebody has looked. */
export function damagedLogError(directory: string, what: string): DecisionError {
  return new DecisionError("log_damaged", `the log in \`${directory}\` is damaged: ${what}`, {
    hint: `see \`agent-33 decision verify\`; to go on with a new log, move \`${directory}\` elsewhere and keep it`,
  });
}

/** Somebody has removed it while it was in use. */
export function removedLogError(directory: string): DecisionError {
  return new DecisionError(
    "store_failed",
    `the log in \`${directory}\` is gone: it was removed while in use`,
    { hint: "put it back; whoever is started anew begins a new one" },
  );
}

/** What cannot be read is told as such. */
export function wrapReadErrors<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof DecisionError || code === undefined) throw error;
    throw new DecisionError("store_failed", `cannot read the store in \`${where}\`: ${message}`, {
      hint: "see that it is a directory, and that you may read all that is in it",
      cause: error,
    });
  }
}

/** What could not be written; a decision was then not made. */
export function toWriteError(where: string, what: "record" | "store"): (error: unknown) => unknown {
  return (error) => {
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof DecisionError || code === undefined) return error;
    const said =
      what === "record"
        ? "the decision could not be recorded, so it was not made"
        : `cannot write to \`${where}\``;
    return new DecisionError("store_failed", `${said}: ${message}`, {
      hint: "see that the store's directory can be written and that there is space; nothing was lost",
      cause: error,
    });
  };
}
