import type { LoadedDefinition } from "../model/definition.js";
import type { Guardrail } from "../model/guardrail.js";
import type { JsonObject } from "../model/json.js";

/** What a guardrail is asked about. */
export interface Guarding {
  readonly loaded: LoadedDefinition;
  /** What the answer leads to: its targets, the tool of a call that is allowed, the action of a gate that opens. */
  readonly leadsTo: readonly string[];
  readonly workflow: string | undefined;
  readonly facts: JsonObject;
}

/** One thing that a guardrail looked at, and what it thinks of it. */
export interface Finding {
  readonly passed: boolean;
  readonly message: string;
}

/** Looks at an answer; throws where it cannot tell. */
export type Look<Kind extends Guardrail> = (guardrail: Kind, guarding: Guarding) => readonly Finding[];
