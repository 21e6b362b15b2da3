import type { DecisionRecord, PolicyRecord } from "../model/record.js";
import type { Check, PolicyDetail } from "../model/result.js";
import { consultedPolicies } from "../record/explain-call.js";
import { sanitizeRecord } from "../record/sanitize-record.js";

/** Why a decision has its outcome. */
export interface Rationale {
  /**
   * The policies, rules, conditions or guardrails that decided, as the definition has them: without values of the
   * context, so that a reason with a template is the same for every value.
   */
  readonly basis: readonly string[];
  /** The reasons as they were given. */
  readonly reasons: readonly string[];
}

/** Returns the rationale of a recorded decision; where guardrails blocked or escalated it, these are the rationale. */
export function rationaleOf(stored: DecisionRecord): Rationale {
  const record = sanitizeRecord(stored);
  const guardrails = failedGuardrails(record);
  switch (record.type) {
    case "policy":
      return {
        basis: guardrails.length > 0 ? guardrails.map(guardrailBasis) : policyBasis(record),
        reasons: [record.reason],
      };
    case "gate":
      return { basis: [...gateBasis(record), ...guardrails.map(guardrailBasis)], reasons: record.because };
    default:
      if (guardrails.length > 0) {
        return { basis: guardrails.map(guardrailBasis), reasons: guardrails.map(({ message }) => message) };
      }
      return {
        basis: record.type === "scored" ? scoredBasis(record) : record.because,
        reasons: record.because,
      };
  }
}

function failedGuardrails({ blocked, escalated, guardrails }: DecisionRecord): readonly Check[] {
  if (!blocked && !escalated) return [];
  return guardrails.filter(({ passed, on_fail }) => !passed && on_fail !== "warn");
}

/** The messages name targets and bounds, except that of the drift, which has measured values. */
const guardrailBasis = ({ check_name: name, message }: Check): string =>
  name === "distribution_drift" ? name : message;

/** Returns the applied overrides; without any, the policies that allowed the call, or those whose denial stands. */
function policyBasis(record: PolicyRecord): readonly string[] {
  const details = record.evaluation_details as Readonly<Record<string, PolicyDetail>>;
  const policies = consultedPolicies(record);
  const describe = (name: string, isDecisive: (result: boolean) => boolean): string => {
    const { conditions = [] } = (Object.hasOwn(details, name) ? details[name] : undefined) ?? {};
    const decisive = conditions.filter(({ result }) => isDecisive(result));
    return [name, ...decisive.map(({ expression }) => expression)].join(": ");
  };
  if (record.outcome === "allowed_by_exception") {
    const overrides = new Set(policies.flatMap(({ override = [] }) => override));
    return [...overrides].map((name) => describe(name, () => true));
  }
  if (record.allowed) return policies.map(({ name }) => describe(name, () => true));
  const denials = policies.filter(({ allows }) => !allows);
  const standing = denials.filter(({ override }) => override === undefined);
  return (standing.length > 0 ? standing : denials).map(({ name }) => describe(name, (result) => !result));
}

/** Returns the deciding rules, the errors that are among the reasons, and the limits that are used up. */
function gateBasis({
  decision_metadata: { aggregation, predicate_traces, errored_predicates, limits = [] },
}: Extract<DecisionRecord, { readonly type: "gate" }>): readonly string[] {
  const conditions = new Map(predicate_traces.map(({ rule, when }) => [rule, when]));
  const named = errored_predicates.filter(
    ({ missing }) => missing !== undefined || aggregation.raised !== undefined,
  );
  return [
    ...aggregation.deciding_rules.map((rule) => `${rule}: ${conditions.get(rule) ?? ""}`),
    ...named.map(({ source, name = "", missing = "" }) => [source, name, missing].join(" ")),
    ...limits.flatMap(({ name, result }) => (result ? [] : [name])),
  ];
}

/** Returns the conditions behind the votes for the decision, and the evaluators that voted for it without conditions. */
function scoredBasis({
  decision,
  evaluations,
  evaluation_details: details,
  because,
}: Extract<DecisionRecord, { readonly type: "scored" }>): readonly string[] {
  const votes = evaluations.filter((each) => each.decision === decision);
  if (votes.length === 0) return ["fallback"];
  const hasRule = (name: string): boolean =>
    (details as Readonly<Record<string, { readonly rule_id?: string }>>)[name]?.rule_id !== undefined;
  const stated = votes.filter(({ evaluator_name: name }) => !hasRule(name));
  const statements = new Set(stated.map(({ reason }) => reason));
  return [
    ...because.filter((text) => !statements.has(text)),
    ...stated.map(({ evaluator_name: name }) => name),
  ];
}
