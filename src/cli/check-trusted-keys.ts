import { DecisionError } from "../errors.js";
import { readTrustedKey } from "../store/trusted-keys.js";

/** Refuses what is no public Ed25519 key, before it is kept in the settings. */
export function checkTrustedKeys(written: string): void {
  for (const key of written.split(",")) {
    try {
      readTrustedKey(key);
    } catch (error) {
      if (!(error instanceof DecisionError)) throw error;
      throw new DecisionError("usage", error.message, { hint: error.hint, cause: error });
    }
  }
}
