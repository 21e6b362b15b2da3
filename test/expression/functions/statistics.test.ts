import { describe, expect, it } from "vitest";
import { answer, whyErrored } from "../answers.js";

describe("statistical functions", () => {
  it.each([
    ["sum([])", 0],
    ["sum([0.1, 0.2, 0.3]) == sum([0.3, 0.2, 0.1])", true],
    ["sum([1e100, 1, -1e100])", 1],
    ["average([1, 2])", 1.5],
    ["median([3])", 3],
    ["median([4, 1, 3, 2])", 2.5],
    ["variance([1, 3])", 1],
    ["stddev([2, 4, 4, 4, 5, 5, 7, 9])", 2],
    ["percentile([10, 20, 30, 40], 0)", 10],
    ["percentile([40, 10, 30, 20], 100)", 40],
    ["percentile([10, 20, 30, 40], 95)", 38.5],
    ["moving_average([100, 1, 3], 2)", 2],
    ["moving_average([1, 3], 5)", 2],
    ["moving_sum([100, 1, 3], 2)", 4],
    ["moving_min([0, 1, 3], 2)", 1],
    ["moving_max([9, 1, 3], 2)", 3],
  ])("%s is %j", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });

  it.each([
    ["average([])", "`average` needs at least one number"],
    ["median([])", "`median` needs at least one number"],
    ["stddev([1])", "`stddev` needs at least two numbers"],
    ["variance([1, '2'])", "`variance` needs numbers only"],
    ["sum([null])", "`sum` needs numbers only"],
    ["sum([1e308, 1e308])", "the result of `sum` is not a finite number (too large)"],
    ["percentile([1], 101)", "`percentile` needs a percentage from 0 to 100"],
    ["percentile([1], -1)", "`percentile` needs a percentage from 0 to 100"],
    ["percentile([], 50)", "`percentile` needs at least one number"],
    ["moving_sum([1], 0)", "`moving_sum` needs a window of at least 1"],
    ["moving_sum([1], 1.5)", "`moving_sum` needs a window of at least 1"],
    ["moving_max([], 1)", "`moving_max` needs at least one number"],
  ])("%s is errored", (expression, reason) => {
    expect(whyErrored(expression)).toBe(reason);
  });
});
