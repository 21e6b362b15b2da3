import type { Json } from "../model/json.js";
import type { EvaluationDetails, GateOutcome, ScoredOutcome } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import type { Deliberation } from "./policy/deliberation.js";
import type { PolicyNeeds } from "./policy/policy-facts.js";

/** The answer, before anybody has asked whether it may be acted on. */
export interface Evaluated {
  readonly selected_targets: readonly string[];
  readonly selected_labels: readonly string[];
  readonly input_value: Json;
  readonly evaluation_details: EvaluationDetails;
  readonly rules_total: number | undefined;
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
  readonly warnings: readonly string[];
  /** What only this type of decision answers with. */
  readonly outcome?: Outcome;
}

export type Outcome =
  | ({ readonly type: "scored" } & ScoredOutcome)
  | ({ readonly type: "policy" } & Deliberation)
  | ({ readonly type: "gate" } & GateOutcome);

/** An answer, and what had none on the way to it: where that is not accepted, the decision ends in an error. */
export interface Judged extends Evaluated {
  readonly errors: readonly string[];
}

/** A definition of some type made ready to be evaluated many times. */
export interface Judge {
  /** Everything the answer depends on, as paths into the scope; `context` where it is the whole of it. */
  readonly reads: readonly string[];
  /** The paths as its conditions name them, where `input` may still stand for something else. */
  readonly asks: readonly string[];
  /** What must be found out of the store first; absent: nothing. */
  readonly needs?: PolicyNeeds;
  /** Pure: the same scope always gets the same answer. */
  judge(scope: Scope): Judged;
}
