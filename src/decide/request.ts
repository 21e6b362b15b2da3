import type { Library } from "../definition/library.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { ParamsChange } from "../evaluate/policy/policy-facts.js";
import type { CustomVoters } from "../evaluate/scored/plug-ins.js";
import type { Fetcher } from "../model/endpoint.js";
import type { JsonObject } from "../model/json.js";
import type { AuthenticatedCaller, Provenance } from "../model/record.js";
import type { Scope } from "../model/scope.js";
import type { Records } from "../record/records.js";
import type { Enriched } from "./enrich.js";
import type { FactSource } from "./fact-source.js";

/** A request for one decision. */
export interface DecisionRequest extends Provenance {
  readonly decision_id: string;
  readonly context: unknown;
  /** The authenticated caller. HTTP and MCP set it from a verified token; a caller cannot set it in the context. */
  readonly caller?: AuthenticatedCaller | undefined;
  /** Recorded with the decision; it does not influence the answer. */
  readonly feedback?: unknown;
  /** Evaluates and writes nothing. */
  readonly dry_run?: boolean;
  /** A condition that cannot be evaluated ends the decision with an error. */
  readonly strict?: boolean;
  /** Evaluates even if the answer is in the cache. */
  readonly no_cache?: boolean;
}

/** Everything a decision needs from outside: definitions, time, ids, the store and the network. */
export interface World {
  readonly definitions: Pick<Library, "find"> & Partial<Pick<Library, "brokenOrgs">>;
  readonly clock: Clock;
  /** Returns a new record id for a timestamp. */
  readonly newId: (timestamp: string) => string;
  /** Undefined: nothing is recorded. */
  readonly records?: Records | undefined;
  /** Where facts come from; undefined: from the records. */
  readonly facts?: FactSource | undefined;
  /** The custom evaluators that `scored` decisions name; undefined: none are registered. */
  readonly voters?: CustomVoters | undefined;
  /** Undefined: nothing can be fetched. */
  readonly fetcher?: (() => Promise<Fetcher>) | undefined;
  /** What is recorded of the lineage; undefined: all of it. */
  readonly lineage?: LineageOptions | undefined;
  /** True for tests, which compare answers: results have neither a hash nor a lineage. */
  readonly answersOnly?: boolean | undefined;
  /** Called with the values that a decision is made with, masked; again where it is made again. */
  readonly onScope?: OnScope | undefined;
}

/** The largest `maxPrecedentRefs`. */
export const maxPrecedentRefs = 20;

/** How much is recorded of what decisions were based on. No decision and no limit depends on it. */
export interface LineageOptions {
  /** False: no entities, artifacts, inputs, conditions and precedents are recorded. Absent: true. */
  readonly enabled?: boolean | undefined;
  /** False: no precedents are looked up and recorded. Absent: true. */
  readonly storePrecedents?: boolean | undefined;
  /** The maximum number of precedents of a decision; absent: 5. */
  readonly maxPrecedentRefs?: number | undefined;
}

export type OnScope = (decisionId: string, scope: Scope) => void;

/** Returns the current time as an ISO 8601 text in UTC with six decimals. */
export type Clock = () => string;

/** Values that only the tool itself sets: `system` in expressions. */
export interface System {
  readonly [key: string]: string | JsonObject;
  readonly request_time: string;
  readonly request_id: string;
}

/** State that the decisions of one call share: its retries, and every policy decision that one `check` asks. */
export interface CallState {
  /** The time of the call; undefined: each decision reads the clock. */
  readonly at?: string;
  /** Data fetched by earlier attempts, by definition: a retry does not fetch again. */
  readonly enriched?: Map<LoadedDefinition, Enriched>;
  /** The params that the decisions before this one have set. */
  readonly setParams?: JsonObject;
  /** The caller cannot change the params, so no override may set them. */
  readonly fixedParams?: boolean;
  /** Whether the state of the session was sent with an earlier call. */
  readonly hasKeptState?: boolean;
  /** The changes of the params by all decisions of the call: the changed params are checked again. */
  readonly changes?: readonly ParamsChange[];
}
