import { describeConditionTrace } from "../expression/rule/rule-operators.js";
import type { Json } from "../model/json.js";
import type {
  ConditionDetail,
  ConditionTrace,
  EvaluatorDetail,
  FieldTrace,
  PolicyDetail,
  PolicyResult,
  Result,
  EvaluationDetails,
  RollDetails,
} from "../model/result.js";

/** The result of one condition, for every type of decision. */
export interface ConditionResult {
  /** The branch, the evaluator's rule, the policy and its condition, or the gate's rule. */
  readonly label: string;
  readonly condition: string;
  readonly result: boolean;
  readonly error?: string;
  /** The values that it read, where the details have them. */
  readonly values?: Readonly<Record<string, Json>>;
}

/** Returns the well-formed conditions in the details; a record that was changed may contain anything. */
export function conditionResults({
  type,
  evaluation_details: details,
}: Pick<Result, "type" | "evaluation_details">): readonly ConditionResult[] {
  switch (type) {
    case "scored":
      return entriesOf<EvaluatorDetail>(details).flatMap(evaluatorResults);
    case "policy":
      return entriesOf<PolicyDetail>(details).flatMap(policyResults);
    default:
      return entriesOf<ConditionDetail>(
        isRollDetails(details) ? (details.conditions ?? {}) : details,
      ).flatMap(branchResults);
  }
}

type Named<Detail> = readonly [name: string, detail: Partial<Detail> | null];

const entriesOf = <Detail>(details: object): readonly Named<Detail>[] => Object.entries(details);

function branchResults([label, detail]: Named<ConditionDetail>): readonly ConditionResult[] {
  if (typeof detail?.condition !== "string") return [];
  const { condition, result = false, error } = detail;
  return [{ label, condition, result, ...(error !== undefined && { error }) }];
}

function evaluatorResults([name, detail]: Named<EvaluatorDetail>): readonly ConditionResult[] {
  return listOf(detail?.rules).flatMap(({ rule_id, conditions }) =>
    listOf(conditions).map((trace) => ({ label: `${name} / ${rule_id}`, ...traceResult(trace) })),
  );
}

const listOf = <Item>(value: readonly Item[] | undefined): readonly Item[] =>
  Array.isArray(value) ? (value as readonly Item[]) : [];

function traceResult(trace: ConditionTrace): Omit<ConditionResult, "label"> {
  const condition = describeConditionTrace(trace);
  if ("expression" in trace) {
    const { result, error } = trace;
    return { condition, result, ...(error !== undefined && { error }) };
  }
  const {
    field,
    actual,
    note,
    negated = false,
  } = trace as Partial<FieldTrace> & Pick<FieldTrace, "field" | "result">;
  return {
    condition,
    result: trace.result !== negated,
    // Absent where inputs are not recorded.
    values: actual === undefined ? {} : { [field]: actual },
    ...(note !== undefined && !trace.result && { error: note }),
  };
}

function policyResults([name, detail]: Named<PolicyDetail>): readonly ConditionResult[] {
  return listOf(detail?.conditions).map(({ name: condition, expression, result, error }) => ({
    label: `${name} / ${condition}`,
    condition: expression,
    result,
    ...(error !== undefined && { error }),
  }));
}

/** Returns the labels of the conditions that led to the answer. A record that was changed may contain anything. */
export function takenLabels(result: Result): ReadonlySet<string> {
  switch (result.type) {
    case "scored":
      return new Set(
        entriesOf<EvaluatorDetail>(result.evaluation_details).flatMap(([name, detail]) =>
          detail?.decision === result.decision ? [`${name} / ${detail.rule_id}`] : [],
        ),
      );
    case "policy":
      return new Set(
        decidingPolicies(result)
          .flatMap(policyResults)
          .filter((each) => each.result === result.allowed)
          .map(({ label }) => label),
      );
    case "gate":
      return new Set(listOf(result.decision_metadata.aggregation.deciding_rules));
    default:
      return new Set(result.proposed_labels ?? result.selected_labels);
  }
}

/** The overrides that were applied, or the policies whose denial stands; none where no policy denies. */
function decidingPolicies({ allowed, evaluation_details }: PolicyResult): readonly Named<PolicyDetail>[] {
  return entriesOf<PolicyDetail>(evaluation_details).filter(([, detail]) =>
    allowed
      ? detail?.result === true && listOf(detail.overrides).length > 0
      : detail?.result === false && detail.left_out === undefined && detail.overridden_by === undefined,
  );
}

/** Whether these are the details of a weighted decision. */
export const isRollDetails = (details: EvaluationDetails): details is RollDetails =>
  typeof (details as Partial<RollDetails>).total_weight === "number";
