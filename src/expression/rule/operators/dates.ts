import type { Json } from "../../../model/json.js";
import type { Scope } from "../../../model/scope.js";
import { isObject, isList } from "../../equal.js";
import { Failure } from "../../failure.js";
import { parseInstant } from "../../instant.js";
import type { RuleOperator, RuleTest } from "../rule-operator.js";
import { ruleOperator, isNumber, invalidValue, typeMismatch } from "../rule-operator.js";

const dateDescription = "an ISO 8601 date (a time needs a zone)";

const distanceDescription = `days (a number, not negative) or {days, of}, \`of\` being ${dateDescription}`;

const placed = { placed_at: "2026-03-02T12:00:00Z" };

const dayInMilliseconds = 86_400_000;

const daysDescription = "a day (`monday`, `mon`, or 0 for Sunday to 6) or a list of days";

export const dateOperators: readonly RuleOperator[] = [
  ruleOperator({
    name: "before_date",
    summary: "earlier than this instant",
    takes: dateDescription,
    example: {
      condition: { field: "placed_at", op: "before_date", value: "2026-03-02" },
      context: placed,
      answer: false,
    },
    parse: parseInstantValue,
    test: (limit) => onInstant("before_date", (at) => at < limit),
  }),
  ruleOperator({
    name: "after_date",
    summary: "later than this instant",
    takes: dateDescription,
    example: {
      condition: { field: "placed_at", op: "after_date", value: "2026-03-02" },
      context: placed,
      answer: true,
    },
    parse: parseInstantValue,
    test: (limit) => onInstant("after_date", (at) => at > limit),
  }),
  ruleOperator({
    name: "within_days",
    summary: "at most this many days before or after the time of the request, or the date `of`",
    takes: distanceDescription,
    example: {
      condition: { field: "placed_at", op: "within_days", value: { days: 30, of: "2026-03-31" } },
      context: placed,
      answer: true,
    },
    parse: parseDistance,
    test: withinDistance,
    extraReads: ({ of }) => (of === undefined ? ["system.request_time"] : []),
  }),
  ruleOperator({
    name: "day_of_week",
    summary: "the date is one of these days of the week, in UTC",
    takes: daysDescription,
    example: {
      condition: { field: "placed_at", op: "day_of_week", value: ["monday", "tue"] },
      context: placed,
      answer: true,
    },
    parse: parseDaysOfWeek,
    test: (days) => onInstant("day_of_week", (at) => days.has(new Date(at).getUTCDay())),
  }),
];

function parseInstantValue(value: Json): number | Failure {
  const at = typeof value === "string" ? parseInstant(value) : undefined;
  return at ?? invalidValue(dateDescription, value);
}

function onInstant(name: string, test: (at: number, scope: Scope) => boolean | string): RuleTest {
  return (actual, scope) => {
    const at = typeof actual === "string" ? parseInstant(actual) : undefined;
    return at === undefined ? typeMismatch(name, dateDescription, actual) : test(at, scope);
  };
}

interface Distance {
  readonly days: number;
  /** Default: the time of the request. */
  readonly of?: number;
}

function parseDistance(value: Json): Distance | Failure {
  if (isNumber(value) && value >= 0) return { days: value };
  if (!isObject(value) || Object.keys(value).length !== 2) return invalidValue(distanceDescription, value);
  const { days, of = null } = value;
  const at = parseInstantValue(of);
  if (!isNumber(days) || days < 0 || at instanceof Failure) return invalidValue(distanceDescription, value);
  return { days, of: at };
}

function withinDistance({ days, of }: Distance): RuleTest {
  return onInstant("within_days", (at, scope) => {
    const middle = of ?? requestTime(scope);
    if (middle === undefined) return "`system.request_time` is missing";
    return Math.abs(at - middle) <= days * dayInMilliseconds;
  });
}

function requestTime({ system }: Scope): number | undefined {
  const time = system["request_time"];
  return typeof time === "string" ? parseInstant(time) : undefined;
}

const dayNames = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** Parses days of the week to numbers; Sunday is 0. */
function parseDaysOfWeek(value: Json): ReadonlySet<number> | Failure {
  const days = (isList(value) ? value : [value]).map(parseDay);
  return days.length === 0 || days.includes(-1) ? invalidValue(daysDescription, value) : new Set(days);
}

function parseDay(value: Json): number {
  if (typeof value === "number") return dayNames[value] === undefined ? -1 : value;
  if (typeof value !== "string") return -1;
  const text = value.toLowerCase();
  return dayNames.findIndex((name) => text === name || text === name.slice(0, 3));
}
