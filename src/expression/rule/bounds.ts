import type { Json, JsonObject } from "../../model/json.js";
import { isObject } from "../equal.js";
import type { Failure } from "../failure.js";
import { invalidValue, isNumber } from "./rule-operator.js";

/** Tests a number that an operator has counted or computed. */
export type BoundsTest = (measured: number) => boolean;

const boundTests: ReadonlyMap<string, (limit: number) => BoundsTest> = new Map([
  ["eq", (limit) => (measured) => measured === limit],
  ["gt", (limit) => (measured) => measured > limit],
  ["gte", (limit) => (measured) => measured >= limit],
  ["lt", (limit) => (measured) => measured < limit],
  ["lte", (limit) => (measured) => measured <= limit],
  ["min", (limit) => (measured) => measured >= limit],
  ["max", (limit) => (measured) => measured <= limit],
]);

export const boundsDescription =
  "a number or a map of `eq`, `gt`, `gte`, `lt`, `lte`, `min` and `max` to numbers";

export function parseBounds(value: Json): BoundsTest | Failure {
  if (isNumber(value)) return (measured) => measured === value;
  const test = isObject(value) ? parseLimits(value, boundTests) : undefined;
  return test ?? invalidValue(boundsDescription, value);
}

/** Computed numbers that differ by less count as equal. */
const tolerance = 1e-10;

const isClose = (a: number, b: number): boolean => Math.abs(a - b) <= tolerance;

/** The same for computed numbers, which are rarely exact. `result` and `threshold` are other names of `eq` and `gte`. */
const computedTests: ReadonlyMap<string, (limit: number) => BoundsTest> = new Map([
  ...boundTests,
  ["eq", (limit: number) => (measured: number) => isClose(measured, limit)],
  ["result", (limit: number) => (measured: number) => isClose(measured, limit)],
  ["threshold", (limit: number) => (measured: number) => measured >= limit],
]);

export const computedBoundsDescription = `${boundsDescription} (equal within ${tolerance})`;

export function parseComputedBounds(value: Json): BoundsTest | Failure {
  if (isNumber(value)) return (measured) => isClose(measured, value);
  const test = isObject(value) ? parseComputedLimits(value) : undefined;
  return test ?? invalidValue(computedBoundsDescription, value);
}

/** Returns undefined if the map is empty or has another key or value. */
export const parseComputedLimits = (limits: JsonObject): BoundsTest | undefined =>
  parseLimits(limits, computedTests);

function parseLimits(
  limits: JsonObject,
  tests: ReadonlyMap<string, (limit: number) => BoundsTest>,
): BoundsTest | undefined {
  const entries = Object.entries(limits);
  const each = entries.flatMap(([key, limit]) => {
    const relation = tests.get(key);
    return relation !== undefined && isNumber(limit) ? [relation(limit)] : [];
  });
  if (each.length === 0 || each.length < entries.length) return undefined;
  return (measured) => each.every((holds) => holds(measured));
}
