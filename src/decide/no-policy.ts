import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze.js";
import { sha256Hex } from "../digest/sha256.js";
import { definitionHash } from "../definition/definition-hash.js";
import type { Environment, LoadedDefinition, PolicyDefinition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";

const known = new Map<string, LoadedDefinition>();

/** What is asked where no policy is about the tool: it allows the call, and the record says so. */
export function noPolicyDefinition(everywhere: Environment): LoadedDefinition {
  const environment = everywhere as unknown as JsonObject;
  const hash = sha256Hex(canonicalJson(environment));
  let loaded = known.get(hash);
  if (loaded === undefined) {
    const definition: PolicyDefinition = { id: "none", type: "policy", tool: "*", policies: [] };
    loaded = deepFreeze({
      definition,
      definition_hash: definitionHash(definition),
      environment,
      environment_hash: hash,
      file: "",
      line: 0,
    });
    known.set(hash, loaded);
  }
  return loaded;
}
