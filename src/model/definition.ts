import type { CommonDefinition, OnError } from "./common-definition.js";
import type { Endpoints } from "./endpoint.js";
import type { GateDefinition } from "./gate-definition.js";
import type { Guardrail } from "./guardrail.js";
import type { Json, JsonObject } from "./json.js";
import type { PolicyDefinition } from "./policy-definition.js";
import type { ScoredDefinition } from "./scored-definition.js";

export type { Logging, OnError } from "./common-definition.js";
export type * from "./endpoint.js";
export type * from "./gate-definition.js";
export type * from "./guardrail.js";
export type * from "./policy-definition.js";
export type * from "./scored-definition.js";

/** What a YAML file declares under `decision`. */
export type Definition = RoutingDefinition | ScoredDefinition | PolicyDefinition | GateDefinition;

export type DecisionType = Definition["type"];

/** Those that answer with where to go. */
export type RoutingDefinition = FirstMatchDefinition | WeightedDefinition | RuleTableDefinition;

interface Routing extends CommonDefinition {
  readonly default: { readonly target: string };
  readonly on_error?: OnError;
}

export interface FirstMatchDefinition extends Routing {
  readonly type: "binary" | "switch";
  readonly cases: readonly Case[];
}

export interface WeightedDefinition extends Routing {
  readonly type: "weighted";
  readonly cases: readonly Case[];
  readonly salt?: string;
}

export interface RuleTableDefinition extends Routing {
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

/** What stands beside a definition and bears on it. */
export interface Environment {
  readonly targets: readonly Target[];
  /** Those for every decision; absent: none. */
  readonly guardrails?: readonly Guardrail[];
  /** Those that it fetches from; absent: none. */
  readonly endpoints?: Endpoints;
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
