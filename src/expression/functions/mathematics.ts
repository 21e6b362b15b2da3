import { fail } from "../failure.js";
import type { FunctionEntry, Parameter } from "../function-table.js";
import { operators } from "../operators.js";

const value = { name: "value", type: "number" } as const;

/** The numbers that a formula is defined for. */
interface Domain {
  readonly text: string;
  readonly includes: (...values: number[]) => boolean;
}

const withinOne: Domain = { text: "a number from -1 to 1", includes: (number = 2) => Math.abs(number) <= 1 };
const positive: Domain = { text: "a number above 0", includes: (number = 0) => number > 0 };
const notNegative: Domain = {
  text: "a number that is not negative",
  includes: (number = -1) => number >= 0,
};
/** A larger factorial is not a finite number. */
const factorialDomain: Domain = {
  text: "a whole number from 0 to 170",
  includes: (number = -1) => Number.isInteger(number) && number >= 0 && number <= 170,
};
const wholeNumbers: Domain = {
  text: "whole numbers",
  includes: (...values) => values.every(Number.isSafeInteger),
};

export const mathematicalFunctions = (): readonly FunctionEntry[] => [
  formula("sqrt", "the square root", Math.sqrt, {
    example: ["sqrt(9)", 3],
    domain: notNegative,
    isExact: true,
  }),
  formula("cbrt", "the cube root", Math.cbrt, { example: ["cbrt(0 - 8)", -2] }),
  formula("power", "the base raised to the exponent; `^` is the same", (a, b) => operators["^"](a, b), {
    parameters: [
      { name: "base", type: "number" },
      { name: "exponent", type: "number" },
    ],
    example: ["power(2, 10)", 1024],
    isExact: true,
  }),
  formula("exp", "e raised to the number", Math.exp, { example: ["exp(0)", 1] }),
  formula("log", "the natural logarithm", Math.log, { example: ["log(1)", 0], domain: positive }),
  formula("log10", "the logarithm to base 10", Math.log10, {
    example: ["log10(1000)", 3],
    domain: positive,
  }),
  formula("log2", "the logarithm to base 2", Math.log2, { example: ["log2(8)", 3], domain: positive }),
  formula("sin", "the sine of an angle in radians", Math.sin, { example: ["sin(0)", 0] }),
  formula("cos", "the cosine of an angle in radians", Math.cos, { example: ["cos(0)", 1] }),
  formula("tan", "the tangent of an angle in radians", Math.tan, { example: ["tan(0)", 0] }),
  formula("asin", "the angle in radians with this sine", Math.asin, {
    example: ["asin(0)", 0],
    domain: withinOne,
  }),
  formula("acos", "the angle in radians with this cosine", Math.acos, {
    example: ["acos(1)", 0],
    domain: withinOne,
  }),
  formula("atan", "the angle in radians with this tangent", Math.atan, { example: ["atan(0)", 0] }),
  formula("atan2", "the angle in radians of the point (x, y), from -π to π", Math.atan2, {
    parameters: [
      { name: "y", type: "number" },
      { name: "x", type: "number" },
    ],
    example: ["atan2(0, 1)", 0],
  }),
  formula("sinh", "the hyperbolic sine", Math.sinh, { example: ["sinh(0)", 0] }),
  formula("cosh", "the hyperbolic cosine", Math.cosh, { example: ["cosh(0)", 1] }),
  formula("tanh", "the hyperbolic tangent", Math.tanh, { example: ["tanh(0)", 0] }),
  formula("truncate", "the number without its decimals", Math.trunc, {
    example: ["truncate(0 - 3.9)", -3],
    isExact: true,
  }),
  formula("factorial", "the product of all whole numbers from 1 to this one", factorial, {
    example: ["factorial(5)", 120],
    domain: factorialDomain,
    isExact: true,
  }),
  formula("gcd", "the greatest common divisor of two whole numbers", greatestCommonDivisor, {
    parameters: [
      { name: "a", type: "number" },
      { name: "b", type: "number" },
    ],
    example: ["gcd(18, 12)", 6],
    domain: wholeNumbers,
    isExact: true,
  }),
  formula("lcm", "the least common multiple of two whole numbers", leastCommonMultiple, {
    parameters: [
      { name: "a", type: "number" },
      { name: "b", type: "number" },
    ],
    example: ["lcm(4, 6)", 12],
    domain: wholeNumbers,
    isExact: true,
  }),
];

