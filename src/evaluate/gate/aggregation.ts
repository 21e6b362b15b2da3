import type { PreparedRule, RuleResult } from "./gate-rule.js";
import { evaluateRule } from "./gate-rule.js";
import type { GateRule, Status } from "../../model/definition.js";
import type { ConditionDetail, ErroredPredicate } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";

/** The status that the rules make, and those whose word it is. */
interface Aggregated<Rule> {
  readonly status: Status;
  readonly deciding: readonly Rule[];
}

type RankedRule = Pick<GateRule, "tier" | "severity" | "status">;

const statusRank: Readonly<Record<Status, number>> = { GREEN: 0, "GREEN-SKIP": 1, YELLOW: 2, RED: 3 };

/** `winner_takes_all` among the rules that stand; where T1 rules are among them, nobody else has a say. */
export function aggregate<Rule extends RankedRule>(standing: readonly Rule[]): Aggregated<Rule> {
  const floor = standing.filter(({ tier }) => tier === "T1");
  const deciding = floor.length > 0 ? mostSevere(strictest(floor)) : strictest(mostSevere(standing));
  return { status: deciding[0]?.status ?? "YELLOW", deciding };
}

/** Whether an agent that is told so goes on, be it by doing nothing. */
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

/** What came of the rules. */
export interface AggregatedRules extends Aggregated<PreparedRule> {
  /** By severity, then in the order of the file. */
  readonly rules: readonly PreparedRule[];
  readonly results: readonly RuleResult[];
  /** The places of those that matched. */
  readonly matches: readonly number[];
  /** The places of those that are suppressed, with that of who does it. */
  readonly suppressed: ReadonlyMap<number, number>;
  /** Those of the rules come after all others. */
  readonly errors: readonly ErroredPredicate[];
  readonly details: Readonly<Record<string, ConditionDetail>>;
  /** The conditions that did not match, in the order of the file. */
  readonly failed: readonly string[];
}

type AggregateRules = (scope: Scope, errors: readonly ErroredPredicate[]) => AggregatedRules;

/** Asks all rules, and lets those that stand make the status. */
export function prepareAggregation(inFile: readonly PreparedRule[]): AggregateRules {
  const rules = inFile.toSorted((a, b) => b.severity - a.severity);
  const places = inFile.map((rule) => rules.indexOf(rule));
  const suppress = prepareSuppression(rules);
  // Copied and corrected, it is made sooner than key by key.
  const blank = Object.fromEntries(inFile.map(({ id, results: answers }) => [id, answers.notMatched.detail]));
  return (scope, errors) => {
    const answers = rules.map((rule) => evaluateRule(rule, scope));
    const matches = matchedIndexes(answers);
    const suppressed = suppress(matches);
    const isStanding = new Set(matches.filter((place) => !suppressed.has(place)));
    const standing = rules.filter((_, place) => isStanding.has(place));
    const { status, deciding } = aggregate(standing);
    return {
      status,
      deciding,
      rules,
      results: answers,
      matches,
      suppressed,
      errors: [...errors, ...erroredOf(answers)],
      details: applyResults({ ...blank }, answers),
      failed: failedOf(places, answers),
    };
  };
}

function matchedIndexes(answers: readonly RuleResult[]): readonly number[] {
  const matches: number[] = [];
  for (let place = 0; place < answers.length; place++) {
    if (answers[place]?.matched === true) matches.push(place);
  }
  return matches;
}

function erroredOf(answers: readonly RuleResult[]): readonly ErroredPredicate[] {
  const errors: ErroredPredicate[] = [];
  for (const { errored } of answers) {
    if (errored !== undefined) errors.push(errored);
  }
  return errors;
}

function applyResults(
  details: Record<string, ConditionDetail>,
  answers: readonly RuleResult[],
): Readonly<Record<string, ConditionDetail>> {
  for (const { matched, errored, trace, detail } of answers) {
    if (matched || errored !== undefined) details[trace.rule] = detail;
  }
  return details;
}

function failedOf(places: readonly number[], answers: readonly RuleResult[]): readonly string[] {
  const failed: string[] = [];
  for (const place of places) {
    const answer = answers[place];
    if (answer?.matched === false) failed.push(answer.trace.when);
  }
  return failed;
}

/** Of the places of rules that matched those that are suppressed, with the place of who does it. */
type Suppression = (matches: readonly number[]) => ReadonlyMap<number, number>;

/** A rule is suppressed when a matched, unsuppressed rule names it; T1 never. Rules come by severity. */
export function prepareSuppression(rules: readonly GateRule[]): Suppression {
  const suppressors = rules.map((rule) => suppressorsOf(rule, rules));
  const order = suppressorsFirst(suppressors).filter((place) => suppressors[place]?.length !== 0);
  return (matches) => {
    const suppressed = new Map<number, number>();
    if (order.length === 0 || matches.length < 2) return suppressed;
    const matched = new Set(matches);
    for (const place of order) {
      if (!matched.has(place)) continue;
      const by = suppressors[place]?.find((each) => matched.has(each) && !suppressed.has(each));
      if (by !== undefined) suppressed.set(place, by);
    }
    return suppressed;
  };
}

function suppressorsOf({ id, tier }: GateRule, rules: readonly GateRule[]): readonly number[] {
  if (tier === "T1") return [];
  return rules.flatMap((rule, place) => (rule.id !== id && rule.suppresses?.includes(id) ? [place] : []));
}

/** Whether a rule is suppressed is known only when that is known of those who name it. */
function suppressorsFirst(suppressors: readonly (readonly number[])[]): readonly number[] {
  const order = new Set<number>();
  const seen = new Set<number>();
  const visit = (place: number): void => {
    if (seen.has(place)) return;
    seen.add(place);
    suppressors[place]?.forEach(visit);
    order.add(place);
  };
  for (const place of suppressors.keys()) visit(place);
  return [...order];
}
