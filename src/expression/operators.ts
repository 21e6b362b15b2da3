import type { Json } from "../model/json.js";
import { equal, isList } from "./equal.js";
import { fail, typeName } from "./failure.js";

/** The infix operators. An operand of the wrong type fails the expression. */
export const operators = {
  "+": add,
  "-": (a: Json, b?: Json) =>
    b === undefined
      ? 0 - requireNumber("-", a)
      : requireFinite("-", requireNumber("-", a) - requireNumber("-", b)),
  "*": (a: Json, b: Json) => requireFinite("*", requireNumber("*", a) * requireNumber("*", b)),
  "/": (a: Json, b: Json) => requireFinite("/", requireNumber("/", a) / requireNumber("/", b)),
  "^": (a: Json, b: Json) => requireFinite("^", requireNumber("^", a) ** requireNumber("^", b)),
  mod: modulo,
  "==": equal,
  "!=": (a: Json, b: Json) => !equal(a, b),
  "<": (a: Json, b: Json) => (requireOrdered("<", a, b), a as number) < (b as number),
  "<=": (a: Json, b: Json) => (requireOrdered("<=", a, b), a as number) <= (b as number),
  ">": (a: Json, b: Json) => (requireOrdered(">", a, b), a as number) > (b as number),
  ">=": (a: Json, b: Json) => (requireOrdered(">=", a, b), a as number) >= (b as number),
};

/** The operator `in`. */
export function isMember(item: Json, list: Json): boolean {
  if (!isList(list)) fail(`\`in\` needs a list, got ${typeName(list)}`);
  return list.some((candidate) => equal(candidate, item));
}

/** The check of `and`, `or`, `not` and `if`: only true and false count, so an error never counts as true. */
export function requireBoolean(value: Json): boolean {
  if (typeof value !== "boolean") fail(`expected true or false, got ${typeName(value)}`);
  return value;
}

function requireOrdered(operator: string, a: Json, b: Json): void {
  if (typeof a === "number" && typeof b === "number") return;
  if (typeof a === "string" && typeof b === "string") return;
  fail(`\`${operator}\` needs two numbers or two texts, got ${typeName(a)} and ${typeName(b)}`);
}

function requireNumber(operator: string, value: Json): number {
  if (typeof value !== "number") fail(`\`${operator}\` needs numbers, got ${typeName(value)}`);
  return value;
}

export const maxTextLength = 4_000_000;

function add(a: Json, b: Json): Json {
  if (typeof a === "string" && typeof b === "string") {
    if (a.length + b.length > maxTextLength)
      fail(`the result of \`+\` is longer than ${maxTextLength} characters`);
    return a + b;
  }
  if (typeof a !== "number" || typeof b !== "number") {
    fail(`\`+\` needs two numbers or two texts, got ${typeName(a)} and ${typeName(b)}`);
  }
  return requireFinite("+", a + b);
}

/** The result has the sign of the divisor, so `n mod 7` is a weekday for a negative n, too. */
function modulo(a: Json, b: Json): number {
  const divisor = requireNumber("%", b);
  const rest = requireFinite("%", requireNumber("%", a) % divisor);
  return rest !== 0 && rest < 0 !== divisor < 0 ? rest + divisor : rest;
}

function requireFinite(operator: string, value: number): number {
  if (!Number.isFinite(value))
    fail(`the result of \`${operator}\` is not a finite number (division by zero, or too large)`);
  return value;
}
