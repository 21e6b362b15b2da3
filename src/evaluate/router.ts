import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { Branch } from "./branch.js";
import type { Selection } from "./selection.js";

/** A routing type made ready for one definition. */
export interface Router {
  readonly branches: readonly Branch[];
  select(input: Json, scope: Scope): Selection;
}
