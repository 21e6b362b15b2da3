import type { CommonDefinition } from "./common-definition.js";
import type { Json, JsonObject } from "./json.js";

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
