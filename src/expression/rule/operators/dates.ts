import type { Json } from "../../../model/json.js";
import type { Scope } from "../../../model/scope.js";
import { isObject, isList } from "../../equal.js";
import { Failure, missingMessage } from "../../failure.js";
import { parseInstant } from "../../instant.js";
import { isForbiddenKey, pathGetter } from "../../path.js";
import type { BoundsTest } from "../bounds.js";
import { parseComputedLimits } from "../bounds.js";
import type { RuleOperator, RuleTest } from "../rule-operator.js";
import { ruleOperator, isNumber, invalidValue, typeMismatch } from "../rule-operator.js";

const dateDescription = "an ISO 8601 date (a time needs a zone)";

const distanceDescription = `days (a number, not negative) or {days, of}, \`of\` being ${dateDescription}`;

const placed = { placed_at: "2026-03-02T12:00:00Z" };

const dayInMilliseconds = 86_400_000;

const daysDescription = "a day (`monday`, `mon`, or 0 for Sunday to 6) or a list of days";

export const dateOperators = (): readonly RuleOperator[] => [
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

const units = { days: dayInMilliseconds, hours: 3_600_000, minutes: 60_000, seconds: 1000 };
type Unit = keyof typeof units;

const otherDescription = "`now` (the time of the request) or the path of a date";

const durationDescription = `a map of \`end\`, ${otherDescription}, and of bounds such as \`gt\` to numbers`;

export const durationOperators = (): readonly RuleOperator[] =>
  (["seconds", "minutes", "hours", "days"] as const).map((unit) =>
    ruleOperator({
      name: `duration_${unit}`,
      summary: `the ${unit} between the date and \`end\`, whichever is earlier`,
      takes: durationDescription,
      example: {
        condition: {
          field: "placed_at",
          op: `duration_${unit}`,
          value: { end: "shipped_at", max: 86_400_000 / units[unit] },
        },
        context: { ...placed, shipped_at: "2026-03-03T09:00:00Z" },
        answer: true,
      },
      parse: parseElapsed,
      test: ({ other, holds }) =>
        onInstants(`duration_${unit}`, other, (at, end) => holds(Math.abs(end - at) / units[unit])),
      extraReads: ({ other }) => [other],
    }),
  );

const comparisons: ReadonlyMap<string, (a: number, b: number) => boolean> = new Map([
  ["eq", (a, b) => Math.abs(a - b) < 1000],
  ["gt", (a, b) => a > b],
  ["gte", (a, b) => a >= b],
  ["lt", (a, b) => a < b],
  ["lte", (a, b) => a <= b],
]);

export const dateArithmeticOperators = (): readonly RuleOperator[] =>
  (["days", "hours", "minutes"] as const).flatMap((unit) => [
    shiftOperator("add", unit),
    shiftOperator("subtract", unit),
  ]);

function shiftOperator(action: "add" | "subtract", unit: Unit): RuleOperator {
  const name = `${action}_${unit}`;
  const takes =
    `a map of \`${unit}\` (a number), \`compare\` (\`eq\`: less than a second apart, \`gt\`, \`gte\`, \`lt\` or \`lte\`) ` +
    `and \`target\`, ${otherDescription}; \`now\` if absent`;
  const length = units[unit] * (action === "add" ? 1 : -1);
  return ruleOperator({
    name,
    summary: `the date, ${action === "add" ? "later" : "earlier"} by these ${unit}, compares so with \`target\``,
    takes,
    example: {
      condition: {
        field: "placed_at",
        op: name,
        value: { [unit]: 1, compare: "lt", target: "shipped_at" },
      },
      context: { ...placed, shipped_at: "2026-03-03T18:00:00Z" },
      answer: true,
    },
    parse: (value) => parseShift(value, unit) ?? invalidValue(takes, value),
    test: ({ count, other, compare }) =>
      onInstants(name, other, (at, target) => compare(at + count * length, target)),
    extraReads: ({ other }) => [other],
  });
}

interface Shift {
  readonly count: number;
  /** The path of the date to compare with. */
  readonly other: string;
  readonly compare: (a: number, b: number) => boolean;
}

function parseShift(value: Json, unit: Unit): Shift | undefined {
  if (!isObject(value)) return undefined;
  const { [unit]: count, compare: relation = null, target = "now", ...more } = value;
  const other = parseOther(target);
  const compare = typeof relation === "string" ? comparisons.get(relation) : undefined;
  const isComplete = isNumber(count) && other !== undefined && compare !== undefined;
  return isComplete && Object.keys(more).length === 0 ? { count, other, compare } : undefined;
}

interface Elapsed {
  readonly other: string;
  readonly holds: BoundsTest;
}

function parseElapsed(value: Json): Elapsed | Failure {
  const { end = null, ...limits } = isObject(value) ? value : {};
  const other = parseOther(end);
  const holds = parseComputedLimits(limits);
  if (other === undefined || holds === undefined) return invalidValue(durationDescription, value);
  return { other, holds };
}

function parseOther(value: Json): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  if (value === "now") return "system.request_time";
  return value.split(".").some((key) => key === "" || isForbiddenKey(key)) ? undefined : value;
}

function onInstants(name: string, path: string, test: (at: number, other: number) => boolean): RuleTest {
  const get = pathGetter(path.split("."));
  return onInstant(name, (at, scope) => {
    const value = get(scope);
    if (value === undefined) return missingMessage(path);
    const other = typeof value === "string" ? parseInstant(value) : undefined;
    return other === undefined
      ? typeMismatch(name, `\`${path}\` to be ${dateDescription}`, value)
      : test(at, other);
  });
}

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
