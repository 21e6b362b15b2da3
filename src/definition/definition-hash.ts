import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Definition } from "../model/definition.js";
import type { Json } from "../model/json.js";

/** SHA-256 of the `decision` mapping in canonical JSON: stands for exactly this definition. */
export function definitionHash(definition: Definition): string {
  return sha256Hex(canonicalJson(definition as unknown as Json));
}
