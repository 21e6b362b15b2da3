import type { DetailedPolicyOutcome } from "./policy/policy-outcome.js";
import type { PolicyNeeds } from "./policy/policy-facts.js";
import { DecisionError } from "../errors.js";
import { Failure } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { EvaluationDetails, GateOutcome, ScoredOutcome } from "../model/result.js";
import type { Scope } from "../model/scope.js";

/** A definition made ready to be evaluated many times. */
export interface Prepared extends PreparedType {
  readonly definition: Definition;
  readonly input: Template | undefined;
}

/** Makes a decision; pure, so the same definition and scope always give the same answer. */
export function evaluate(prepared: Prepared, scope: Scope, strict = false): Evaluated {
  const judged = prepared.evaluate(scope);
  if (judged.errors.length > 0 && (strict || failsOnError(prepared.definition))) {
    throw conditionError(prepared.definition.id, judged.errors);
  }
  return judged;
}

const failsOnError = (definition: Definition): boolean =>
  "on_error" in definition && definition.on_error === "fail";

/** The value of the definition's input; `otherwise` where it cannot be evaluated. */
export function inputOf({ input }: Prepared, scope: Scope, otherwise: Json = null): Json {
  const value = input === undefined ? scope.context : input.evaluate(scope);
  return value instanceof Failure ? otherwise : value;
}

function abbreviate(reasons: readonly string[]): readonly string[] {
  return reasons.length <= 3 ? reasons : [...reasons.slice(0, 3), `and ${reasons.length - 3} more`];
}

function conditionError(id: string, errors: readonly string[]): DecisionError {
  return new DecisionError("condition_errored", `\`${id}\`: ${abbreviate(errors).join("; ")}`, {
    hint: "give the missing values, or ask for them with exists(…) or get(…)",
    details: { decision_id: id, errors },
  });
}

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
  | ({ readonly type: "policy" } & DetailedPolicyOutcome)
  | ({ readonly type: "gate" } & GateOutcome);

/** An answer, and what had none on the way to it: where that is not accepted, the decision ends in an error. */
export interface EvaluatedWithErrors extends Evaluated {
  readonly errors: readonly string[];
}

/** A definition of some type made ready to be evaluated many times. */
export interface PreparedType {
  /** Everything the answer depends on, as paths into the scope; `context` where it is the whole of it. */
  readonly reads: readonly string[];
  /** The paths as its conditions name them, where `input` may still stand for something else. */
  readonly conditionReads: readonly string[];
  /** What must be found out of the store first; absent: nothing. */
  readonly needs?: PolicyNeeds;
  /** Pure: the same scope always gets the same answer. */
  evaluate(scope: Scope): EvaluatedWithErrors;
}

/** All that an answer depends on; `input` stands for what its own expression reads. */
export function readsWithInput(input: Template | undefined, paths: readonly string[]): readonly string[] {
  const beside = paths.filter((path) => path !== "input" && !path.startsWith("input."));
  return [...new Set([...(input?.reads ?? ["context"]), ...beside])];
}

/**
 * Refuses a context whose key `context` would be read where the whole context is meant: it gives way to a key
 * of that name, and a caller could tell a gate or a policy something else by it.
 */
export function prepareShadowCheck(paths: readonly string[]): (context: JsonObject) => void {
  const isRead = paths.some((path) => path === "context" || path.startsWith("context."));
  return (context) => {
    if (!isRead || !Object.hasOwn(context, "context")) return;
    throw new DecisionError(
      "input_invalid",
      "the context must not hold `context`, which stands for all of it",
      {
        hint: "leave it out, or give it another name",
      },
    );
  };
}
