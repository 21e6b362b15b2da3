import type { FunctionEntry } from "../function-table.js";
import { parseInstant } from "../instant.js";

const date = { name: "date", type: "date" } as const;
const pair = [
  { name: "a", type: "date" },
  { name: "b", type: "date" },
] as const;

const dayInMilliseconds = 86_400_000;

/** Arguments of type `date` are checked before the call, so they are valid here. */
const at = (text: string): number => parseInstant(text) ?? Number.NaN;

export const dateFunctions: readonly FunctionEntry[] = [
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
    name: "timestamp",
    summary: "milliseconds since 1970",
    parameters: [date],
    returns: "number",
    example: { expression: "timestamp('1970-01-02')", answer: dayInMilliseconds },
    run: at,
  },
  part("year", "the year", 2026, (instant) => instant.getUTCFullYear()),
  part("month", "the month, 1–12", 3, (instant) => instant.getUTCMonth() + 1),
  part("day", "the day of the month", 2, (instant) => instant.getUTCDate()),
  part("hour", "the hour, 0–23", 12, (instant) => instant.getUTCHours()),
  part("weekday", "the day of the week, 1 (Monday) to 7", 1, (instant) => instant.getUTCDay() || 7),
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
