import type { Json, JsonObject } from "./json.js";

/** What a YAML file declares under `decision`. */
export type Definition = FirstMatchDefinition | WeightedDefinition | RuleTableDefinition;

export type DecisionType = Definition["type"];

interface Common {
  readonly id: string;
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  /** Absent: the whole context. */
  readonly input?: string;
  readonly default: { readonly target: string };
  readonly on_error?: "no_match" | "fail";
  readonly entities?: readonly { readonly type: string; readonly id: string }[];
  readonly artifacts?: readonly string[];
  readonly logging?: Logging;
  readonly cache?: { readonly enabled?: boolean; readonly ttl?: string };
}

export interface Logging {
  readonly log_decision?: boolean;
  readonly include_inputs?: boolean;
  readonly include_evaluation?: boolean;
  readonly mask?: readonly string[];
}

export interface FirstMatchDefinition extends Common {
  readonly type: "binary" | "switch";
  readonly cases: readonly Case[];
}

export interface WeightedDefinition extends Common {
  readonly type: "weighted";
  readonly cases: readonly Case[];
  readonly salt?: string;
}

export interface RuleTableDefinition extends Common {
  readonly type: "rule_table";
  readonly hit_policy?: HitPolicy;
  readonly rules?: readonly Case[];
  readonly cases?: readonly Case[];
}

export type HitPolicy = "first" | "collect" | "priority" | "unique" | "any";

/** One branch: where it leads, and when. */
export interface Case {
  readonly condition?: string;
  readonly target: string;
  readonly label?: string;
  /** A share of traffic, for `weighted`. */
  readonly weight?: number;
  /** For `rule_table`; the lowest number wins. */
  readonly priority?: number;
  readonly description?: string;
}

/** A stage or workflow that decisions may lead to. */
export interface Target {
  readonly id: string;
  readonly kind?: "stage" | "workflow";
  readonly depends_on?: readonly string[];
  readonly disabled?: boolean;
}

/** A case written in a `tests:` document. */
export interface DefinitionTest {
  readonly name?: string;
  readonly decision: string;
  readonly input?: Json;
  readonly expect: JsonObject;
}

/** A definition with all that was found out about it when it was loaded. */
export interface LoadedDefinition {
  readonly definition: Definition;
  readonly definition_hash: string;
  /** What stands beside the definition and bears on it. */
  readonly environment: JsonObject;
  readonly environment_hash: string;
  readonly file: string;
  readonly line: number;
}
