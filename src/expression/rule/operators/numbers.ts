import type { Json } from "../../../model/json.js";
import type { Failure } from "../../failure.js";
import type { RuleOperator, RuleTest } from "../rule-operator.js";
import {
  ruleOperator,
  isNumber,
  parsePair,
  numberLikeItsValue,
  textLikeItsValue,
  invalidValue,
  typeMismatch,
} from "../rule-operator.js";

const rangeDescription = "[min, max] or {min, max}, two numbers or two texts, the smaller one first";
const divisionDescription = "[divisor, remainder] or {divisor, remainder}, two numbers, the divisor not 0";

export const numberOperators = (): readonly RuleOperator[] => [
  ruleOperator({
    name: "between",
    summary: "min ≤ value ≤ max, for numbers or for texts",
    takes: rangeDescription,
    example: {
      condition: { field: "age", op: "between", value: [18, 65] },
      context: { age: 65 },
      answer: true,
    },
    parse: parseRange,
    test: inRange,
  }),
  ruleOperator({
    name: "modulo",
    summary: "the number divided by the divisor leaves this remainder, which has the sign of the divisor",
    takes: divisionDescription,
    example: {
      condition: { field: "order.number", op: "modulo", value: [10, 3] },
      context: { order: { number: 123 } },
      answer: true,
    },
    parse: parseDivision,
    test: leavesRemainder,
  }),
];

type Range = readonly [number, number] | readonly [string, string];

function parseRange(value: Json): Range | Failure {
  const [min, max] = parsePair(value, ["min", "max"]);
  if (isNumber(min) && isNumber(max) && min <= max) return [min, max];
  if (typeof min === "string" && typeof max === "string" && min <= max) return [min, max];
  return invalidValue(rangeDescription, value);
}

function inRange([min, max]: Range): RuleTest {
  const expectedType = typeof min === "number" ? numberLikeItsValue : textLikeItsValue;
  return (actual) => {
    if (typeof actual !== typeof min) return typeMismatch("between", expectedType, actual);
    return (actual as number) >= (min as number) && (actual as number) <= (max as number);
  };
}

interface Division {
  readonly divisor: number;
  readonly remainder: number;
}

function parseDivision(value: Json): Division | Failure {
  const [divisor, remainder] = parsePair(value, ["divisor", "remainder"]);
  if (!isNumber(divisor) || !isNumber(remainder) || divisor === 0)
    return invalidValue(divisionDescription, value);
  return { divisor, remainder };
}

function leavesRemainder({ divisor, remainder }: Division): RuleTest {
  return (actual) => {
    if (typeof actual !== "number") return typeMismatch("modulo", "a number", actual);
    const rest = actual % divisor;
    return (rest !== 0 && rest < 0 !== divisor < 0 ? rest + divisor : rest) === remainder;
  };
}
