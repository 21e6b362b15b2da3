import { DecisionError } from "../errors.js";
import { oneLineKey, readTrustedKey } from "../store/trusted-keys.js";

/**
 * The keys themselves, as they are kept in the settings: who exchanges a file later changes nothing. Refuses what
 * is no public Ed25519 key.
 */
export function trustedKeysToKeep(written: string): string {
  return [...new Set(written.split(",").map(keyIn))].join(",");
}

function keyIn(written: string): string {
  try {
    return oneLineKey(readTrustedKey(written));
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    throw new DecisionError("usage", error.message, { hint: error.hint, cause: error });
  }
}
