import type { Json } from "../../../model/json.js";
import type { Scope } from "../../../model/scope.js";
import { isObject } from "../../equal.js";
import { Failure } from "../../failure.js";
import { parseInstant } from "../../instant.js";
import type { RuleOperator, RuleTest } from "../operator-entry.js";
import { ruleOperator } from "../operator-entry.js";
import { isNumber } from "../parse-value.js";
import { daysOfWeek, someDays } from "../weekday.js";
import { mustBe, needs } from "../wording.js";

const aDate = "an ISO 8601 date (a time needs a zone)";
const aDistance = `days (a number, not negative) or {days, of}, \`of\` being ${aDate}`;
const placed = { placed_at: "2026-03-02T12:00:00Z" };
const dayInMilliseconds = 86_400_000;

export const dateOperators: readonly RuleOperator[] = [
  ruleOperator({
    name: "before_date",
    summary: "earlier than this instant",
    takes: aDate,
    example: {
      condition: { field: "placed_at", op: "before_date", value: "2026-03-02" },
      context: placed,
      answer: false,
    },
    parse: instant,
    test: (limit) => onInstant("before_date", (at) => at < limit),
  }),
  ruleOperator({
    name: "after_date",
    summary: "later than this instant",
    takes: aDate,
    example: {
      condition: { field: "placed_at", op: "after_date", value: "2026-03-02" },
      context: placed,
      answer: true,
    },
    parse: instant,
    test: (limit) => onInstant("after_date", (at) => at > limit),
  }),
  ruleOperator({
    name: "within_days",
    summary: "at most so many days before or after the time of the request, or the date given as `of`",
    takes: aDistance,
    example: {
      condition: { field: "placed_at", op: "within_days", value: { days: 30, of: "2026-03-31" } },
      context: placed,
      answer: true,
    },
    parse: distance,
    test: nearby,
    readsBeside: ({ of }) => (of === undefined ? ["system.request_time"] : []),
  }),
  ruleOperator({
    name: "day_of_week",
    summary: "the date is such a day of the week, in UTC",
    takes: someDays,
    example: {
      condition: { field: "placed_at", op: "day_of_week", value: ["monday", "tue"] },
      context: placed,
      answer: true,
    },
    parse: daysOfWeek,
    test: (days) => onInstant("day_of_week", (at) => days.has(new Date(at).getUTCDay())),
  }),
];

function instant(value: Json): number | Failure {
  const at = typeof value === "string" ? parseInstant(value) : undefined;
  return at ?? mustBe(aDate, value);
}

function onInstant(name: string, test: (at: number, scope: Scope) => boolean | string): RuleTest {
  return (actual, scope) => {
    const at = typeof actual === "string" ? parseInstant(actual) : undefined;
    return at === undefined ? needs(name, aDate, actual) : test(at, scope);
  };
}

interface Distance {
  readonly days: number;
  /** Absent: the time of the request. */
  readonly of?: number;
}

function distance(value: Json): Distance | Failure {
  if (isNumber(value) && value >= 0) return { days: value };
  if (!isObject(value) || Object.keys(value).length !== 2) return mustBe(aDistance, value);
  const { days, of = null } = value;
  const at = instant(of);
  if (!isNumber(days) || days < 0 || at instanceof Failure) return mustBe(aDistance, value);
  return { days, of: at };
}

function nearby({ days, of }: Distance): RuleTest {
  return onInstant("within_days", (at, scope) => {
    const middle = of ?? timeOf(scope);
    if (middle === undefined) return "there is no `system.request_time` to count the days from";
    return Math.abs(at - middle) <= days * dayInMilliseconds;
  });
}

function timeOf({ system }: Scope): number | undefined {
  const time = system["request_time"];
  return typeof time === "string" ? parseInstant(time) : undefined;
}
