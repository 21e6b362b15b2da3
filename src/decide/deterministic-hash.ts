import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Prepared } from "../evaluate/evaluate.js";
import type { Getter } from "../expression/path.js";
import { pathGetter } from "../expression/path.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";

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
  prepared: Prepared,
  scope: Scope,
  { selected_labels, selected_targets }: Chosen,
): string {
  const labels = canonicalJson(selected_labels);
  const targets = canonicalJson(selected_targets);
  const values = canonicalJson(valuesRead(prepared, scope));
  return sha256Hex(
    `${beginning(loaded)},"selected_labels":${labels},"selected_targets":${targets},"values_read":${values}}`,
  );
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

/** What is missing stays away, so a missing value and null differ. */
function valuesRead({ input, reads }: Prepared, scope: Scope): Record<string, Json> {
  const values: Record<string, Json> = {};
  for (const path of reads) {
    const value = getterOf(path)(scope);
    if (value !== undefined) values[path] = value;
  }
  // The path `context` gives way to a key of that name; a decision without an input reads all the same.
  if (input === undefined) values["context"] = scope.context;
  return values;
}

const getters = new Map<string, Getter>();

function getterOf(path: string): Getter {
  let getter = getters.get(path);
  if (getter === undefined) {
    getter = pathGetter(path.split("."));
    if (getters.size < 10_000) getters.set(path, getter);
  }
  return getter;
}
