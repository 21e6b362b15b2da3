import { DecisionError } from "../../errors.js";
import type { FieldCondition } from "../../model/definition.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";
import { isList, isObject } from "../equal.js";
import { Failure, typeName } from "../failure.js";

/** Tests a value. A text is the reason why it cannot be tested, which counts as false. Never throws. */
export type RuleTest = (actual: Json, scope: Scope) => boolean | string;

/** An operator of rule conditions. Evaluation, checks and documentation are derived from its entry. */
export interface RuleOperator {
  readonly name: string;
  /** Its infix symbol, such as `>=`. */
  readonly symbol?: string;
  readonly summary: string;
  /** Describes its `value` in the help. */
  readonly takes: string;
  readonly takesNoValue?: true;
  /** The result for a missing field is true, not false. */
  readonly trueWhenMissing?: true;
  /** The test runs for a missing field, too. */
  readonly testsMissing?: true;
  readonly example: {
    readonly condition: FieldCondition;
    readonly context: JsonObject;
    readonly answer: boolean;
  };
  /** Returns the condition in words, if `field symbol value` does not read well; undefined for an invalid `value`. */
  readonly describe?: (field: string, value: Json) => string | undefined;
  /** Returns a message if a `value` is invalid. */
  checkValue(value: Json): string | undefined;
  /** Prepares the test for a `value`. Throws `definition_invalid` if `checkValue` returns a message. */
  prepare(value: Json): RuleTest;
  /** Returns the paths that the test for a valid `value` reads in addition to the field. */
  extraReads(value: Json): readonly string[];
}

interface Specification<Expected> extends Omit<RuleOperator, "checkValue" | "prepare" | "extraReads"> {
  readonly parse: (value: Json) => Expected | Failure;
  readonly test: (expected: Expected) => RuleTest;
  readonly extraReads?: (expected: Expected) => readonly string[];
}

/** Creates an operator from a parser of its `value` and a test; the parser also checks the `value`. */
export function ruleOperator<Expected>(specification: Specification<Expected>): RuleOperator {
  const { parse, test, extraReads, ...described } = specification;
  return {
    ...described,
    checkValue(value) {
      const expected = parse(value);
      return expected instanceof Failure ? expected.message : undefined;
    },
    prepare: (value) => test(assertParsed(parse(value))),
    extraReads: (value) => extraReads?.(assertParsed(parse(value))) ?? [],
  };
}

function assertParsed<Expected>(expected: Expected | Failure): Expected {
  if (expected instanceof Failure) throw new DecisionError("definition_invalid", expected.message);
  return expected;
}

const maxShownLength = 60;

/** Describes a value of a definition in messages. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "a map";
  const text = JSON.stringify(value);
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength - 1)}…` : text;
}

/** Creates the failure for an invalid `value` of a condition. */
export function invalidValue(what: string, value: Json): Failure {
  return new Failure(`\`value\` must be ${what} (got ${describeValue(value)})`);
}

/** Returns the reason why a value cannot be tested. It contains only the type: the value may have to be masked. */
export function typeMismatch(operator: string, what: string, actual: Json): string {
  return `\`${operator}\` needs ${what}, got ${typeName(actual)}`;
}

export const numberLikeItsValue = "a number, as its `value` is one";
export const textLikeItsValue = "text, as its `value` is text";

/** The parser of a `value` that can be anything. */
export const parseAny = (value: Json): Json => value;

export function parseText(value: Json): string | Failure {
  return typeof value === "string" ? value : invalidValue("text", value);
}

export function parseList(value: Json): readonly Json[] | Failure {
  return isList(value) ? value : invalidValue("a list", value);
}

export function isNumber(value: Json | undefined): value is number {
  return Number.isFinite(value);
}

/** Returns the two values of a list, or of a map with these keys; an empty list for anything else. */
export function parsePair(value: Json, names: readonly [string, string]): readonly Json[] {
  if (!isObject(value)) return isList(value) && value.length === 2 ? value : [];
  if (Object.keys(value).length !== 2) return [];
  return names.map((name) => value[name] ?? null);
}
