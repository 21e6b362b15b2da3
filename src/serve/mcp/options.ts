import type { AuthenticatedCaller } from "../../model/caller.js";
import type { Level } from "../log-lines.js";
import type { ServedWorld } from "../question.js";

/** What the door of MCP is told once. */
export interface McpOptions {
  readonly world: () => ServedWorld;
  /** Hears that definitions have changed, until what it gives is called. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Takes what is for whoever runs the server, never for whoever asks. */
  readonly log: (entry: McpEntry) => void;
  readonly version: string;
}

export interface McpEntry {
  readonly level: Level;
  readonly event: "called" | "failed" | "bug" | "protocol" | "refused_line";
  readonly [more: string]: unknown;
}

/** Who is at the door. */
export interface AskedBy {
  readonly caller: AuthenticatedCaller | undefined;
  readonly correlationId: string | undefined;
}
