import type { Severity } from "./assessment.js";
import type { CacheAdapter, Endpoints, Enrichment } from "./endpoint.js";
import type { Json, JsonObject } from "./json.js";

export type * from "./endpoint.js";

/** A decision as declared in a YAML file. */
export type Definition = RoutingDefinition | ScoredDefinition | PolicyDefinition | GateDefinition;

export type DecisionType = Definition["type"];

/** The types that select targets. */
export type RoutingDefinition = FirstMatchDefinition | WeightedDefinition | RuleTableDefinition;

/** What a branch answers with: a target, an output, or both. */
export interface Answer {
  readonly target?: string;
  /** Any JSON; texts are templates. */
  readonly output?: Json;
}

/** The answer if no branch matches. */
export interface DefaultAnswer extends Answer {
  /**
   * `true` declares that no input leads here: `analyze --check` fails if one does. `false` declares that some may, also
   * of a table with the hit policy `unique`.
   */
  readonly unexpected?: boolean;
}

interface Routing extends CommonDefinition {
  readonly default: DefaultAnswer;
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
  /** For `collect` and `rule_order`: combines the outputs of the matches into one number. */
  readonly aggregate?: AggregateFunction;
  /** For `output_order`: the outputs in their order. */
  readonly output_values?: readonly Json[];
  /** How the rules are shown and exported as a table; absent: from the rules alone. */
  readonly columns?: readonly TableColumn[];
  readonly rules?: readonly Case[];
  readonly cases?: readonly Case[];
}

/** A column of a table: the values of a path, or a part of the answers. It does not change any decision. */
export type TableColumn = ConditionColumn | AnswerColumn;

interface CommonColumn {
  /** A readable heading. */
  readonly label?: string;
  /** The type of its values in DMN; absent: from the rules. */
  readonly type?: ColumnType;
  /** The allowed values, as in a cell of the table. */
  readonly values?: string;
}

export interface ConditionColumn extends CommonColumn {
  /** The path. */
  readonly if: string;
}

export interface AnswerColumn extends CommonColumn {
  /** `target`, `output`, or `output.` and a key of the outputs. */
  readonly then: string;
  /** The name of the output in DMN; absent: the last part of `then`. */
  readonly name?: string;
}

export type ColumnType = "string" | "number" | "boolean" | "date" | "time" | "dateTime" | "Any";

export type HitPolicy = "first" | "collect" | "priority" | "unique" | "any" | "rule_order" | "output_order";

export type AggregateFunction = "sum" | "min" | "max" | "count";

/** One branch: its condition and its answer. */
export interface Case extends Answer {
  readonly condition?: string;
  readonly label?: string;
  /** A share of traffic, for `weighted`. */
  readonly weight?: number;
  /** For `rule_table`; the lowest number wins. */
  readonly priority?: number;
  readonly description?: string;
}

/** A declared stage or workflow. */
export interface Target {
  readonly id: string;
  readonly kind?: "stage" | "workflow";
  readonly depends_on?: readonly string[];
  readonly disabled?: boolean;
}

/** A test of a decision, as written in `tests`. */
export interface DefinitionTest {
  readonly name?: string;
  readonly decision: string;
  /** Makes one case of each row: `{{ field }}` in the rest of the test stands for a value of the row. */
  readonly each?: readonly JsonObject[];
  /** The context: a map, or `@file` with JSON. */
  readonly input?: Json;
  /** For a policy: the tool and the params of the call, which become part of the context. */
  readonly tool?: string;
  readonly params?: Json;
  /** The expected fields of the result. */
  readonly expect: JsonObject;
  readonly facts?: JsonObject;
  /** The time of the decision. */
  readonly now?: string;
  readonly strict?: boolean | string;
  readonly workflow_id?: string;
  /** Null: no session; absent: a session of its own. */
  readonly session_id?: string | null;
}

/** The other documents that apply to a definition. */
export interface Environment {
  readonly targets: readonly Target[];
  /** Guardrails for every decision; absent: none. */
  readonly guardrails?: readonly Guardrail[];
  /** The endpoints that the definition uses; absent: none. */
  readonly endpoints?: Endpoints;
  /** JSON pointers of values that no decision records; absent: none. */
  readonly masks?: readonly string[];
  /** The overrides of other decisions that may flip denials of a policy decision; absent: none. */
  readonly overrides?: readonly ForeignOverride[];
  /** The observers of every session; absent: none. */
  readonly observers?: readonly Observer[];
}

