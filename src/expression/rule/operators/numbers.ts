import type { Json } from "../../../model/json.js";
import type { Failure } from "../../failure.js";
import type { RuleOperator, RuleTest } from "../operator-entry.js";
import { ruleOperator } from "../operator-entry.js";
import { isNumber, pairOf } from "../parse-value.js";
import { aNumberLikeValue, aTextLikeValue, mustBe, needs } from "../wording.js";

const aRange = "[min, max] or {min, max}, two numbers or two texts, the smaller one first";
const aDivision = "[divisor, remainder] or {divisor, remainder}, two numbers, the divisor not 0";

export const numberOperators: readonly RuleOperator[] = [
  ruleOperator({
    name: "between",
    summary: "min ≤ value ≤ max, for numbers or for texts",
    takes: aRange,
    example: {
      condition: { field: "age", op: "between", value: [18, 65] },
      context: { age: 65 },
      answer: true,
    },
    parse: range,
    test: within,
  }),
  ruleOperator({
    name: "modulo",
    summary: "the number divided leaves this remainder, which has the sign of the divisor",
    takes: aDivision,
    example: {
      condition: { field: "order.number", op: "modulo", value: [10, 3] },
      context: { order: { number: 123 } },
      answer: true,
    },
    parse: division,
    test: leaving,
  }),
];

type Range = readonly [number, number] | readonly [string, string];

function range(value: Json): Range | Failure {
  const [min, max] = pairOf(value, ["min", "max"]);
  if (isNumber(min) && isNumber(max) && min <= max) return [min, max];
  if (typeof min === "string" && typeof max === "string" && min <= max) return [min, max];
  return mustBe(aRange, value);
}

function within([min, max]: Range): RuleTest {
  const wanted = typeof min === "number" ? aNumberLikeValue : aTextLikeValue;
  return (actual) => {
    if (typeof actual !== typeof min) return needs("between", wanted, actual);
    return (actual as number) >= (min as number) && (actual as number) <= (max as number);
  };
}

interface Division {
  readonly divisor: number;
  readonly remainder: number;
}

function division(value: Json): Division | Failure {
  const [divisor, remainder] = pairOf(value, ["divisor", "remainder"]);
  if (!isNumber(divisor) || !isNumber(remainder) || divisor === 0) return mustBe(aDivision, value);
  return { divisor, remainder };
}

function leaving({ divisor, remainder }: Division): RuleTest {
  return (actual) => {
    if (typeof actual !== "number") return needs("modulo", "a number", actual);
    const rest = actual % divisor;
    return (rest !== 0 && rest < 0 !== divisor < 0 ? rest + divisor : rest) === remainder;
  };
}
