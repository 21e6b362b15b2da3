import type { Json } from "../../model/json.js";
import { fail } from "../failure.js";
import type { FunctionEntry } from "../function-table.js";

const list = { name: "list", type: "list" } as const;

export const statisticalFunctions = (): readonly FunctionEntry[] => [
  statistic("sum", "the sum of the numbers in the list; 0 if it is empty", ["sum([1.5, 4, 2.5])", 8], {
    least: 0,
    compute: sumOf,
  }),
  statistic("average", "the mean of the numbers in the list", ["average([1, 2, 6])", 3], { compute: meanOf }),
  statistic(
    "median",
    "the middle of the sorted numbers, or the mean of the two in the middle",
    ["median([1, 9, 2])", 2],
    { compute: (values) => percentileOf(values, 50) },
  ),
  statistic(
    "variance",
    "the mean of the squared distances from the mean (of a population), of at least two numbers",
    ["variance([2, 4, 4, 6])", 2],
    { least: 2, compute: varianceOf },
  ),
  statistic(
    "stddev",
    "the standard deviation: the square root of the variance",
    ["stddev([1, 1, 5, 5])", 2],
    { least: 2, compute: (values) => Math.sqrt(varianceOf(values)) },
  ),
  {
    name: "percentile",
    summary: "the number that this percentage (0–100) of the numbers do not exceed, interpolated",
    parameters: [list, { name: "percentage", type: "number" }],
    returns: "number",
    example: { expression: "percentile([10, 20, 30], 75)", answer: 25 },
    run: (values: readonly Json[], percentage: number) => {
      if (percentage < 0 || percentage > 100) fail("`percentile` needs a percentage from 0 to 100");
      return percentileOf(numbersOf("percentile", values), percentage);
    },
  },
  moving("moving_average", "the mean", 7, meanOf),
  moving("moving_sum", "the sum", 14, sumOf),
  moving("moving_min", "the smallest", 5, (values) => values.reduce((a, b) => Math.min(a, b))),
  moving("moving_max", "the largest", 9, (values) => values.reduce((a, b) => Math.max(a, b))),
];

type Compute = (values: readonly number[]) => number;

function statistic(
  name: string,
  summary: string,
  [expression, answer]: readonly [string, number],
  { least = 1, compute }: { readonly least?: number; readonly compute: Compute },
): FunctionEntry {
  return {
    name,
    summary,
    parameters: [list],
    returns: "number",
    example: { expression, answer },
    run: (values: readonly Json[]) => requireFinite(name, compute(numbersOf(name, values, least))),
  };
}

function moving(name: string, what: string, answer: number, compute: Compute): FunctionEntry {
  return {
    name,
    summary: `${what} of the last \`window\` numbers in the list, or of all if there are fewer`,
    parameters: [list, { name: "window", type: "number" }],
    returns: "number",
    example: { expression: `${name}([1, 5, 9], 2)`, answer },
    run: (values: readonly Json[], window: number) => {
      if (!Number.isSafeInteger(window) || window < 1) fail(`\`${name}\` needs a window of at least 1`);
      return requireFinite(name, compute(numbersOf(name, values.slice(-window))));
    },
  };
}

const requireFinite = (name: string, result: number): number =>
  Number.isFinite(result) ? result : fail(`the result of \`${name}\` is not a finite number (too large)`);

function numbersOf(name: string, values: readonly Json[], least = 1): readonly number[] {
  const numbers = values.filter((each) => typeof each === "number");
  if (numbers.length < values.length) fail(`\`${name}\` needs numbers only`);
  if (numbers.length < least)
    fail(`\`${name}\` needs at least ${least === 1 ? "one number" : "two numbers"}`);
  return numbers;
}

/** Adds sorted numbers with Neumaier's compensation, so the sum does not depend on the order of the list. */
export function sumOf(values: readonly number[]): number {
  let sum = 0;
  let lost = 0;
  for (const value of Float64Array.from(values).sort()) {
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}

function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}

function varianceOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return meanOf(values.map((value) => (value - mean) ** 2));
}

/** Interpolates between the two nearest of the sorted numbers. */
function percentileOf(values: readonly number[], percentage: number): number {
  const sorted = Float64Array.from(values).sort();
  const at = (percentage / 100) * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
