import type { FindKey } from "./signature.js";

/** The keys of the issuer, as they are at the moment. */
export interface Keys {
  /** Finds the one key that a token can be signed with. */
  readonly find: FindKey;
  /** The same object as long as the keys are the same; throws KeysUnreachable where they cannot be known. */
  readonly edition: () => Promise<object>;
}

/** Without its keys nothing can be said about a token, neither good nor bad. */
export class KeysUnreachable extends Error {
  override readonly name = "KeysUnreachable";
}

/** Where somebody should look after the keys; told once as long as it stays the same. */
export type Report = (message: string) => void;

export interface Watch {
  readonly fault: (message: string) => void;
  readonly fine: () => void;
}

export function watchOf(report: Report): Watch {
  let told: string | undefined;
  return {
    fault: (message) => {
      if (message !== told) report(message);
      told = message;
    },
    fine: () => (told = undefined),
  };
}
