import type { Json } from "../../model/json.js";
import { isList, isObject } from "../equal.js";
import type { Failure } from "../failure.js";
import { mustBe } from "./wording.js";

/** The parts of a `value` that more than one family of operators takes. */
export const anything = (value: Json): Json => value;

export function text(value: Json): string | Failure {
  return typeof value === "string" ? value : mustBe("text", value);
}

export function list(value: Json): readonly Json[] | Failure {
  return isList(value) ? value : mustBe("a list", value);
}

export function isNumber(value: Json | undefined): value is number {
  return Number.isFinite(value);
}

/** Two values in a list, or in a map under these names; nothing where there are others or fewer. */
export function pairOf(value: Json, names: readonly [string, string]): readonly Json[] {
  if (!isObject(value)) return isList(value) && value.length === 2 ? value : [];
  if (Object.keys(value).length !== 2) return [];
  return names.map((name) => value[name] ?? null);
}
