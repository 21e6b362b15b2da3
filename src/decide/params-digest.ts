import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import { maskContext } from "../record/mask.js";

const length = 32;

/** Tells calls with different params apart, without the values that any of the decisions masks. */
export function paramsDigest(params: Json, asked: readonly LoadedDefinition[]): string {
  const pointers = asked.flatMap(({ definition }) => definition.logging?.mask ?? []);
  const { params: shown = null } = maskContext({ params }, pointers);
  return sha256Hex(canonicalJson(shown)).slice(0, length);
}
