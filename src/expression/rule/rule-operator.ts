import { DecisionError } from "../../errors.js";
import type { FieldCondition } from "../../model/definition.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";
import { isList, isObject } from "../equal.js";
import { Failure, typeName } from "../failure.js";

/** Whether a value passes; a text says why it cannot be asked, and then it does not. Never throws. */
export type RuleTest = (actual: Json, scope: Scope) => boolean | string;

/** One operator of rule conditions: checked, run and documented from this one place. */
export interface RuleOperator {
  readonly name: string;
  /** How it is written between two values. */
  readonly symbol?: string;
  readonly summary: string;
  /** What its `value` must be, in the words of the help. */
  readonly takes: string;
  readonly valueless?: true;
  /** The answer where there is no such field; false unless stated. */
  readonly holdsWhenMissing?: true;
  /** It is asked where there is no such field, too. */
  readonly asksAnyway?: true;
  readonly example: {
    readonly condition: FieldCondition;
    readonly context: JsonObject;
    readonly answer: boolean;
  };
  /** A condition as people read it, where its parts one behind the other are not that; undefined for a strange `value`. */
  readonly inWords?: (field: string, value: Json) => string | undefined;
  /** What is wrong with a `value` as written. */
  faultOf(value: Json): string | undefined;
  /** Makes the test of a `value` ready; throws `definition_invalid` where `faultOf` has something to say. */
  prepare(value: Json): RuleTest;
  /** What the test of a sound `value` reads beside the field, as paths. */
  readsBeside(value: Json): readonly string[];
}

interface Specification<Expected> extends Omit<RuleOperator, "faultOf" | "prepare" | "readsBeside"> {
  readonly parse: (value: Json) => Expected | Failure;
  readonly test: (expected: Expected) => RuleTest;
  readonly readsBeside?: (expected: Expected) => readonly string[];
}

/** An operator whose `value` is parsed once, by the same function that finds fault with it. */
export function ruleOperator<Expected>(specification: Specification<Expected>): RuleOperator {
  const { parse, test, readsBeside, ...described } = specification;
  return {
    ...described,
    faultOf(value) {
      const expected = parse(value);
      return expected instanceof Failure ? expected.message : undefined;
    },
    prepare: (value) => test(assertParsed(parse(value))),
    readsBeside: (value) => readsBeside?.(assertParsed(parse(value))) ?? [],
  };
}

function assertParsed<Expected>(expected: Expected | Failure): Expected {
  if (expected instanceof Failure) throw new DecisionError("definition_invalid", expected.message);
  return expected;
}

const maxShownLength = 60;

/** A value of a definition as messages show it. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "a map";
  const text = JSON.stringify(value);
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength - 1)}…` : text;
}

/** What is wrong with the `value` of a condition. */
export function invalidValue(what: string, value: Json): Failure {
  return new Failure(`\`value\` must be ${what} (got ${describeValue(value)})`);
}

/** Why a test has no real answer. It never shows the value, which may be one to be masked. */
export function typeMismatch(operator: string, what: string, actual: Json): string {
  return `\`${operator}\` needs ${what}, got ${typeName(actual)}`;
}

export const numberLikeItsValue = "a number, as its `value` is one";
export const textLikeItsValue = "text, as its `value` is text";

/** The parts of a `value` that more than one family of operators takes. */
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

/** Two values in a list, or in a map under these names; nothing where there are others or fewer. */
export function parsePair(value: Json, names: readonly [string, string]): readonly Json[] {
  if (!isObject(value)) return isList(value) && value.length === 2 ? value : [];
  if (Object.keys(value).length !== 2) return [];
  return names.map((name) => value[name] ?? null);
}
