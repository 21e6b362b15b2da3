import { DecisionError } from "../errors.js";
import { Failure } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import { compileInput, compileTemplate } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Aggregate, EvaluationDetails, GateOutcome, ScoredOutcome } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import type { CountedLimit } from "./limits.js";
import type { PolicyNeeds } from "./policy/policy-facts.js";
import type { DetailedPolicyOutcome } from "./policy/policy-outcome.js";

/** Evaluates a definition. Pure: the same definition and scope always give the same answer. */
export function evaluate(prepared: Prepared, scope: Scope, strict = false): EvaluatedWithErrors {
  const evaluated = prepared.evaluate(scope);
  if (evaluated.errors.length > 0 && (strict || failsOnError(prepared.definition))) {
    throw conditionError(prepared.definition.id, evaluated.errors);
  }
  return evaluated;
}

const failsOnError = (definition: Definition): boolean =>
  "on_error" in definition && definition.on_error === "fail";

function conditionError(id: string, errors: readonly string[]): DecisionError {
  const more = errors.length > 3 ? [`and ${errors.length - 3} more`] : [];
  return new DecisionError("condition_errored", `\`${id}\`: ${[...errors.slice(0, 3), ...more].join("; ")}`, {
    hint: "correct these values in the context; test for values that may be missing with exists(…) or get(…)",
    details: { decision_id: id, errors },
  });
}

/** A compiled definition, which can be evaluated many times. */
export interface Prepared extends PreparedType, CommonTemplates {
  readonly definition: Definition;
  /** JSON pointers of the values that are not recorded. */
  readonly masks: readonly string[];
}

/** The compiled templates that definitions of every type have. */
export interface CommonTemplates {
  readonly input: Template | undefined;
  readonly entities: readonly { readonly type: string; readonly id: Template }[];
  readonly artifacts: readonly Template[];
}

/** The part of a compiled definition that depends on its type. */
export interface PreparedType {
  /** The paths that the answer depends on; `context` if it depends on the whole context. */
  readonly reads: readonly string[];
  /** The paths in its conditions and outputs as they are written, so `input` is not resolved. */
  readonly conditionReads: readonly string[];
  /** The paths that each condition reads, by the text of the condition; of policies, the outcome has them. */
  readonly inputsByCondition: ReadonlyMap<string, readonly string[]>;
  /**
   * Returns the paths that each evaluated condition reads, for the lineage. The lists of the same conditions are the
   * same objects.
   */
  inputsRead(evaluated: Evaluated): readonly (readonly string[])[];
  /** Replaces a computed value by the paths behind it. */
  readonly inputsBehind?: (path: string) => readonly string[];
  /** The facts that must be gathered from the store before the evaluation. */
  readonly needs?: PolicyNeeds;
  /** The custom evaluators whose votes must be gathered before the evaluation. */
  readonly customEvaluators?: readonly string[];
  /** Pure: the same scope always gives the same answer. */
  evaluate(scope: Scope): EvaluatedWithErrors;
}

/** An answer, before the guardrails check it. */
export interface Evaluated {
  readonly selected_targets: readonly string[];
  readonly selected_labels: readonly string[];
  /** One for each label; absent where the definition declares none. Texts that read masked values are masked. */
  readonly outputs?: readonly Json[];
  readonly aggregate?: Aggregate | undefined;
  readonly input_value: Json;
  readonly evaluation_details: EvaluationDetails;
  readonly rules_total: number | undefined;
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
  readonly warnings: readonly string[];
  /** The part of the answer that only this type of decision has. */
  readonly outcome?: Outcome;
}

export type Outcome =
  | ({ readonly type: "scored" } & ScoredOutcome)
  | ({ readonly type: "policy" } & DetailedPolicyOutcome)
  | ({ readonly type: "gate" } & DetailedGateOutcome);

/** The outcome of a gate, with the limits that count it. */
interface DetailedGateOutcome extends GateOutcome {
  readonly counted: readonly CountedLimit[];
}

/** An answer with the errors of its conditions; with `on_error: fail` they end the decision. */
export interface EvaluatedWithErrors extends Evaluated {
  readonly errors: readonly string[];
}

export function compileCommonTemplates({ input, entities, artifacts }: Definition): CommonTemplates {
  return {
    input: input === undefined ? undefined : compileInput(input),
    entities: entities?.map(({ type, id }) => ({ type, id: compileTemplate(id) })) ?? [],
    artifacts: artifacts?.map(compileTemplate) ?? [],
  };
}

/** Returns the value of the definition's input, or `fallback` if it cannot be evaluated. */
export function inputOf({ input }: Prepared, scope: Scope, fallback: Json = null): Json {
  const value = input === undefined ? scope.context : input.evaluate(scope);
  return value instanceof Failure ? fallback : value;
}

/** Returns all paths that an answer depends on; `input` is replaced by the paths that its expression reads. */
export function readsWithInput(input: Template | undefined, paths: readonly string[]): readonly string[] {
  const others = paths.filter((path) => path !== "input" && !path.startsWith("input."));
  return [...new Set([...(input?.reads ?? ["context"]), ...others])];
}

/**
 * Returns a check that rejects a context with the key `context`, if an expression reads `context`: the key
 * would shadow the whole context, and a caller could use it to mislead a gate or a policy.
 */
export function prepareShadowCheck(paths: readonly string[]): (context: JsonObject) => void {
  const isRead = paths.some((path) => path === "context" || path.startsWith("context."));
  return (context) => {
    if (!isRead || !Object.hasOwn(context, "context")) return;
    throw new DecisionError("input_invalid", "the context must not have the reserved key `context`", {
      hint: "remove or rename the key `context`",
    });
  };
}
