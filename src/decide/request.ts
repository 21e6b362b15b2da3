import type { AuthenticatedCaller, Provenance } from "../model/record.js";

/** What is asked: a decision, the context to make it in, and on whose behalf. */
export interface DecisionRequest extends Provenance {
  readonly decision_id: string;
  readonly context: unknown;
  /** Who asks, where a door has found that out; a caller cannot say it of itself. */
  readonly caller?: AuthenticatedCaller | undefined;
  /** What the caller wants to have recorded beside it; it has no part in the decision. */
  readonly feedback?: unknown;
  /** Evaluates without keeping anything. */
  readonly dry_run?: boolean;
  /** A condition that cannot be evaluated ends the decision with an error. */
  readonly strict?: boolean;
  /** Evaluates even where the answer is known already. */
  readonly no_cache?: boolean;
}
