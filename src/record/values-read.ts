import { canonicalJson } from "../digest/canonical-json.js";
import type { Prepared } from "../evaluate/evaluate.js";
import type { Getter } from "../expression/path.js";
import { pathGetter } from "../expression/path.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** Everything that an answer depends on, by path, as canonical JSON. What is missing stays away, so it differs from null. */
export function valuesRead({ input, reads }: Prepared, scope: Scope): string {
  const values: Record<string, Json> = {};
  for (const path of reads) {
    const value = getterOf(path)(scope);
    if (value !== undefined) values[path] = value;
  }
  // The path `context` gives way to a key of that name; without an input, or with a schema, all is read.
  if (input === undefined || reads.includes("context")) values["context"] = scope.context;
  return canonicalJson(values);
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
