import type { Json } from "../../model/json.js";
import { isList } from "../equal.js";
import { fail } from "../failure.js";
import type { FunctionEntry } from "../function-table.js";

const value = { name: "value", type: "number" } as const;

export const numberFunctions = (): readonly FunctionEntry[] => [
  {
    name: "abs",
    summary: "the absolute value",
    parameters: [value],
    returns: "number",
    example: { expression: "abs(0 - 3)", answer: 3 },
    run: Math.abs,
  },
  {
    name: "ceil",
    summary: "the number rounded up to a whole number",
    parameters: [value],
    returns: "number",
    example: { expression: "ceil(1.2)", answer: 2 },
    run: Math.ceil,
  },
  {
    name: "floor",
    summary: "the number rounded down to a whole number",
    parameters: [value],
    returns: "number",
    example: { expression: "floor(1.8)", answer: 1 },
    run: Math.floor,
  },
  {
    name: "round",
    summary: "the number rounded to a whole number, halves up, or to `digits` decimals (0–15)",
    parameters: [value, { name: "digits", type: "number", optional: true }],
    returns: "number",
    example: { expression: "round(order.total / 3, 2)", answer: 40 },
    run: round,
  },
  {
    name: "min",
    summary: "the smallest of the numbers, given as arguments or as a list",
    parameters: [{ name: "value", type: "number or list", rest: true }],
    returns: "number",
    example: { expression: "min(order.total, 100)", answer: 100 },
    run: (...values: Json[]) => extreme("min", values),
  },
  {
    name: "max",
    summary: "the largest of the numbers",
    parameters: [{ name: "value", type: "number or list", rest: true }],
    returns: "number",
    example: { expression: "max(order.total, 100)", answer: 120 },
    run: (...values: Json[]) => extreme("max", values),
  },
  {
    name: "between",
    summary: "low ≤ value ≤ high, for three numbers or three texts (dates are compared as texts)",
    parameters: [
      { name: "value", type: "any" },
      { name: "low", type: "any" },
      { name: "high", type: "any" },
    ],
    returns: "boolean",
    example: { expression: "between(order.total, 100, 200)", answer: true },
    run: between,
  },
];

function round(number: number, digits = 0): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > 15) fail("`round` takes 0 to 15 digits");
  const factor = 10 ** digits;
  const scaled = number * factor;
  // A number this large has no decimals.
  return Number.isFinite(scaled) ? Math.round(scaled) / factor : number;
}

function extreme(name: "min" | "max", args: readonly Json[]): number {
  const [only] = args;
  const values = args.length === 1 && isList(only) ? only : args;
  if (values.length === 0) fail(`\`${name}\` needs at least one number`);
  let best: number | undefined;
  for (const each of values) {
    if (typeof each !== "number") fail(`\`${name}\` needs numbers only`);
    if (best === undefined || (name === "min" ? each < best : each > best)) best = each;
  }
  return best ?? fail(`\`${name}\` needs at least one number`);
}

function between(candidate: Json, low: Json, high: Json): boolean {
  const numbers = typeof candidate === "number" && typeof low === "number" && typeof high === "number";
  const texts = typeof candidate === "string" && typeof low === "string" && typeof high === "string";
  if (!numbers && !texts) fail("`between` needs three numbers or three texts");
  return candidate >= low && candidate <= high;
}
