import type { Json } from "../model/json.js";
import type { BadOperandResults } from "./function-table.js";
import { allErrored } from "./function-table.js";

/** An operator of the language, for the help and for the tests of its documented results. */
export interface OperatorEntry {
  readonly spelling: string;
  readonly summary: string;
  readonly example: { readonly expression: string; readonly answer: Json };
  /** An expression with `x` for the operand that is missing, null or `wrongOperand`. */
  readonly probe: string;
  /** An operand of the wrong type; absent if every type is accepted. */
  readonly wrongOperand?: string;
  readonly badOperandResults: BadOperandResults;
}

const anyType = { missing: "errored", mistyped: "any" } as const;

/** From the lowest precedence to the highest. */
export const operatorTable: readonly OperatorEntry[] = [
  {
    spelling: "if a then b else c",
    summary: "b if a is true, else c; only the chosen one is evaluated",
    example: { expression: "if order.total > 100 then 'large' else 'small'", answer: "large" },
    probe: "if x then 1 else 2",
    wrongOperand: "'yes'",
    badOperandResults: allErrored,
  },
  {
    spelling: "a or b    a || b",
    summary: "left to right; stops at the first true",
    example: { expression: "order.total > 100 or order.missing", answer: true },
    probe: "x or true",
    wrongOperand: "'yes'",
    badOperandResults: allErrored,
  },
  {
    spelling: "a and b   a && b",
    summary: "left to right; stops at the first false",
    example: { expression: "order.total > 500 and order.missing", answer: false },
    probe: "x and true",
    wrongOperand: "1",
    badOperandResults: allErrored,
  },
  {
    spelling: "not a     !a",
    summary: "`not` applies to a whole comparison, `!` only to the next operand",
    example: { expression: "not order.total == 5", answer: true },
    probe: "not x",
    wrongOperand: "0",
    badOperandResults: allErrored,
  },
  {
    spelling: "a == b    a != b",
    summary: "equal in type and content; different types are different; lists and objects by content",
    example: { expression: "customer.country == 'DE'", answer: true },
    probe: "x == 'a'",
    badOperandResults: { ...anyType, null: "false" },
  },
  {
    spelling: "<  <=  >  >=",
    summary: "two numbers or two texts; `1 < a <= 5` is a chain",
    example: { expression: "100 < order.total <= 200", answer: true },
    probe: "x < 5",
    wrongOperand: "'5'",
    badOperandResults: allErrored,
  },
  {
    spelling: "a in (…)  a not in (…)",
    summary: "equal to one of the items; also `in ['a', 'b']` and `in some.list`",
    example: { expression: "customer.country in ('DE', 'FR')", answer: true },
    probe: "x in ('a', 'b')",
    badOperandResults: { ...anyType, null: "false" },
  },
  {
    spelling: "a ~= b",
    summary: "the pattern b (RE2 syntax) is found anywhere in the text a",
    example: { expression: "customer.email ~= '@.*\\.example$'", answer: true },
    probe: "x ~= 'a'",
    wrongOperand: "5",
    badOperandResults: allErrored,
  },
  {
    spelling: "a + b",
    summary: "the sum of two numbers, or two texts concatenated",
    example: { expression: "customer.name + '!'", answer: "Ada!" },
    probe: "x + 1",
    wrongOperand: "'1'",
    badOperandResults: allErrored,
  },
  {
    spelling: "-  *  /  %  ^",
    summary: "numbers; `%` (also `mod`) has the sign of the divisor; a result that is not finite is errored",
    example: { expression: "order.total % 7", answer: 1 },
    probe: "x * 2",
    wrongOperand: "'2'",
    badOperandResults: allErrored,
  },
];
