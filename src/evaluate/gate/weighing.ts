import type { ConditionDetail, ErroredPredicate } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import type { Aggregated } from "./aggregation.js";
import { aggregate } from "./aggregation.js";
import type { PreparedRule, RuleAnswer } from "./rule.js";
import { judgeRule } from "./rule.js";
import { prepareSuppression } from "./suppression.js";

/** What came of the rules. */
export interface Weighing extends Aggregated<PreparedRule> {
  /** By severity, then in the order of the file. */
  readonly rules: readonly PreparedRule[];
  readonly answers: readonly RuleAnswer[];
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

export type Weigh = (scope: Scope, errors: readonly ErroredPredicate[]) => Weighing;

/** Asks all rules, and lets those that stand make the status. */
export function prepareWeighing(inFile: readonly PreparedRule[]): Weigh {
  const rules = inFile.toSorted((a, b) => b.severity - a.severity);
  const places = inFile.map((rule) => rules.indexOf(rule));
  const suppress = prepareSuppression(rules);
  // Copied and corrected, it is made sooner than key by key.
  const blank = Object.fromEntries(inFile.map(({ id, answers }) => [id, answers.notMatched.detail]));
  return (scope, errors) => {
    const answers = rules.map((rule) => judgeRule(rule, scope));
    const matches = placesOfMatches(answers);
    const suppressed = suppress(matches);
    const isStanding = new Set(matches.filter((place) => !suppressed.has(place)));
    const standing = rules.filter((_, place) => isStanding.has(place));
    const { status, deciding } = aggregate(standing);
    return {
      status,
      deciding,
      rules,
      answers,
      matches,
      suppressed,
      errors: [...errors, ...erroredOf(answers)],
      details: correct({ ...blank }, answers),
      failed: failedOf(places, answers),
    };
  };
}

function placesOfMatches(answers: readonly RuleAnswer[]): readonly number[] {
  const matches: number[] = [];
  for (let place = 0; place < answers.length; place++) {
    if (answers[place]?.matched === true) matches.push(place);
  }
  return matches;
}

function erroredOf(answers: readonly RuleAnswer[]): readonly ErroredPredicate[] {
  const errors: ErroredPredicate[] = [];
  for (const { errored } of answers) {
    if (errored !== undefined) errors.push(errored);
  }
  return errors;
}

function correct(
  details: Record<string, ConditionDetail>,
  answers: readonly RuleAnswer[],
): Readonly<Record<string, ConditionDetail>> {
  for (const { matched, errored, trace, detail } of answers) {
    if (matched || errored !== undefined) details[trace.rule] = detail;
  }
  return details;
}

function failedOf(places: readonly number[], answers: readonly RuleAnswer[]): readonly string[] {
  const failed: string[] = [];
  for (const place of places) {
    const answer = answers[place];
    if (answer?.matched === false) failed.push(answer.trace.when);
  }
  return failed;
}
