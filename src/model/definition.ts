import type { Endpoints, Enrichment } from "./endpoint.js";
import type { Json, JsonObject } from "./json.js";

export type * from "./endpoint.js";

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

/** What a decision of any type may declare. */
interface CommonDefinition {
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
type OnError = "no_match" | "fail";

export interface Logging {
  readonly log_decision?: boolean;
  readonly include_inputs?: boolean;
  readonly include_evaluation?: boolean;
  readonly mask?: readonly string[];
}

/** What must hold for an answer to be acted on. */
export type Guardrail = NoDisabledTargets | WeightBounds | RequiresApproval | DistributionDrift;

interface CommonGuardrail {
  readonly description?: string;
  /** Absent: `block`. */
  readonly on_fail?: OnFail;
  /** Where an escalated answer leads instead. */
  readonly escalate_to?: string;
}

/** What becomes of an answer that fails. */
export type OnFail = "block" | "escalate" | "warn";

/** Nothing leads to what is switched off, here or under `targets`. */
export interface NoDisabledTargets extends CommonGuardrail {
  readonly type: "no_disabled_targets";
  /** Names, or globs. */
  readonly disabled_stages?: readonly string[];
}

/** No branch of a split is too small or too large. */
export interface WeightBounds extends CommonGuardrail {
  readonly type: "weight_bounds";
  readonly min_weight?: number;
  readonly max_weight?: number;
}

/** In some workflows some targets are reached by way of an approval only. */
export interface RequiresApproval extends CommonGuardrail {
  readonly type: "requires_approval";
  /** Names, or globs; absent: whichever workflow. */
  readonly workflows?: readonly string[];
  /** Names, or globs; absent: whatever it leads to. */
  readonly targets?: readonly string[];
  /** An answer that leads there is approved, or will be. */
  readonly approval_target?: string;
}

/** A split is taken as its weights say. */
export interface DistributionDrift extends CommonGuardrail {
  readonly type: "distribution_drift";
  /** Below this the split has drifted. Absent: 0.001. */
  readonly p_value?: number;
  /** Of fewer distinct inputs nothing is said. Absent: 500. */
  readonly minimum?: number;
}

/** Several evaluators vote; the strategy makes one decision of their votes. */
export interface ScoredDefinition extends CommonDefinition {
  readonly type: "scored";
  readonly on_error?: OnError;
  readonly evaluators: readonly EvaluatorDefinition[];
  /** Absent: `weighted_average`. */
  readonly scoring?: Scoring;
  /** Where each decision leads. */
  readonly targets?: Readonly<Record<string, string>>;
}

export type EvaluatorDefinition = RulesetDefinition | StaticEvaluatorDefinition;

/** The first rule that matches votes. */
export interface RulesetDefinition {
  readonly name: string;
  readonly ruleset?: string;
  readonly rules: readonly ScoredRule[];
}

export interface StaticEvaluatorDefinition {
  readonly name: string;
  readonly static: Vote;
}

/** Either `if` or `when` says when it matches. */
export interface ScoredRule {
  readonly id: string;
  readonly if?: RuleCondition;
  readonly when?: string;
  readonly then: Vote;
  readonly description?: string;
}

export interface Vote {
  readonly decision: string;
  /** A confidence, from 0 to 1. */
  readonly weight: number;
  readonly reason?: string;
}

export type RuleCondition =
  | { readonly all: readonly RuleCondition[] }
  | { readonly any: readonly RuleCondition[] }
  | { readonly none: readonly RuleCondition[] }
  | FieldCondition;

export interface FieldCondition {
  /** A path into the context. */
  readonly field: string;
  readonly op: string;
  readonly value?: Json;
}

export type ScoringStrategy = "weighted_average" | "max_weight" | "consensus" | "threshold";

export interface Scoring {
  readonly strategy: ScoringStrategy;
  /** For `threshold`. */
  readonly threshold?: number;
  readonly fallback_decision?: string;
  /** For `consensus`. */
  readonly minimum_agreement?: number;
}

/** Whether a tool may be called. */
export interface PolicyDefinition extends CommonDefinition {
  readonly type: "policy";
  /** The names of tools, or globs. */
  readonly tool: string | readonly string[];
  readonly policies?: readonly Policy[];
}

export type Policy = BasePolicy | OverridePolicy;

interface CommonPolicy {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** Higher first. */
  readonly priority?: number;
  readonly effective_from?: string;
  readonly expires_at?: string;
  /** Why the call is allowed; a template. */
  readonly reason?: string;
}

/** All that it asks for must hold, else it denies. */
export interface BasePolicy extends CommonPolicy {
  readonly conditions?: readonly PolicyCondition[];
  /** Tools that must have succeeded in the session before. */
  readonly requires?: readonly string[];
  readonly read_before_write?: ReadBeforeWrite;
  readonly max_calls?: MaxCalls;
  /** A template. */
  readonly deny_reason?: string;
  readonly overrides?: undefined;
}

export interface PolicyCondition {
  readonly name: string;
  readonly expression: string;
}

interface ReadBeforeWrite {
  readonly read_tools: readonly string[];
  readonly write_tools: readonly string[];
  /** An expression that gives the path. */
  readonly path: string;
}

interface MaxCalls {
  readonly count: number;
  /** `session`, or how long back from now the session's calls are counted. */
  readonly per: string;
}

/** May flip the denials of the policies it names. */
export interface OverridePolicy extends CommonPolicy {
  readonly overrides: readonly string[];
  /** Absent: always. */
  readonly when?: string;
  /** Absent: `allow`. */
  readonly action?: "allow" | "allow_with_warning" | "modify_params";
  /** What `modify_params` sets; texts in it are templates. */
  readonly params?: JsonObject;
  readonly max_applications?: number;
}

/** Whether, and how, an agent may go on with an action. */
export interface GateDefinition extends CommonDefinition {
  readonly type: "gate";
  readonly action: GateAction;
  /** The JSON Schema of what the caller supplies. */
  readonly context_schema?: JsonObject;
  /** Expressions, by the name of their value. */
  readonly computed?: Readonly<Record<string, string>>;
  readonly rules: readonly GateRule[];
  readonly aggregation?: "winner_takes_all";
}

/** What a gate is found by. */
export interface GateAction {
  readonly org: string;
  readonly domain: string;
  readonly name: string;
  /** Absent: 1. */
  readonly world_model_version?: number;
}

export interface GateRule {
  readonly id: string;
  readonly tier: Tier;
  /** The highest decides. */
  readonly severity: number;
  readonly applies_when?: string;
  readonly when: string;
  readonly status: Status;
  /** A template. */
  readonly reason?: string;
  readonly suppresses?: readonly string[];
  readonly work_frame?: WrittenFrame;
  readonly description?: string;
}

export type Tier = "T1" | "T2" | "T3";
export type Status = "GREEN" | "GREEN-SKIP" | "YELLOW" | "RED";

/** What a rule says about how to go on. */
export interface WrittenFrame {
  readonly mode?: WorkMode;
  readonly next_action?: string;
  readonly allowed_actions?: readonly string[];
  readonly forbidden_actions?: readonly string[];
  /** Lists are joined, of anything else the first stands. */
  readonly required_output?: Json;
  readonly missing_evidence?: readonly string[];
  readonly next_human_owner?: string;
}

export type WorkMode = "execute" | "skip" | "review" | "stop";
