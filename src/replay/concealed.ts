import type { Prepared } from "../evaluate/evaluate.js";
import { givenPaths } from "../lineage/sources.js";
import type { Json, JsonObject } from "../model/json.js";
import { masked } from "../record/mask.js";

/** Whether an answer depends on values of a recorded context that were masked. */
export function readsConcealed(prepared: Prepared, context: JsonObject): boolean {
  const paths = influences(prepared);
  return paths === "all" ? isConcealed(context) : paths.some((path) => leadsToConcealed(context, path));
}

const known = new WeakMap<Prepared, readonly string[] | "all">();

function influences(prepared: Prepared): readonly string[] | "all" {
  let paths = known.get(prepared);
  if (paths === undefined) {
    paths = findInfluences(prepared);
    known.set(prepared, paths);
  }
  return paths;
}

/** A roll depends on the whole input, a schema looks at the whole context. */
function findInfluences(prepared: Prepared): readonly string[] | "all" {
  const { definition, input, asks } = prepared;
  if (definition.type === "gate" && definition.context_schema !== undefined) return "all";
  const rolled = definition.type === "weighted" ? (input?.reads ?? ["context"]) : [];
  const paths = [...asks, ...rolled].flatMap((path) => givenPaths(path, prepared));
  return paths.some((path) => path === "" || path === "context") ? "all" : paths;
}

/** What is masked hides all that is under it, and what holds something masked is not as it was. */
function leadsToConcealed(context: JsonObject, path: string): boolean {
  let value: Json | undefined = context;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return false;
    value = (value as JsonObject)[step];
    if (value === masked) return true;
  }
  return value !== undefined && isConcealed(value);
}

function isConcealed(value: Json): boolean {
  if (typeof value !== "object" || value === null) return value === masked;
  return Object.values(value).some(isConcealed);
}
