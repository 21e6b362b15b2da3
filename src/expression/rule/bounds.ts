import type { Json } from "../../model/json.js";
import { isObject } from "../equal.js";
import type { Failure } from "../failure.js";
import { isNumber } from "./parse-value.js";
import { mustBe } from "./wording.js";

/** What a number that was measured must be. */
export type Bounds = (measured: number) => boolean;

export const someBounds = "a number or a map of `eq`, `gt`, `gte`, `lt`, `lte`, `min` and `max` to numbers";

const relations: ReadonlyMap<string, (limit: number) => Bounds> = new Map([
  ["eq", (limit) => (measured) => measured === limit],
  ["gt", (limit) => (measured) => measured > limit],
  ["gte", (limit) => (measured) => measured >= limit],
  ["lt", (limit) => (measured) => measured < limit],
  ["lte", (limit) => (measured) => measured <= limit],
  ["min", (limit) => (measured) => measured >= limit],
  ["max", (limit) => (measured) => measured <= limit],
]);

export function bounds(value: Json): Bounds | Failure {
  if (isNumber(value)) return (measured) => measured === value;
  if (!isObject(value)) return mustBe(someBounds, value);
  const entries = Object.entries(value);
  const each = entries.flatMap(([key, limit]) => {
    const relation = relations.get(key);
    return relation !== undefined && isNumber(limit) ? [relation(limit)] : [];
  });
  if (each.length === 0 || each.length < entries.length) return mustBe(someBounds, value);
  return (measured) => each.every((holds) => holds(measured));
}