/** Assesses the decisions of a session while it runs. It never changes a decision. */
export interface Observer {
  readonly type: "precedent_consistency";
  readonly description?: string;
  /** Runs after every N-th recorded decision of a session; absent: 5. */
  readonly every?: number;
  /** How many of the newest decisions of the session are assessed; absent: 10. */
  readonly last?: number;
  /** Records assessments of this severity and above; absent: `caution`. */
  readonly on?: Severity;
}

/** An override that another decision declares. */
export interface ForeignOverride {
  readonly decision: string;
  /** The tools of that decision: the override applies to no others. */
  readonly tools: readonly string[];
  /** The policies of this decision that it names. */
  readonly policies: readonly string[];
  readonly override: OverridePolicy;
}

/** A loaded definition with its hashes and its place. */
export interface LoadedDefinition {
  readonly definition: Definition;
  readonly definition_hash: string;
  /** The guardrails, targets, endpoints and masks that apply. */
  readonly environment: JsonObject;
  readonly environment_hash: string;
  readonly file: string;
  readonly line: number;
}

/** The fields that all types share. */
interface CommonDefinition {
  readonly id: string;
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  /** Absent: the whole context. */
  readonly input?: string;
  readonly guardrails?: readonly Guardrail[];
  /** Data to fetch before evaluation. */
  readonly enrich?: readonly Enrichment[];
  readonly entities?: readonly { readonly type: string; readonly id: string }[];
  readonly artifacts?: readonly string[];
  readonly logging?: Logging;
  readonly cache?: { readonly enabled?: boolean; readonly ttl?: string; readonly adapter?: CacheAdapter };
}

/** The effect of a condition that cannot be evaluated. */
type OnError = "no_match" | "fail";

export interface Logging {
  readonly log_decision?: boolean;
  readonly include_inputs?: boolean;
  readonly include_evaluation?: boolean;
  readonly mask?: readonly string[];
}

/** A check on an answer before it may be acted on. */
export type Guardrail = NoDisabledTargets | WeightBounds | RequiresApproval | DistributionDrift;

interface CommonGuardrail {
  readonly description?: string;
  /** Absent: `block`. */
  readonly on_fail?: OnFail;
  /** The target of an escalated answer. */
  readonly escalate_to?: string;
}

/** The effect of a failed guardrail. */
export type OnFail = "block" | "escalate" | "warn";

/** No answer leads to a disabled target. */
export interface NoDisabledTargets extends CommonGuardrail {
  readonly type: "no_disabled_targets";
  /** Names or globs. */
  readonly disabled_stages?: readonly string[];
}

/** Every weight of a split is within bounds. */
export interface WeightBounds extends CommonGuardrail {
  readonly type: "weight_bounds";
  readonly min_weight?: number;
  readonly max_weight?: number;
}

/** Some targets need an approval in some workflows. */
export interface RequiresApproval extends CommonGuardrail {
  readonly type: "requires_approval";
  /** Names or globs; absent: every workflow. */
  readonly workflows?: readonly string[];
  /** Names or globs; absent: every target. */
  readonly targets?: readonly string[];
  /** The target that performs the approval; answers that lead there pass. */
  readonly approval_target?: string;
}

/** The observed split matches the weights. */
export interface DistributionDrift extends CommonGuardrail {
  readonly type: "distribution_drift";
  /** The split has drifted below this p-value; absent: 0.001. */
  readonly p_value?: number;
  /** Minimum number of distinct inputs for the test; absent: 500. */
  readonly minimum?: number;
}

/** A decision by the votes of several evaluators, combined by a strategy. */
export interface ScoredDefinition extends CommonDefinition {
  readonly type: "scored";
  readonly on_error?: OnError;
  readonly evaluators: readonly EvaluatorDefinition[];
  /** Absent: `weighted_average`. */
  readonly scoring?: Scoring;
  /** Maps decisions to targets. */
  readonly targets?: Readonly<Record<string, string>>;
}

export type EvaluatorDefinition = RulesetDefinition | StaticEvaluatorDefinition | CustomEvaluatorDefinition;

