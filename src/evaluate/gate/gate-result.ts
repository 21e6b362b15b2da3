import type { AggregatedRules } from "./aggregation.js";
import { isPermissive } from "./aggregation.js";
import { describeErrored, explainMissing, summariseErrored } from "./errored-texts.js";
import type { PreparedRule } from "./gate-rule.js";
import { mergeWorkFrames } from "./work-frame.js";
import { Failure } from "../../expression/failure.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { ErroredPredicate, GateMetadata, NamedCondition } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import type { EvaluatedWithErrors, Outcome } from "../evaluate.js";
import type { LimitResult, PreparedLimit } from "../limits.js";

/** Inputs of a gate's result in addition to the rules. */
interface GateInputs {
  readonly input: Json;
  readonly limits: readonly PreparedLimit[];
  /** Whether any rule declares an output. */
  readonly hasOutputs: boolean;
}

/** Creates the answer from the aggregated rules, and tests the limits if it is GREEN: only then the action is taken. */
export function toGateResult(
  aggregated: AggregatedRules,
  scope: Scope,
  inputs: GateInputs,
): EvaluatedWithErrors {
  const answer = answerOfRules(aggregated, scope, inputs);
  const { limits } = inputs;
  if (limits.length === 0 || answer.outcome.status !== "GREEN") return answer;
  return withLimits(
    answer,
    aggregated,
    limits.map((limit) => limit.evaluate(scope)),
  );
}

type GateAnswer = EvaluatedWithErrors & { readonly outcome: Extract<Outcome, { readonly type: "gate" }> };

/** If there are errors, the status is at least YELLOW. */
function answerOfRules(
  ofRules: AggregatedRules,
  scope: Scope,
  { input, hasOutputs }: GateInputs,
): GateAnswer {
  const output = evaluateOutput(ofRules, scope);
  const aggregated = output.error === undefined ? ofRules : withError(ofRules, output.error);
  const { deciding, errors } = aggregated;
  const errored = errors.length > 0;
  const raised = errored && isPermissive(aggregated.status);
  const status = raised ? "YELLOW" : aggregated.status;
  const missing = errors.flatMap((each) => each.missing ?? []);
  const messages = errors.map(describeErrored);
  const onlyRule = errored || deciding.length !== 1 ? undefined : deciding[0];
  return {
    selected_targets: [],
    selected_labels: [status],
    ...(hasOutputs && { outputs: [raised ? null : output.value] }),
    input_value: input,
    evaluation_details: aggregated.details,
    rules_total: undefined,
    because: becauseOf(aggregated, scope, raised),
    failed_conditions: aggregated.failed,
    warnings: messages,
    errors: messages,
    outcome: {
      type: "gate",
      status,
      work_frame: onlyRule?.frame ?? mergeWorkFrames(deciding, { status, errored, raised, missing }),
      decision_metadata: gateMetadata(
        aggregated,
        scope.system,
        raised ? { from: aggregated.status, to: status, reason: summariseErrored(errors) } : undefined,
      ),
      counted: [],
    },
  };
}

interface RuleOutput {
  readonly value: Json;
  readonly error?: ErroredPredicate;
}

/** Evaluates the output of the first deciding rule that has one. Without a value, the gate must not be GREEN. */
function evaluateOutput({ deciding, errors }: AggregatedRules, scope: Scope): RuleOutput {
  for (const { id, preparedOutput } of deciding) {
    if (preparedOutput === undefined) continue;
    const value = preparedOutput.evaluate(scope);
    if (!(value instanceof Failure)) return { value };
    const error = explainMissing(value.message, errors);
    return { value: null, error: { source: "output", name: id, error } };
  }
  return { value: null };
}

const withError = (aggregated: AggregatedRules, error: ErroredPredicate): AggregatedRules => ({
  ...aggregated,
  errors: [...aggregated.errors, error],
});

/** The reasons of the deciding rules. Missing data is always named; other errors only where they raised the status. */
function becauseOf({ deciding, errors }: AggregatedRules, scope: Scope, raised: boolean): readonly string[] {
  if (deciding.length === 0) return [noMatchReason(errors)];
  const reasons = deciding.map((rule) => reasonOf(rule, scope));
  if (raised) return [summariseErrored(errors), ...reasons];
  const incomplete = errors.filter(({ missing }) => missing !== undefined);
  return incomplete.length === 0 ? reasons : [...reasons, summariseErrored(incomplete)];
}

/** Adds the limits to a GREEN answer. It becomes RED if one of them is used up or cannot be counted. */
function withLimits(
  answer: GateAnswer,
  { deciding }: AggregatedRules,
  results: readonly LimitResult[],
): GateAnswer {
  const { status: from } = answer.outcome;
  const metadata = { ...answer.outcome.decision_metadata, limits: results.map(toNamedCondition) };
  const outcome = {
    ...answer.outcome,
    decision_metadata: metadata,
    counted: results.map(({ counted }) => counted),
  };
  const exceeded = results.filter(({ result }) => !result);
  if (exceeded.length === 0) return { ...answer, outcome };
  const because = exceeded.map(({ denial }) => denial);
  const raised = { from, to: "RED", reason: because.join("; ") } as const;
  const messages = exceeded.flatMap(({ name, error }) =>
    error === undefined ? [] : [`\`${name}\` could not be evaluated: ${error}`],
  );
  const frame = { status: "RED", errored: false, raised: true, missing: [] } as const;
  return {
    ...answer,
    selected_labels: ["RED"],
    ...(answer.outputs !== undefined && { outputs: [null] }),
    because,
    failed_conditions: [...answer.failed_conditions, ...exceeded.map(({ expression }) => expression)],
    warnings: messages,
    errors: messages,
    outcome: {
      ...outcome,
      status: "RED",
      work_frame: mergeWorkFrames(deciding, frame),
      decision_metadata: { ...metadata, aggregation: { ...metadata.aggregation, raised } },
    },
  };
}

const toNamedCondition = ({ name, expression, result, error }: LimitResult): NamedCondition => ({
  name,
  expression,
  result,
  ...(error !== undefined && { error }),
});

const noMatchReason = (errors: readonly ErroredPredicate[]): string =>
  errors.length === 0 ? "no rule matched" : `no rule matched; ${summariseErrored(errors)}`;

function gateMetadata(
  aggregated: AggregatedRules,
  system: JsonObject,
  raised: GateMetadata["aggregation"]["raised"],
): GateMetadata {
  const { rules, results, matches, suppressed, deciding, errors } = aggregated;
  const deciding_rules = deciding.map(({ id }) => id);
  const ids = rules.map(({ id }) => id);
  const idsAt = (indexes: readonly number[]): readonly string[] =>
    indexes.flatMap((index) => ids[index] ?? []);
  return {
    matched_rules: idsAt(matches),
    suppressed: matches.flatMap((index) => {
      const [rule, by] = idsAt([index, suppressed.get(index) ?? -1]);
      return rule === undefined || by === undefined ? [] : [{ rule, by }];
    }),
    aggregation: {
      mode: "winner_takes_all",
      winner: deciding_rules[0] ?? null,
      deciding_rules,
      ...(raised !== undefined && { raised }),
    },
    predicate_traces: results.map(({ trace }) => trace),
    errored_predicates: errors,
    request_id: textOf(system["request_id"]),
    request_time: textOf(system["request_time"]),
  };
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** Returns the reason of a rule, or its condition if it has none. */
const reasonOf = ({ rendered, when }: PreparedRule, scope: Scope): string =>
  rendered === undefined ? when : rendered.render(scope);
