import type { World } from "../../src/decide/decide.js";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import type { Definition } from "../../src/model/definition.js";
import type { Json } from "../../src/model/json.js";

export const noon = "2026-03-02T12:00:00.000000Z";

/** A world with one definition in it, where time stands still. */
export function worldWith(definition: Definition, time = noon): World {
  const loaded = {
    definition,
    definition_hash: sha256Hex(canonicalJson(definition as unknown as Json)),
    environment: {},
    environment_hash: sha256Hex("{}"),
    file: "decisions/under-test.yaml",
    line: 1,
  };
  return { definitions: { find: () => Promise.resolve(loaded) }, clock: () => time, newId: () => "" };
}
