import type { Composed } from "../compose.js";
import type { AuthenticatedCaller } from "../model/caller.js";
import type { JsonObject } from "../model/json.js";
import type { Records } from "../record/records.js";
import type { Scope } from "./auth/scopes.js";

/** The world as it is at the moment: what changes is another one. */
export type ServedWorld = Composed & { readonly records: Records };

/** Who asks, and whom. */
export interface Asker {
  readonly world: ServedWorld;
  /** Undefined: whoever can reach us may ask. */
  readonly caller: AuthenticatedCaller | undefined;
  /** Of the request, unless its body names another. */
  readonly correlationId: string | undefined;
}

/** Something that can be asked through every door: a route of HTTP, a tool of MCP. */
export interface Question<Input = unknown, Answer = unknown> {
  /** As the tool is called. */
  readonly name: string;
  readonly title: string;
  /** For an agent that has to choose. */
  readonly description: string;
  readonly scope: Scope;
  /** Whether nothing is kept of it. */
  readonly readOnly: boolean;
  /** The JSON Schema of what is given. */
  readonly input: JsonObject;
  /** The JSON Schema of what is answered. */
  readonly output: JsonObject;
  readonly answer: (input: Input, asker: Asker) => Promise<Answer>;
}
