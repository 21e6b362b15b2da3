import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { LoadedDefinition } from "../model/definition.js";

interface Chosen {
  readonly selected_labels: readonly string[];
  readonly selected_targets: readonly string[];
}

/**
 * Equal whenever the same definition read the same values and chose the same; time has no part in it. What
 * is hashed is the canonical JSON of `{decision_id, definition_hash, selected_labels, selected_targets,
 * values_read}`, whose beginning is the same for all decisions of one definition.
 */
export function deterministicHash(
  loaded: LoadedDefinition,
  valuesRead: string,
  { selected_labels, selected_targets }: Chosen,
): string {
  const labels = canonicalJson(selected_labels);
  const targets = canonicalJson(selected_targets);
  return sha256Hex(
    `${beginning(loaded)},"selected_labels":${labels},"selected_targets":${targets},"values_read":${valuesRead}}`,
  );
}

/** The same question to the same definition has the same key. */
export function cacheKey(loaded: LoadedDefinition, valuesRead: string): string {
  return sha256Hex(`${beginning(loaded)},"values_read":${valuesRead}}`);
}

const beginnings = new WeakMap<LoadedDefinition, string>();

function beginning(loaded: LoadedDefinition): string {
  let text = beginnings.get(loaded);
  if (text === undefined) {
    const { definition, definition_hash } = loaded;
    text = canonicalJson({ decision_id: definition.id, definition_hash }).slice(0, -1);
    beginnings.set(loaded, text);
  }
  return text;
}