const rate = { name: "rate", type: "number" } as const;
const periods = { name: "periods", type: "number" } as const;

/** A rate is a share per period, such as 0.05. */
const somePeriods: Domain = {
  text: "a rate above -1 and more than 0 periods",
  includes: (_amount, perPeriod = -1, count = 0) => perPeriod > -1 && count > 0,
};

export const financialFunctions = (): readonly FunctionEntry[] => [
  formula(
    "compound_interest",
    "the amount after one year at a yearly rate that is credited in this many periods",
    (principal = 0, yearly = 0, count = 1) => principal * (1 + yearly / count) ** count,
    {
      parameters: [{ name: "principal", type: "number" }, rate, periods],
      example: ["compound_interest(1000, 0.12, 2)", 1123.6],
      domain: {
        text: "a rate above minus the number of periods, and more than 0 periods",
        includes: (_amount, yearly = 0, count = 0) => count > 0 && yearly > -count,
      },
    },
  ),
  formula(
    "present_value",
    "the value today of an amount after this many periods, at a rate per period",
    (future = 0, perPeriod = 0, count = 1) => future / (1 + perPeriod) ** count,
    {
      parameters: [{ name: "future", type: "number" }, rate, periods],
      example: ["present_value(121, 0.1, 2)", 100],
      domain: somePeriods,
    },
  ),
  formula(
    "future_value",
    "the value of an amount after this many periods, at a rate per period",
    (present = 0, perPeriod = 0, count = 1) => present * (1 + perPeriod) ** count,
    {
      parameters: [{ name: "present", type: "number" }, rate, periods],
      example: ["future_value(100, 0.1, 2)", 121],
      domain: somePeriods,
    },
  ),
  formula("payment", "the payment per period that repays a loan in this many periods", payment, {
    parameters: [{ name: "principal", type: "number" }, rate, periods],
    example: ["round(payment(1000, 0.01, 12), 2)", 88.85],
    domain: {
      text: "a rate that is not negative and more than 0 periods",
      includes: (_amount, perPeriod = -1, count = 0) => perPeriod >= 0 && count > 0,
    },
  }),
];

interface FormulaOptions {
  /** One number if absent. */
  readonly parameters?: readonly Parameter[];
  readonly example: readonly [expression: string, answer: number];
  readonly domain?: Domain;
  /** Its results are the same on every machine, and are not rounded. */
  readonly isExact?: true;
}

function formula(
  name: string,
  summary: string,
  compute: (...values: [number, number, number]) => number,
  { parameters = [value], example: [expression, answer], domain, isExact }: FormulaOptions,
): FunctionEntry {
  return {
    name,
    summary,
    parameters,
    returns: "number",
    example: { expression, answer },
    ...(!isExact && { round: toStableDigits }),
    run: (...values: [number, number, number]) => {
      if (domain?.includes(...values) === false) fail(`\`${name}\` needs ${domain.text}`);
      const result = compute(...values);
      if (!Number.isFinite(result)) fail(`the result of \`${name}\` is not a finite number`);
      return isExact ? result : toStableDigits(result);
    },
  };
}

/**
 * Rounds to 12 significant digits. The last digits of these functions differ between versions of JavaScript
 * engines, and a decision must not depend on them; `log10(1000)` is also exactly 3.
 */
function toStableDigits(number: number): number {
  return Number(number.toPrecision(12));
}

function factorial(number: number): number {
  let product = 1;
  for (let factor = 2; factor <= number; factor++) product *= factor;
  return product;
}

function greatestCommonDivisor(a: number, b: number): number {
  let [divisor, rest] = [Math.abs(a), Math.abs(b)];
  while (rest !== 0) [divisor, rest] = [rest, divisor % rest];
  return divisor;
}

function leastCommonMultiple(a: number, b: number): number {
  if (a === 0 || b === 0) return 0;
  const multiple = Math.abs(a / greatestCommonDivisor(a, b)) * Math.abs(b);
  return Number.isSafeInteger(multiple) ? multiple : fail("the result of `lcm` is too large");
}

function payment(principal: number, perPeriod: number, count: number): number {
  if (perPeriod === 0) return principal / count;
  const growth = (1 + perPeriod) ** count;
  // A growth too large for a number makes the loan last for ever: only its interest is paid.
  return Number.isFinite(growth) ? (principal * perPeriod * growth) / (growth - 1) : principal * perPeriod;
}
