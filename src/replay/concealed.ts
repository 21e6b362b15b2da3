import type { Prepared } from "../evaluate/evaluate.js";
import { givenPaths } from "../lineage/sources.js";
import type { Json, JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import { masked } from "../record/mask.js";

/** Whether an answer depends on values of a record that were masked. */
export function readsConcealed(prepared: Prepared, { context = {}, facts }: DecisionRecord): boolean {
  // Of the facts only what other decisions have set is made of the context.
  if (isConcealed(facts["set_params"] ?? null)) return true;
  const influences = influencesOf(prepared);
  // A key of that name is what `context` then stands for.
  if (influences === "all" || Object.hasOwn(context, "context")) return isConcealed(context);
  const { way, values } = influences;
  return (
    (way !== undefined && isHidden(context, way)) || values.some((path) => leadsToConcealed(context, path))
  );
}

interface Influences {
  /** Where the input is found: it cannot be where anything on the way is masked. */
  readonly way: string | undefined;
  /** Whatever of these is masked, at any depth, may have made the difference. */
  readonly values: readonly string[];
}

const known = new WeakMap<Prepared, Influences | "all">();

function influencesOf(prepared: Prepared): Influences | "all" {
  let influences = known.get(prepared);
  if (influences === undefined) {
    influences = findInfluences(prepared);
    known.set(prepared, influences);
  }
  return influences;
}

/** A roll depends on the whole input, a schema looks at the whole context. */
function findInfluences(prepared: Prepared): Influences | "all" {
  const { definition, input, asks } = prepared;
  if (definition.type === "gate" && definition.context_schema !== undefined) return "all";
  const path = input?.tree?.kind === "path" ? input.tree.segments.join(".") : undefined;
  const isWhole = definition.type === "weighted" || path === undefined;
  const asked = isWhole ? (input?.reads ?? (definition.type === "weighted" ? ["context"] : [])) : [];
  const values = [...asks, ...asked].flatMap((each) => givenPaths(each, prepared));
  if (values.some((each) => each === "" || each === "context")) return "all";
  const [way] = path === undefined ? [] : givenPaths("input", prepared);
  return { way, values };
}

/** Whether a masked value stands on the way, or at its end. */
function isHidden(context: JsonObject, path: string): boolean {
  return endOf(context, path) === masked;
}

/** What is masked hides all that is under it, and what holds something masked is not as it was. */
function leadsToConcealed(context: JsonObject, path: string): boolean {
  const end = endOf(context, path);
  return end !== undefined && isConcealed(end);
}

/** Where a path leads; no further than to what is masked. */
function endOf(context: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = context;
  for (const step of path.split(".")) {
    if (value === masked) return masked;
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as JsonObject)[step];
  }
  return value;
}

function isConcealed(value: Json): boolean {
  if (typeof value !== "object" || value === null) return value === masked;
  return Object.values(value).some(isConcealed);
}
