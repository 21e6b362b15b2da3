import type { Json, JsonObject } from "./json.js";

/** The values that an expression can read. */
export interface Scope {
  readonly context: JsonObject;
  /** The value of the definition's `input` expression; undefined while that one is being evaluated. */
  readonly input: Json | undefined;
  /** Computed values of a gate; they take precedence over keys of the context. */
  readonly computed?: JsonObject | undefined;
  readonly facts: JsonObject;
  readonly system: JsonObject;
}
