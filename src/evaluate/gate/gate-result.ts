import type { AggregatedRules } from "./aggregation.js";
import { isPermissive } from "./aggregation.js";
import type { PreparedRule } from "./gate-rule.js";
import { mergeWorkFrames } from "./work-frame.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { ErroredPredicate, GateMetadata } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import type { EvaluatedWithErrors } from "../evaluate.js";

/** What is known beside the rules. */
interface GateInputs {
  readonly input: Json;
  /** What the context lacks. */
  readonly missing: readonly string[];
}

/** Makes an answer of what came of the rules: where anything errs, it is YELLOW at least. */
export function toGateResult(
  weighing: AggregatedRules,
  scope: Scope,
  { input, missing }: GateInputs,
): EvaluatedWithErrors {
  const { deciding, errors } = weighing;
  const errored = errors.length > 0;
  const raised = errored && isPermissive(weighing.status);
  const status = raised ? "YELLOW" : weighing.status;
  const reasons = deciding.length === 0 ? ["no rule matched"] : deciding.map((rule) => reasonOf(rule, scope));
  const told = errors.map(describeErrored);
  const alone = errored || deciding.length !== 1 ? undefined : deciding[0];
  return {
    selected_targets: [],
    selected_labels: [status],
    input_value: input,
    evaluation_details: weighing.details,
    rules_total: undefined,
    because: raised ? [summariseErrored(errors), ...reasons] : reasons,
    failed_conditions: weighing.failed,
    warnings: told,
    errors: told,
    outcome: {
      type: "gate",
      status,
      work_frame: alone?.frame ?? mergeWorkFrames(deciding, { status, errored, raised, missing }),
      decision_metadata: gateMetadata(weighing, scope.system),
    },
  };
}

/** What could not be evaluated, in a sentence. */
export function describeErrored({ source, name = "", error }: ErroredPredicate): string {
  switch (source) {
    case "enrich":
      return `no data came from \`${name}\`: ${error}`;
    case "context_schema":
      return `the context does not fit its schema: ${error}`;
    case "input":
      return `the input could not be evaluated: ${error}`;
    case "computed":
      return `the computed \`${name}\` could not be evaluated: ${error}`;
    case "applies_when":
      return `\`applies_when\` of \`${name}\` could not be evaluated: ${error}`;
    case "when":
      return `\`${name}\` could not be evaluated: ${error}`;
  }
}

/** Why a gate is not GREEN that would have been. */
export function summariseErrored(errors: readonly ErroredPredicate[]): string {
  const unfit = errors.some(({ source }) => source === "context_schema");
  const lacks = errors.some(({ source }) => source === "enrich");
  const count = errors.filter(({ source }) => source !== "context_schema" && source !== "enrich").length;
  const parts = [
    ...(lacks ? ["data that it needs did not come"] : []),
    ...(unfit ? ["the context does not fit its schema"] : []),
    ...(count > 0 ? [`${count} ${count === 1 ? "predicate" : "predicates"} could not be evaluated`] : []),
  ];
  return parts.join(", and ");
}

function gateMetadata(weighing: AggregatedRules, system: JsonObject): GateMetadata {
  const { rules, results: answers, matches, suppressed, deciding, errors } = weighing;
  const deciding_rules = deciding.map(({ id }) => id);
  const ids = rules.map(({ id }) => id);
  const idsAt = (places: readonly number[]): readonly string[] => places.flatMap((place) => ids[place] ?? []);
  return {
    matched_rules: idsAt(matches),
    suppressed: matches.flatMap((place) => {
      const [rule, by] = idsAt([place, suppressed.get(place) ?? -1]);
      return rule === undefined || by === undefined ? [] : [{ rule, by }];
    }),
    aggregation: { mode: "winner_takes_all", winner: deciding_rules[0] ?? null, deciding_rules },
    predicate_traces: answers.map(({ trace }) => trace),
    errored_predicates: errors,
    request_id: textOf(system["request_id"]),
    request_time: textOf(system["request_time"]),
  };
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** Why a rule decides: its reason, or else its condition. */
const reasonOf = ({ rendered, when }: PreparedRule, scope: Scope): string =>
  rendered === undefined ? when : rendered.render(scope);
