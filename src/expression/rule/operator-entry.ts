import { DecisionError } from "../../errors.js";
import type { FieldCondition } from "../../model/definition.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";
import { Failure } from "../failure.js";

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
    prepare: (value) => test(sound(parse(value))),
    readsBeside: (value) => readsBeside?.(sound(parse(value))) ?? [],
  };
}

function sound<Expected>(expected: Expected | Failure): Expected {
  if (expected instanceof Failure) throw new DecisionError("definition_invalid", expected.message);
  return expected;
}
