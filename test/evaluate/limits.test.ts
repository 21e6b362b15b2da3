import { describe, expect, it } from "vitest";
import type { LimitFacts } from "../../src/evaluate/limits.js";
import { fromMillionths, prepareLimits, toMillionths } from "../../src/evaluate/limits.js";
import type { Limits } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";

interface Question {
  readonly limits: Limits;
  readonly context?: JsonObject;
  readonly facts?: LimitFacts;
  readonly masks?: readonly string[];
}

function evaluateLimits({ limits, context = {}, facts = {}, masks = [] }: Question): readonly object[] {
  const scope = { context, facts: facts as JsonObject, system: {}, input: context };
  return prepareLimits(limits, { owner: "p", masks }).map((limit) => limit.evaluate(scope));
}

describe("max_calls", () => {
  it.each([
    { per: "session", text: "in the session" },
    { per: "1h", text: "in this session, in the last 1h" },
    { per: "session", window: "1h", text: "in this session, in the last 1h" },
    { per: "caller", text: "by the caller" },
    { per: "caller", window: "1h", text: "by the caller in the last 1h" },
    { per: "org", text: "by the organisation" },
    { per: "org", window: "30m", text: "by the organisation in the last 30m" },
  ])("counts the calls $text for `per: $per`, window $window", ({ text, ...per }) => {
    const limits = { max_calls: { count: 3, ...per } };
    const common = { name: "max_calls", expression: `fewer than 3 calls ${text}` };
    const counted = { name: "max_calls", owner: "p" };
    expect(evaluateLimits({ limits, facts: { calls: { p: 2 } } })).toMatchObject([
      { ...common, result: true, counted: { ...counted, limited: true } },
    ]);
    expect(evaluateLimits({ limits, facts: { calls: { p: 3 } } })).toMatchObject([
      {
        ...common,
        result: false,
        denial: `3 of 3 calls were made ${text}`,
        counted: { ...counted, limited: false },
      },
    ]);
  });

  it("means the same by `per: 1h` and by `per: session` with `window: 1h`", () => {
    const [short, long] = [{ per: "1h" }, { per: "session", window: "1h" }].map((each) =>
      prepareLimits({ max_calls: { count: 3, ...each } }, { owner: "p", masks: [] }).map(
        ({ per, window, most }) => ({ per, window, most }),
      ),
    );
    expect(short).toEqual(long);
    expect(short).toEqual([{ per: "session", window: 3_600_000_000, most: 3 }]);
  });

  it.each([
    ["session", "there is no recorded session"],
    ["caller", "there is no recorded caller: only servers with authentication know callers"],
    ["org", "there is no recorded organisation: only servers with authentication know organisations"],
  ])("is exceeded where there is no %s to count for", (per, error) => {
    for (const facts of [{}, { calls: { other: 0 } }]) {
      const result = { result: false, error, denial: error, counted: { limited: false } };
      expect(evaluateLimits({ limits: { max_calls: { count: 3, per } }, facts })).toMatchObject([result]);
    }
  });
});

describe("max_sum", () => {
  const max_sum = { of: "params.amount", most: 1000, per: "caller", window: "1d" } as const;
  const spend = (amount: unknown, used: number, most = 1000): object =>
    evaluateLimits({
      limits: { max_sum: { ...max_sum, most } },
      context: { params: { amount } } as JsonObject,
      facts: { sums: { p: used } },
    })[0] ?? {};

  it("allows up to the sum", () => {
    expect(spend(300, 700)).toEqual({
      name: "max_sum",
      expression: "`params.amount` adds up to at most 1000 by the caller in the last 1d",
      result: true,
      denial: expect.any(String) as string,
      counted: { name: "max_sum", owner: "p", limited: true, amount: 300_000_000 },
    });
    expect(spend(0, 1000)).toMatchObject({ result: true });
  });

  it("denies anything beyond the sum, even a millionth", () => {
    expect(spend(300.5, 700)).toMatchObject({
      result: false,
      denial: "`params.amount` of 300.5 is too much: 700 of 1000 are used by the caller in the last 1d",
      counted: { limited: false, amount: 300_500_000 },
    });
    expect(spend(0.000001, 1000)).toMatchObject({ result: false });
    expect(spend(1e-12, 1000)).toMatchObject({ result: false });
    expect(spend(Number.MAX_VALUE, 0)).toMatchObject({ result: false });
  });

  it.each([["100"], [null], [-1], [-0.0000001], [true], [[1]], [{}]])("denies an amount of %j", (amount) => {
    const error = "`params.amount` must be a number of at least 0";
    expect(spend(amount, 0)).toMatchObject({ result: false, error, denial: error });
    expect(spend(amount, 0)).not.toHaveProperty("counted.amount");
  });

  it("denies a missing amount and one that overflows", () => {
    const facts = { sums: { p: 0 } };
    expect(evaluateLimits({ limits: { max_sum }, facts })).toMatchObject([
      { result: false, error: "`params.amount` is missing" },
    ]);
    const limits = { max_sum: { ...max_sum, of: "params.amount * 1e308" } };
    expect(evaluateLimits({ limits, context: { params: { amount: 100 } }, facts })).toMatchObject([
      { result: false, error: expect.any(String) as string },
    ]);
  });

  it("denies where nothing can be counted", () => {
    const context = { params: { amount: 1 } };
    expect(evaluateLimits({ limits: { max_sum }, context })).toMatchObject([
      {
        result: false,
        error: expect.stringContaining("there is no recorded caller") as string,
        counted: { limited: false },
      },
    ]);
  });

  it("denies a masked amount, because amounts are recorded", () => {
    const context = { params: { amount: 1 } };
    const facts = { sums: { p: 0 } };
    for (const mask of ["/params/amount", "/params", ""]) {
      expect(evaluateLimits({ limits: { max_sum }, context, facts, masks: [mask] })).toMatchObject([
        { result: false, error: "`params.amount` is masked and cannot be counted" },
      ]);
    }
    expect(evaluateLimits({ limits: { max_sum }, context, facts, masks: ["/params/token"] })).toMatchObject([
      { result: true },
    ]);
  });
});

describe("amounts", () => {
  it.each([
    [0, 0],
    [-0, 0],
    [0.1, 100_000],
    [0.1 + 0.2, 300_000],
    [1.1 * 3, 3_300_000],
    [1.005, 1_005_000],
    [0.0000001, 1],
    [5e-324, 1],
    [999_999_999.999999, 999_999_999_999_999],
    [1_000_000_000, 1_000_000_000_000_000],
  ])("of %d are %d millionths", (value, millionths) => {
    expect(toMillionths(value)).toBe(millionths);
  });

  it("keep their value as a fact", () => {
    for (const each of [1, 300_000, 33_333_333, 999_999_999_999_999, 123_456_789_012_345])
      expect(toMillionths(fromMillionths(each))).toBe(each);
  });
});
