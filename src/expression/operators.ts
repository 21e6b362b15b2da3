import type { Json } from "../model/json.js";
import { equal, isList } from "./equal.js";
import { fail, typeName } from "./failure.js";

/** The infix operators as filtrex calls them, with our answers for wrong types. */
export const operators = {
  "+": add,
  "-": (a: Json, b?: Json) =>
    b === undefined ? 0 - number("-", a) : finite("-", number("-", a) - number("-", b)),
  "*": (a: Json, b: Json) => finite("*", number("*", a) * number("*", b)),
  "/": (a: Json, b: Json) => finite("/", number("/", a) / number("/", b)),
  "^": (a: Json, b: Json) => finite("^", number("^", a) ** number("^", b)),
  mod: modulo,
  "==": equal,
  "!=": (a: Json, b: Json) => !equal(a, b),
  "<": (a: Json, b: Json) => (ordered("<", a, b), a as number) < (b as number),
  "<=": (a: Json, b: Json) => (ordered("<=", a, b), a as number) <= (b as number),
  ">": (a: Json, b: Json) => (ordered(">", a, b), a as number) > (b as number),
  ">=": (a: Json, b: Json) => (ordered(">=", a, b), a as number) >= (b as number),
};

export function memberOf(item: Json, list: Json): boolean {
  if (!isList(list)) fail(`\`in\` needs a list, got ${typeName(list)}`);
  return list.some((candidate) => equal(candidate, item));
}

/** For `and`, `or`, `not` and `if`: nothing but true and false counts, or an error could pass for a yes. */
export function boolean(value: Json): boolean {
  if (typeof value !== "boolean") fail(`expected true or false, got ${typeName(value)}`);
  return value;
}

function ordered(operator: string, a: Json, b: Json): void {
  if (typeof a === "number" && typeof b === "number") return;
  if (typeof a === "string" && typeof b === "string") return;
  fail(`\`${operator}\` needs two numbers or two texts, got ${typeName(a)} and ${typeName(b)}`);
}

function number(operator: string, value: Json): number {
  if (typeof value !== "number") fail(`\`${operator}\` needs numbers, got ${typeName(value)}`);
  return value;
}

const longestText = 4_000_000;

function add(a: Json, b: Json): Json {
  if (typeof a === "string" && typeof b === "string") {
    if (a.length + b.length > longestText) fail(`\`+\` makes no text of more than ${longestText} characters`);
    return a + b;
  }
  if (typeof a !== "number" || typeof b !== "number") {
    fail(`\`+\` needs two numbers or two texts, got ${typeName(a)} and ${typeName(b)}`);
  }
  return finite("+", a + b);
}

/** The sign of the answer is that of the divisor, so `n mod 7` is a weekday also for negative n. */
function modulo(a: Json, b: Json): number {
  const divisor = number("%", b);
  const rest = finite("%", number("%", a) % divisor);
  return rest !== 0 && rest < 0 !== divisor < 0 ? rest + divisor : rest;
}

function finite(operator: string, value: number): number {
  if (!Number.isFinite(value)) fail(`\`${operator}\` gave no number (division by zero, or too large)`);
  return value;
}
