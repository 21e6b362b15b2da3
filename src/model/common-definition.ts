import type { Enrichment } from "./endpoint.js";
import type { Guardrail } from "./guardrail.js";

/** What a decision of any type may declare. */
export interface CommonDefinition {
  readonly id: string;
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  /** Absent: the whole context. */
  readonly input?: string;
  readonly guardrails?: readonly Guardrail[];
  /** What is fetched before it is decided. */
  readonly enrich?: readonly Enrichment[];
  readonly entities?: readonly { readonly type: string; readonly id: string }[];
  readonly artifacts?: readonly string[];
  readonly logging?: Logging;
  readonly cache?: { readonly enabled?: boolean; readonly ttl?: string };
}

/** What a condition that cannot be evaluated does. */
export type OnError = "no_match" | "fail";

export interface Logging {
  readonly log_decision?: boolean;
  readonly include_inputs?: boolean;
  readonly include_evaluation?: boolean;
  readonly mask?: readonly string[];
}