/** An evaluator with rules: the first matching rule votes. */
export interface RulesetDefinition {
  readonly name: string;
  readonly ruleset?: string;
  /** Recorded with each of its votes. */
  readonly metadata?: JsonObject;
  readonly rules: readonly ScoredRule[];
}

export interface StaticEvaluatorDefinition {
  readonly name: string;
  readonly metadata?: JsonObject;
  readonly static: Vote;
}

/** An evaluator whose vote comes from code that a program registers under this name. */
export interface CustomEvaluatorDefinition {
  readonly name: string;
  readonly metadata?: JsonObject;
  readonly custom: string;
}

/** A rule matches by `if` or by `when`. */
export interface ScoredRule {
  readonly id: string;
  readonly if?: RuleCondition;
  readonly when?: string;
  readonly then: Vote;
  readonly description?: string;
}

export interface Vote {
  readonly decision: string;
  /** A confidence, from 0 to 1; absent: 1. */
  readonly weight?: number;
  readonly reason?: string;
  /** The output of the decision, if this is its strongest vote. Any JSON; texts are templates. */
  readonly output?: Json;
  /** Recorded with the vote, over that of the evaluator. */
  readonly metadata?: JsonObject;
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

/** Decides whether a tool may be called. */
export interface PolicyDefinition extends CommonDefinition {
  readonly type: "policy";
  /** Tool names or globs. */
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

/** A policy that denies unless all its requirements hold. */
export interface BasePolicy extends CommonPolicy, Limits {
  readonly conditions?: readonly PolicyCondition[];
  /** Tools that must have succeeded in the session before. */
  readonly requires?: readonly string[];
  readonly read_before_write?: ReadBeforeWrite;
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

/** The limits of a policy or a gate. */
export interface Limits {
  readonly max_calls?: MaxCalls;
  readonly max_sum?: MaxSum;
}

export interface MaxCalls {
  readonly count: number;
  /** `session`, `caller` or `org`; or a duration: the window in which calls of the session count. */
  readonly per: string;
  /** A duration; absent: all calls count. */
  readonly window?: string;
}

export interface MaxSum {
  /** An expression that gives the amount of a call. */
  readonly of: string;
  readonly most: number;
  readonly per: "session" | "caller" | "org";
  /** A duration; absent: all calls count. */
  readonly window?: string;
}

/** A policy that may flip the denials of the policies it names. */
export interface OverridePolicy extends CommonPolicy {
  readonly overrides: readonly string[];
  /** Absent: always. */
  readonly when?: string;
  /** Absent: `allow`. */
  readonly action?: "allow" | "allow_with_warning" | "modify_params";
  /** The params that `modify_params` sets; texts are templates. */
  readonly params?: JsonObject;
  readonly max_applications?: number;
}

/** Decides whether and how an agent may proceed with an action. */
export interface GateDefinition extends CommonDefinition, Limits {
  readonly type: "gate";
  readonly action: GateAction;
  /** The JSON Schema of the supplied context. */
  readonly context_schema?: JsonObject;
  /** Expressions by the name of their value. */
  readonly computed?: Readonly<Record<string, string>>;
  readonly rules: readonly GateRule[];
  readonly aggregation?: "winner_takes_all";
}

/** The key of a gate. */
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
  /** The highest matching severity decides. */
  readonly severity: number;
  readonly applies_when?: string;
  readonly when: string;
  readonly status: Status;
  /** A template. */
  readonly reason?: string;
  readonly suppresses?: readonly string[];
  readonly work_frame?: WrittenFrame;
  /** Any JSON; texts are templates. The first of the deciding rules that has one is used. */
  readonly output?: Json;
  readonly description?: string;
}

export type Tier = "T1" | "T2" | "T3";
export type Status = "GREEN" | "GREEN-SKIP" | "YELLOW" | "RED";

/** The work frame of a rule. */
export interface WrittenFrame {
  readonly mode?: WorkMode;
  readonly next_action?: string;
  readonly allowed_actions?: readonly string[];
  readonly forbidden_actions?: readonly string[];
  /** Lists are joined; of other values the first is used. */
  readonly required_output?: Json;
  readonly missing_evidence?: readonly string[];
  readonly next_human_owner?: string;
}

export type WorkMode = "execute" | "skip" | "review" | "stop";
