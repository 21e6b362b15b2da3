import type { Json } from "../../model/json.js";
import { fail } from "../failure.js";
import type { FunctionEntry } from "../function-table.js";
import { parseInstant, zoneOffsetOf } from "../instant.js";
import type { IsoDuration } from "../iso-duration.js";
import { parseIsoDuration } from "../iso-duration.js";

const date = { name: "date", type: "date" } as const;
const pair = [
  { name: "a", type: "date" },
  { name: "b", type: "date" },
] as const;

const dayInMilliseconds = 86_400_000;

/** Arguments of type `date` are checked before the call, so they are valid here. */
const at = (text: string): number => parseInstant(text) ?? Number.NaN;

const duration = { name: "duration", type: "duration" } as const;

/** Arguments of type `duration` are checked, too. */
const length = (text: string): IsoDuration =>
  parseIsoDuration(text) ?? { months: 0, milliseconds: Number.NaN, hasTime: true };

export const dateFunctions = (): readonly FunctionEntry[] => [
  {
    name: "before",
    summary: "the first instant is earlier than the second",
    parameters: pair,
    returns: "boolean",
    example: { expression: "before(order.placed_at, '2026-01-01')", answer: false },
    run: (a: string, b: string) => at(a) < at(b),
  },
  {
    name: "after",
    summary: "the first instant is later than the second",
    parameters: pair,
    returns: "boolean",
    example: { expression: "after(order.placed_at, '2026-01-01')", answer: true },
    run: (a: string, b: string) => at(a) > at(b),
  },
  {
    name: "days_between",
    summary: "days from the first instant to the second, with fractions; negative when it is earlier",
    parameters: pair,
    returns: "number",
    example: { expression: "days_between('2026-03-01', order.placed_at)", answer: 1.5 },
    run: (a: string, b: string) => (at(b) - at(a)) / dayInMilliseconds,
  },
  {
    name: "hours_between",
    summary: "the same in hours",
    parameters: pair,
    returns: "number",
    example: { expression: "hours_between('2026-03-02', order.placed_at)", answer: 12 },
    run: (a: string, b: string) => (at(b) - at(a)) / (dayInMilliseconds / 24),
  },
  {
    name: "minutes_between",
    summary: "the same in minutes",
    parameters: pair,
    returns: "number",
    example: { expression: "minutes_between('2026-03-02T11:30:00Z', order.placed_at)", answer: 30 },
    run: (a: string, b: string) => (at(b) - at(a)) / 60_000,
  },
  {
    name: "seconds_between",
    summary: "the same in seconds",
    parameters: pair,
    returns: "number",
    example: { expression: "seconds_between('2026-03-02T11:59:00Z', order.placed_at)", answer: 60 },
    run: (a: string, b: string) => (at(b) - at(a)) / 1000,
  },
  {
    name: "date",
    summary: "the instant in milliseconds since 1970; the difference of two is compared with `duration`",
    parameters: [date],
    returns: "number",
    example: { expression: "date(order.placed_at) - date('2026-03-02')", answer: dayInMilliseconds / 2 },
    run: at,
  },
  {
    name: "duration",
    summary:
      "the length of an ISO 8601 duration in milliseconds; years and months have none, see `add_duration`",
    parameters: [duration],
    returns: "number",
    example: { expression: "duration('PT8H')", answer: dayInMilliseconds / 3 },
    run: fixedLength,
  },
  {
    name: "add_duration",
    summary: "the date later by a duration, or earlier if it starts with `-`; as ISO 8601 text in UTC",
    parameters: [date, duration],
    returns: "text",
    example: { expression: "add_duration('2026-01-31', 'P1M')", answer: "2026-02-28" },
    run: addDuration,
  },
  {
    name: "timestamp",
    summary: "the same as `date`",
    parameters: [date],
    returns: "number",
    example: { expression: "timestamp('1970-01-02')", answer: dayInMilliseconds },
    run: at,
  },
  part("year", "the year", 2026, (instant) => instant.getUTCFullYear()),
  part("month", "the month, 1–12", 3, (instant) => instant.getUTCMonth() + 1),
  part("day", "the day of the month", 2, (instant) => instant.getUTCDate()),
  part("hour", "the hour, 0–23", 12, (instant) => instant.getUTCHours()),
  part("minute", "the minute, 0–59", 0, (instant) => instant.getUTCMinutes()),
  part("second", "the second, 0–59", 0, (instant) => instant.getUTCSeconds()),
  part("weekday", "the day of the week, 1 (Monday) to 7", 1, (instant) => instant.getUTCDay() || 7),
  part("week_of_year", "the week of the year by ISO 8601, 1–53", 10, weekOfYear),
  rate("rate_per_second", "second", 1000, "['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z']"),
  rate("rate_per_minute", "minute", 60_000, "['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z']"),
  rate("rate_per_hour", "hour", 3_600_000, "['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z']"),
];

function part(name: string, summary: string, answer: number, read: (instant: Date) => number): FunctionEntry {
  return {
    name,
    summary,
    parameters: [date],
    returns: "number",
    example: { expression: `${name}(order.placed_at)`, answer },
    run: (text: string) => read(new Date(at(text))),
  };
}

/** Weeks begin on Monday, and week 1 has the first Thursday of the year. */
function weekOfYear(instant: Date): number {
  const weekday = instant.getUTCDay() || 7;
  const thursday = new Date(instant.getTime() + (4 - weekday) * dayInMilliseconds);
  const firstDay = new Date(0).setUTCFullYear(thursday.getUTCFullYear(), 0, 1);
  return 1 + Math.floor((thursday.getTime() - firstDay) / (7 * dayInMilliseconds));
}

function rate(name: string, unit: string, milliseconds: number, instants: string): FunctionEntry {
  return {
    name,
    summary: `the number of instants in the list per ${unit}, between the first and the last of them`,
    parameters: [{ name: "instants", type: "list" }],
    returns: "number",
    example: { expression: `${name}(${instants})`, answer: 2 },
    run: (texts: readonly Json[]) => {
      const times = texts.map((text) => (typeof text === "string" ? parseInstant(text) : undefined));
      if (!times.every((time) => time !== undefined)) fail(`\`${name}\` needs ISO 8601 dates only`);
      const [first = 0, ...later] = Float64Array.from(times).sort();
      const span = (later.at(-1) ?? first) - first;
      return span > 0
        ? (times.length * milliseconds) / span
        : fail(`\`${name}\` needs at least two different instants`);
    },
  };
}

function fixedLength(text: string): number {
  const { months, milliseconds } = length(text);
  if (months !== 0) {
    fail(
      "`duration` cannot convert years and months, whose length varies: use `add_duration(date, duration)`",
    );
  }
  return milliseconds;
}

/**
 * Adds years and months first, in the calendar of the date's own zone; a day that the month does not have becomes
 * its last day. A date without a time stays one, unless hours, minutes or seconds are added.
 */
function addDuration(date: string, text: string): string {
  const { months, milliseconds, hasTime } = length(text);
  const offset = zoneOffsetOf(date);
  const local = new Date(at(date) + offset);
  const day = local.getUTCDate();
  local.setUTCMonth(local.getUTCMonth() + months);
  if (local.getUTCDate() !== day) local.setUTCDate(0);
  const instant = new Date(local.getTime() - offset + milliseconds);
  const year = instant.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) fail("the result of `add_duration` is not between the years 0 and 9999");
  const iso = instant.toISOString();
  const isDay = !hasTime && !/t| /i.test(date) && milliseconds % dayInMilliseconds === 0;
  return isDay ? iso.slice(0, "2026-01-31".length) : iso;
}
