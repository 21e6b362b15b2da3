import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze.js";
import { sha256Hex } from "../digest/sha256.js";
import { definitionHash } from "../definition/definition-hash.js";
import type { LoadedDefinition, PolicyDefinition } from "../model/definition.js";

let known: LoadedDefinition | undefined;

/** What is asked where no policy is about the tool: it allows the call, and the record says so. */
export function noPolicyDefinition(): LoadedDefinition {
  return (known ??= makeDefinition());
}

function makeDefinition(): LoadedDefinition {
  const definition: PolicyDefinition = { id: "none", type: "policy", tool: "*", policies: [] };
  const environment = { targets: [] };
  return deepFreeze({
    definition,
    definition_hash: definitionHash(definition),
    environment,
    environment_hash: sha256Hex(canonicalJson(environment)),
    file: "",
    line: 0,
  });
}
