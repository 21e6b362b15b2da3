import { canonicalJson } from "../../digest/canonical-json.js";
import { sha256Hex } from "../../digest/sha256.js";
import type { FetchCondition } from "../../model/endpoint.js";
import type { Json } from "../../model/json.js";

/** What a fetch is called among the facts: another one, however little it differs, has another name. */
export function fetchKey(fetch: FetchCondition & { readonly into?: string }): string {
  const { endpoint, params = {}, mapping = {}, into = null } = fetch;
  const digest = sha256Hex(canonicalJson({ endpoint, params, mapping: mapping as Json, into }));
  return `${endpoint}:${digest.slice(0, 16)}`;
}
