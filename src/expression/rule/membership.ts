import { canonicalJson } from "../../digest/canonical-json.js";
import type { Json, JsonObject } from "../../model/json.js";

/** The different items of a list, by content. */
export interface Members {
  readonly size: number;
  readonly has: (item: Json) => boolean;
  readonly allIn: (list: readonly Json[]) => boolean;
}

/** Made ready once, so that a list is compared with them in the time it takes to read it. */
export function membersOf(items: readonly Json[]): Members {
  const scalars = new Set<Json>();
  const compounds = new Set<string>();
  for (const item of items) {
    if (isCompound(item)) compounds.add(canonicalJson(item));
    else scalars.add(item);
  }
  const size = scalars.size + compounds.size;
  const has = (item: Json): boolean => {
    if (!isCompound(item)) return scalars.has(item);
    return compounds.size > 0 && compounds.has(canonicalJson(item));
  };
  return { size, has, allIn: (list) => membersOf(list.filter(has)).size === size };
}

function isCompound(item: Json): item is readonly Json[] | JsonObject {
  return typeof item === "object" && item !== null;
}
