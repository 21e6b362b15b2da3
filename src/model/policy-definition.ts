import type { CommonDefinition } from "./common-definition.js";
import type { JsonObject } from "./json.js";

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

export interface ReadBeforeWrite {
  readonly read_tools: readonly string[];
  readonly write_tools: readonly string[];
  /** An expression that gives the path. */
  readonly path: string;
}

export interface MaxCalls {
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
