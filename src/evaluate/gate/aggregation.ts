import type { PreparedRule, RuleResult } from "./gate-rule.js";
import { evaluateRule } from "./gate-rule.js";
import { explainMissing } from "./errored-texts.js";
import type { GateRule, Status } from "../../model/definition.js";
import type { ConditionDetail, ErroredPredicate } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";

/** The results of all rules, and the status that they make. */
export interface AggregatedRules extends Aggregated<PreparedRule> {
  /** By severity, highest first; equal ones in the order of the file. */
  readonly rules: readonly PreparedRule[];
  readonly results: readonly RuleResult[];
  /** The indexes of the matched rules. */
  readonly matches: readonly number[];
  /** The index of each suppressed rule, with the index of the rule that suppresses it. */
  readonly suppressed: ReadonlyMap<number, number>;
  /** The errors of the rules come last. */
  readonly errors: readonly ErroredPredicate[];
  readonly details: Readonly<Record<string, ConditionDetail>>;
  /** The conditions that did not match, in the order of the file. */
  readonly failed: readonly string[];
}

type AggregateRules = (scope: Scope, errors: readonly ErroredPredicate[]) => AggregatedRules;

/** Returns a function that evaluates all rules and aggregates those that match and are not suppressed. */
export function prepareAggregation(fileOrder: readonly PreparedRule[]): AggregateRules {
  const rules = fileOrder.toSorted((a, b) => b.severity - a.severity);
  const indexes = fileOrder.map((rule) => rules.indexOf(rule));
  const suppress = prepareSuppression(rules);
  // Copying this object and changing a few keys is faster than adding every key.
  const blank = Object.fromEntries(fileOrder.map(({ id, results }) => [id, results.notMatched.detail]));
  return (scope, errors) => {
    const results = rules.map((rule) => withCause(evaluateRule(rule, scope), errors));
    const matches = matchedIndexes(results);
    const suppressed = suppress(matches);
    const active = new Set(matches.filter((index) => !suppressed.has(index)));
    const { status, deciding } = aggregate(rules.filter((_, index) => active.has(index)));
    return {
      status,
      deciding,
      rules,
      results,
      matches,
      suppressed,
      errors: [...errors, ...erroredOf(results)],
      details: applyResults({ ...blank }, results),
      failed: failedOf(indexes, results),
    };
  };
}

/** Names the reason where a rule is errored because a computed value is. */
function withCause(result: RuleResult, errors: readonly ErroredPredicate[]): RuleResult {
  const { errored, trace, detail } = result;
  if (errored === undefined) return result;
  const error = explainMissing(errored.error, errors);
  return {
    ...result,
    errored: { ...errored, error },
    trace: { ...trace, error },
    detail: { ...detail, error },
  };
}

function matchedIndexes(results: readonly RuleResult[]): readonly number[] {
  const matches: number[] = [];
  for (let index = 0; index < results.length; index++) {
    if (results[index]?.matched === true) matches.push(index);
  }
  return matches;
}

function erroredOf(results: readonly RuleResult[]): readonly ErroredPredicate[] {
  const errors: ErroredPredicate[] = [];
  for (const { errored } of results) {
    if (errored !== undefined) errors.push(errored);
  }
  return errors;
}

function applyResults(
  details: Record<string, ConditionDetail>,
  results: readonly RuleResult[],
): Readonly<Record<string, ConditionDetail>> {
  for (const { matched, errored, trace, detail } of results) {
    if (matched || errored !== undefined) details[trace.rule] = detail;
  }
  return details;
}

function failedOf(indexes: readonly number[], results: readonly RuleResult[]): readonly string[] {
  const failed: string[] = [];
  for (const index of indexes) {
    const result = results[index];
    if (result?.matched === false) failed.push(result.trace.when);
  }
  return failed;
}

/** The status, and the rules that decide it. */
interface Aggregated<Rule> {
  readonly status: Status;
  readonly deciding: readonly Rule[];
}

type RankedRule = Pick<GateRule, "tier" | "severity" | "status">;

export const statusRank: Readonly<Record<Status, number>> = { GREEN: 0, "GREEN-SKIP": 1, YELLOW: 2, RED: 3 };

/** `winner_takes_all` among the active rules. If any of them is T1, only the T1 rules count. */
export function aggregate<Rule extends RankedRule>(active: readonly Rule[]): Aggregated<Rule> {
  const floor = active.filter(({ tier }) => tier === "T1");
  const deciding = floor.length > 0 ? mostSevere(strictest(floor)) : strictest(mostSevere(active));
  return { status: deciding[0]?.status ?? "YELLOW", deciding };
}

/** Tells whether an agent continues with this status, even if it only skips the action. */
export function isPermissive(status: Status): boolean {
  return statusRank[status] < statusRank.YELLOW;
}

function mostSevere<Rule extends RankedRule>(rules: readonly Rule[]): readonly Rule[] {
  const most = rules.reduce((high, { severity }) => Math.max(high, severity), -Infinity);
  return rules.filter(({ severity }) => severity === most);
}

function strictest<Rule extends RankedRule>(rules: readonly Rule[]): readonly Rule[] {
  const most = rules.reduce((high, { status }) => Math.max(high, statusRank[status]), 0);
  return rules.filter(({ status }) => statusRank[status] === most);
}

/** Maps the indexes of matched rules to the suppressed ones, each with the index of the rule that suppresses it. */
type Suppression = (matches: readonly number[]) => ReadonlyMap<number, number>;

/** A rule is suppressed if a matched, unsuppressed rule names it. T1 rules are never suppressed. */
export function prepareSuppression(rules: readonly GateRule[]): Suppression {
  const suppressors = rules.map((rule) => suppressorsOf(rule, rules));
  const order = suppressorsFirst(suppressors).filter((index) => suppressors[index]?.length !== 0);
  return (matches) => {
    const suppressed = new Map<number, number>();
    if (order.length === 0 || matches.length < 2) return suppressed;
    const matched = new Set(matches);
    for (const index of order) {
      if (!matched.has(index)) continue;
      const by = suppressors[index]?.find((each) => matched.has(each) && !suppressed.has(each));
      if (by !== undefined) suppressed.set(index, by);
    }
    return suppressed;
  };
}

function suppressorsOf({ id, tier }: GateRule, rules: readonly GateRule[]): readonly number[] {
  if (tier === "T1") return [];
  return rules.flatMap((rule, index) => (rule.id !== id && rule.suppresses?.includes(id) ? [index] : []));
}

/** Returns an order in which every rule comes after the rules that can suppress it. */
function suppressorsFirst(suppressors: readonly (readonly number[])[]): readonly number[] {
  const order = new Set<number>();
  const seen = new Set<number>();
  const visit = (index: number): void => {
    if (seen.has(index)) return;
    seen.add(index);
    suppressors[index]?.forEach(visit);
    order.add(index);
  };
  for (const index of suppressors.keys()) visit(index);
  return [...order];
}
