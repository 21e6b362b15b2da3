import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answer, whyErrored } from "../answers.js";

describe("mathematical functions", () => {
  it.each([
    ["sqrt(2)", Math.SQRT2],
    ["cbrt(27)", 3],
    ["power(2, 0.5) == 2 ^ 0.5", true],
    ["exp(1)", 2.71828182846],
    ["log(exp(2))", 2],
    ["log10(1000)", 3],
    ["log10(0.001)", -3],
    ["log2(1024)", 10],
    ["sin(1.5707963267948966)", 1],
    ["cos(3.141592653589793)", -1],
    ["tan(0.7853981633974483)", 1],
    ["asin(1)", 1.57079632679],
    ["acos(-1)", 3.14159265359],
    ["atan(1)", 0.785398163397],
    ["atan2(-1, -1)", -2.35619449019],
    ["sinh(1)", 1.17520119364],
    ["cosh(1)", 1.54308063482],
    ["tanh(1)", 0.761594155956],
    ["truncate(3.9)", 3],
    ["truncate(-3.9)", -3],
    ["factorial(0)", 1],
    ["factorial(20)", 2_432_902_008_176_640_000],
    ["gcd(17, 13)", 1],
    ["gcd(-18, 12)", 6],
    ["gcd(5, 0)", 5],
    ["lcm(4, 6)", 12],
    ["lcm(-4, 6)", 12],
    ["lcm(4, 0)", 0],
  ])("%s is %j", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });

  it.each([
    ["sqrt(-1)", "`sqrt` needs a number that is not negative"],
    ["log(0)", "`log` needs a number above 0"],
    ["log10(-1)", "`log10` needs a number above 0"],
    ["log2(0)", "`log2` needs a number above 0"],
    ["asin(1.1)", "`asin` needs a number from -1 to 1"],
    ["acos(-1.1)", "`acos` needs a number from -1 to 1"],
    ["exp(1000)", "the result of `exp` is not a finite number"],
    ["cosh(1000)", "the result of `cosh` is not a finite number"],
    ["factorial(171)", "`factorial` needs a whole number from 0 to 170"],
    ["factorial(1.5)", "`factorial` needs a whole number from 0 to 170"],
    ["factorial(-1)", "`factorial` needs a whole number from 0 to 170"],
    ["gcd(1.5, 2)", "`gcd` needs whole numbers"],
    ["lcm(1e20, 3)", "`lcm` needs whole numbers"],
    ["lcm(9007199254740991, 2)", "the result of `lcm` is too large"],
    ["sqrt('4')", '`sqrt` needs a number, got "4"'],
  ])("%s is errored", (expression, reason) => {
    expect(whyErrored(expression)).toBe(reason);
  });

  it("keeps 12 significant digits where engines differ in the last ones", () => {
    fc.assert(
      fc.property(fc.double({ min: -700, max: 700, noNaN: true }), (x) => {
        for (const name of ["sin", "cos", "tan", "exp", "atan", "tanh", "cbrt"]) {
          const value = answer(`${name}(x)`, { x }) as number;
          expect(value).toBe(Number(value.toPrecision(12)));
        }
      }),
    );
  });
});

describe("financial functions", () => {
  it.each([
    ["round(compound_interest(1000, 0.05, 12), 2)", 1051.16],
    ["round(present_value(1000, 0.05, 10), 2)", 613.91],
    ["round(future_value(1000, 0.05, 10), 2)", 1628.89],
    ["round(payment(1000, 0.05, 12), 2)", 112.83],
    ["payment(1200, 0, 12)", 100],
    ["payment(1000, 0.5, 10000)", 500],
  ])("%s is %j", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });

  it.each([
    "compound_interest(1000, 0.05, 0)",
    "compound_interest(1000, -3, 2)",
    "present_value(1000, -1, 10)",
    "future_value(1000, 0.05, -1)",
    "future_value(1000, 9, 1000)",
    "payment(1000, -0.1, 12)",
  ])("%s is errored", (expression) => {
    expect(whyErrored(expression)).toMatch(/needs|not a finite number/);
  });
});
