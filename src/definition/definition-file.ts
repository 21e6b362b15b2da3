import type { Definition, DefinitionTest, GateAction, Target } from "../model/definition.js";
import type { Endpoint } from "../model/endpoint.js";
import type { Guardrail } from "../model/guardrail.js";
import type { Problem } from "../model/problem.js";
import type { Position } from "./yaml-source.js";

/** What one file declares, without the definitions themselves. A file with an error declares nothing. */
export interface FileSummary {
  readonly file: string;
  readonly definitions: readonly DefinitionSummary[];
  readonly targets?: readonly DeclaredTarget[];
  /** For every decision of the directory. */
  readonly guardrails?: readonly PlacedGuardrail[];
  /** Where its decisions, and those of other files, may fetch data from. */
  readonly endpoints?: readonly DeclaredEndpoint[];
  readonly problems: readonly Problem[];
  /** The ids that a broken file seems to declare. */
  readonly claimed: readonly string[];
  /** It is broken, and may have been meant to hold a policy. */
  readonly hidesPolicy?: true;
  /** It is broken, and may have been meant to hold gates of these actions; of any action where it could not be read. */
  readonly hidesGates?: readonly string[] | "any";
  /** It is broken, and seems to have been meant to hold guardrails for every decision, or what is disabled. */
  readonly hidesGuardrails?: true;
  /** It is broken, and may have been meant to declare targets. */
  readonly hidesTargets?: true;
  /** It is broken, and may have been meant to declare endpoints. */
  readonly hidesEndpoints?: true;
}

/** An endpoint, and where it is declared. */
export interface DeclaredEndpoint extends Position {
  readonly name: string;
  readonly endpoint: Endpoint;
}

export interface PlacedGuardrail extends Position {
  readonly guardrail: Guardrail;
}

export interface DefinitionSummary {
  readonly id: string;
  readonly definition_hash: string;
  readonly position: Position;
  /** Each target it may lead to, with the first place that names it. */
  readonly reached: readonly ReachedTarget[];
  /** Each endpoint it fetches from, with the first place that names it; absent: none. */
  readonly fetches?: readonly NamedEndpoint[];
  /** Of a policy: the tools that it is about, or globs. */
  readonly tools?: readonly string[];
  /** Of a gate. */
  readonly action?: GateAction;
}

export interface ReachedTarget extends Position {
  readonly target: string;
}

export interface NamedEndpoint extends Position {
  readonly endpoint: string;
}

/** A target, and where it is declared. */
export interface DeclaredTarget extends Position {
  readonly target: Target;
  /** What it depends on, with where that is written. */
  readonly dependencies: readonly ReachedTarget[];
}

/** The rest of a file: its definitions, in the order of their summaries, and its tests. */
export interface FileBody {
  readonly definitions: readonly Definition[];
  readonly tests: readonly DefinitionTest[];
}

export interface DefinitionFile {
  readonly summary: FileSummary;
  readonly body: FileBody;
}
