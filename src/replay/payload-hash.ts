import type { JsonObject } from "../model/json.js";
import type { Hashed } from "../record/audit-payload.js";
import { scoredHash } from "../record/audit-payload.js";
import { plainThroughout } from "./plain-keys.js";
import type { StoredPayload } from "./stored-payload.js";

export interface Said extends Hashed {
  readonly context: JsonObject;
}

/**
 * The hash of what a payload says. Where one is written with symbols, so may its context and metadata be, which
 * were hashed by their plain names.
 */
export function payloadHash(
  said: Said,
  { deterministic_hash: stored, hasSymbols }: Pick<StoredPayload, "deterministic_hash" | "hasSymbols">,
): string {
  const hash = scoredHash(said.context, said);
  if (!hasSymbols || hash === stored) return hash;
  const plain = plainThroughout(said as unknown as JsonObject) as unknown as Said;
  const plainHash = scoredHash(plain.context, plain);
  return plainHash === stored ? plainHash : hash;
}
