import type { Json, JsonObject } from "./json.js";

/** What an expression can see. */
export interface Scope {
  readonly context: JsonObject;
  /** The value of the definition's `input` expression; undefined while that one is being evaluated. */
  readonly input: Json | undefined;
  /** Values that a definition derives from the others; they win over the context's keys. */
  readonly computed?: JsonObject | undefined;
  readonly facts: JsonObject;
  readonly system: JsonObject;
}
