import { sha256Hex } from "../../digest/sha256.js";
import type { AuthenticatedCaller } from "../../model/caller.js";

export interface Verified {
  readonly caller: AuthenticatedCaller;
  /** As the token has it, in seconds. */
  readonly exp: number;
}

export interface VerifiedTokens {
  readonly find: (edition: object, token: string) => Verified | undefined;
  readonly keep: (edition: object, token: string, verified: Verified) => void;
}

/** Remembers the tokens used last, by their digest; all are forgotten when the keys are others. */
export function verifiedTokens(most: number): VerifiedTokens {
  const kept = new Map<string, Verified>();
  let current: object | undefined;
  return {
    find: (edition, token) => {
      if (edition !== current) kept.clear();
      current = edition;
      const digest = sha256Hex(token);
      const verified = kept.get(digest);
      if (verified === undefined) return undefined;
      kept.delete(digest);
      kept.set(digest, verified);
      return verified;
    },
    keep: (edition, token, verified) => {
      // The keys may have changed while the token was being checked.
      if (edition !== current) return;
      kept.set(sha256Hex(token), verified);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    },
  };
}
