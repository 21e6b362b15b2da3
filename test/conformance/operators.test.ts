import { describe, expect, it } from "vitest";
import { decide } from "../../src/decide/decide.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import { ruleOperators } from "../../src/expression/rule/rule-operators.js";
import type { Json } from "../../src/model/json.js";
import { noon, worldWith } from "../properties/worlds.js";

/** An operator with a `value`: a field for which it matches, and one for which it does not. */
type Row = readonly [op: string, value: Json | undefined, matches: Json, differs: Json];

interface Group {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** `y` of every context. The time of the request is the noon after it. */
const midnight = "2026-03-02T00:00:00Z";

const square = [
  { lat: 40, lon: -74 },
  { lat: 41, lon: -74 },
  { lat: 41, lon: -73 },
  { lat: 40, lon: -73 },
];
const berlin = { lat: 52.52, lon: 13.405 };
const potsdam = { lat: 52.39, lon: 13.06 };

/** The operators of the contract's reference library, with values computed by hand or by another program. */
const groups: readonly Group[] = [
  {
    title: "comparison",
    rows: [
      ["eq", "gold", "gold", "Gold"],
      ["eq", 1, 1, "1"],
      ["neq", "gold", "silver", "gold"],
      ["gt", 5, 5.1, 5],
      ["gte", 5, 5, 4.9],
      ["lt", 5, 4.9, 5],
      ["lte", 5, 5, 5.1],
      ["gt", "b", "c", "a"],
      ["in", ["DE", "FR"], "FR", "US"],
      ["not_in", ["DE", "FR"], "US", "FR"],
      ["present", undefined, 0, ""],
      ["present", undefined, false, []],
      ["blank", undefined, {}, " "],
    ],
  },
  {
    title: "text",
    rows: [
      ["contains", "ERROR", "an ERROR occurred", "an error occurred"],
      ["starts_with", "TXN-", "TXN-7", "txn-7"],
      ["ends_with", ".pdf", "a.pdf", "a.pdf.exe"],
      ["matches", "^[a-z]+@company\\.com$", "ada@company.com", "ada@company.community"],
      ["matches", "b+", "abbc", "ac"],
    ],
  },
  {
    title: "numbers",
    rows: [
      ["between", [18, 65], 65, 65.1],
      ["between", { min: 0, max: 100 }, 0, -1],
      ["modulo", [2, 0], 4, 5],
      ["modulo", { divisor: 3, remainder: 1 }, -2, -1],
    ],
  },
  {
    title: "mathematics",
    rows: [
      ["sin", 0, Math.PI, 1],
      ["cos", -1, Math.PI, 0],
      ["tan", 1, Math.PI / 4, Math.PI / 3],
      ["asin", Math.PI / 2, 1, 0.5],
      ["acos", 0, 1, 0.5],
      ["atan", Math.PI / 4, 1, 2],
      ["atan2", { y: 1, result: Math.PI / 4 }, 1, -1],
      ["atan2", [-1, Math.PI], 0, 1],
      ["sinh", 1.1752011936438014, 1, -1],
      ["cosh", 201.7156361224559, 6, 6.0001],
      ["tanh", 0.7615941559557649, 1, 2],
      ["sqrt", 5, 25, 24],
      ["sqrt", 1.4142135623730951, 2, 3],
      ["cbrt", -2, -8, 8],
      ["cbrt", 1259.921049894873, 2e9, 2.0001e9],
      ["power", { exponent: 2, result: 16 }, -4, 5],
      ["power", [0.5, 3], 9, 8],
      ["exp", 2.718281828459045, 1, 1.0000001],
      ["exp", 485165195.4097903, 20, 20.0001],
      ["log", 1, Math.E, 10],
      ["log", 690.7755278982137, 1e300, 1e301],
      ["log10", 3, 1000, 1001],
      ["log10", { gte: 2, lte: 4 }, 5000, 50_000],
      ["log2", 10, 1024, 1023],
      ["round", 85, 84.5, 84.4],
      ["floor", -4, -3.1, -4.1],
      ["ceil", -3, -3.1, -2.9],
      ["truncate", -3, -3.9, -4],
      ["abs", 3.9, -3.9, 3.8],
      ["factorial", 24, 4, 5],
      ["gcd", { other: 12, result: 6 }, 18, 24],
      ["gcd", [12, 6], -18, 12],
      ["lcm", { other: 12, result: 36 }, 9, 8],
      ["lcm", [12, 36], -9, 10],
    ],
  },
  {
    title: "statistics",
    rows: [
      ["min", 1, [3, 1, 2], [3, 2]],
      ["max", 3, [3, 1, 2], [1, 2]],
      ["sum", { min: 50, max: 150 }, [50, 50], [100, 51]],
      ["sum", 0.3, [0.1, 0.2], [0.1, 0.201]],
      ["average", 150, [100, 200], [100, 201]],
      ["average", 0.15, [0.1, 0.2], [0.1, 0.201]],
      ["mean", 0.15, [0.1, 0.2], [0.1, 0.201]],
      ["mean", { lt: 200 }, [100, 200], [200, 200]],
      ["median", 75, [60, 90, 75], [60, 90, 76]],
      ["median", 2.5, [4, 1, 3, 2], [4, 1, 3]],
      ["variance", 4, [2, 4, 4, 4, 5, 5, 7, 9], [2, 4]],
      ["stddev", 2, [2, 4, 4, 4, 5, 5, 7, 9], [2, 4]],
      ["standard_deviation", { lt: 25 }, [1, 50], [1, 52]],
      ["percentile", { percentile: 95, gt: 500 }, [100, 300, 525], [100, 300, 500]],
      ["percentile", { percentile: 25, eq: 17.5 }, [10, 20, 30, 40], [10, 20, 30]],
      ["percentile", { percentile: 50, threshold: 20 }, [10, 20, 30], [10, 19, 30]],
      ["count", { gte: 2 }, ["a", null], ["a"]],
      ["moving_average", { window: 2, threshold: 6.5 }, [1, 6, 7], [7, 6, 1]],
      ["moving_sum", { window: 5, gt: 13 }, [1, 6, 7], [1, 6, 6]],
      ["moving_max", { window: 2, lt: 8 }, [9, 6, 7], [6, 7, 9]],
      ["moving_min", { window: 2, gte: 6 }, [1, 6, 7], [1, 6, 5]],
    ],
  },
  {
    title: "dates",
    rows: [
      ["before_date", "2026-01-01", "2025-12-31T23:59:59Z", "2026-01-01"],
      ["after_date", "2026-01-01", "2026-01-01T00:00:01Z", "2026-01-01"],
      ["within_days", 3, "2026-03-05T12:00:00Z", "2026-03-05T12:00:01Z"],
      ["within_days", 3, "2026-02-27T12:00:00Z", "2026-02-27T11:59:59Z"],
      ["day_of_week", "monday", "2026-03-02", "2026-03-03"],
      ["day_of_week", "sun", "2026-03-01", "2026-03-02"],
      ["day_of_week", 6, "2026-02-28", "2026-03-01"],
      ["hour_of_day", { min: 9, max: 17 }, "2026-03-02T17:59:59Z", "2026-03-02T18:00:00Z"],
      ["day_of_month", 31, "2026-01-31", "2026-02-01"],
      ["month", 12, "2026-12-01", "2026-11-30"],
      ["year", { gte: 2026 }, "2026-01-01", "2025-12-31"],
      ["week_of_year", 1, "2026-01-01", "2026-01-05"],
    ],
  },
  {
    title: "durations",
    rows: [
      ["duration_seconds", { end: "now", max: 3600 }, "2026-03-02T11:00:00Z", "2026-03-02T10:59:59Z"],
      ["duration_minutes", { end: "now", gt: 30 }, "2026-03-02T11:29:59Z", "2026-03-02T11:30:00Z"],
      ["duration_hours", { end: "y", gte: 24 }, "2026-03-01", "2026-03-01T00:00:01Z"],
      ["duration_days", { end: "y", lt: 2 }, "2026-03-03T23:59:59Z", "2026-03-04"],
      [
        "add_days",
        { days: 7, compare: "lte", target: "now" },
        "2026-02-23T12:00:00Z",
        "2026-02-23T12:00:01Z",
      ],
      ["subtract_days", { days: 1, compare: "eq", target: "y" }, "2026-03-03", "2026-03-04"],
      [
        "add_hours",
        { hours: 1.5, compare: "lt", target: "y" },
        "2026-03-01T22:29:59Z",
        "2026-03-01T22:30:00Z",
      ],
      [
        "subtract_hours",
        { hours: 1, compare: "gt", target: "now" },
        "2026-03-02T13:00:01Z",
        "2026-03-02T13:00:00Z",
      ],
      ["add_minutes", { minutes: 30, compare: "gte" }, "2026-03-02T11:30:00Z", "2026-03-02T11:29:59Z"],
      [
        "subtract_minutes",
        { minutes: 30, compare: "lt", target: "y" },
        "2026-03-02T00:29:59Z",
        "2026-03-02T00:30:00Z",
      ],
      ["rate_per_second", 2, ["2026-03-02", "2026-03-02T00:00:01Z"], ["2026-03-02", "2026-03-02T00:00:02Z"]],
      [
        "rate_per_minute",
        { max: 6 },
        ["2026-03-02", "2026-03-02T00:00:20Z"],
        ["2026-03-02", "2026-03-02T00:00:19Z"],
      ],
      [
        "rate_per_hour",
        { gt: 2 },
        ["2026-03-02", "2026-03-02T00:59:59Z"],
        ["2026-03-02", "2026-03-02T01:00:00Z"],
      ],
    ],
  },
  {
    title: "finance",
    rows: [
      ["compound_interest", { rate: 0.05, periods: 12, result: 1051.16 }, 1000, 1001],
      ["compound_interest", { rate: 0.05, periods: 12, gt: 1050 }, 1000, 998],
      ["present_value", { rate: 0.05, periods: 10, result: 613.91 }, 1000, 1001],
      ["future_value", { rate: 0.05, periods: 10, result: 1628.89 }, 1000, 999],
      ["payment", { rate: 0.01, periods: 12, threshold: 88.84 }, 1000, 999],
      ["payment", { rate: 0.01, periods: 12, result: 88_848_788_678.34 }, 1e12, 1.001e12],
    ],
  },
  {
    title: "lists and texts of lists",
    rows: [
      ["join", { separator: ",", result: "a,b" }, ["a", "b"], ["b", "a"]],
      ["join", { separator: "-", contains: "b-1" }, ["a", "b", 1], ["b", "a", 1]],
      ["join", { contains: "a,b" }, ["a", "b", "c"], ["a", "c", "b"]],
      ["length", { min: 2, max: 3 }, "abc", "abcd"],
      ["length", 0, [], ["a"]],
      ["contains_all", ["read", "write"], ["write", "delete", "read"], ["read"]],
      ["contains_any", ["urgent", "critical"], ["new", "urgent"], ["new"]],
      ["intersects", ["admin", "moderator"], ["user", "admin"], []],
      ["subset_of", ["a", "b", "c"], ["c", "a"], ["a", "d"]],
    ],
  },
  {
    title: "places",
    rows: [
      ["within_radius", { center: berlin, radius: 28 }, potsdam, { lat: 48.8566, lon: 2.3522 }],
      [
        "within_radius",
        { center: [52.52, 13.405], radius: 26 },
        { latitude: 52.5, longitude: 13.4 },
        potsdam,
      ],
      ["in_polygon", square, { lat: 40.5, lon: -73.5 }, { lat: 41.5, lon: -73.5 }],
      ["in_polygon", square, { lat: 40, lng: -73.5 }, { lat: 39.999, lng: -73.5 }],
      [
        "in_polygon",
        [
          [0, 0],
          [0, 4],
          [4, 4],
          [2, 2],
        ],
        [1, 2],
        [3, 2.5],
      ],
    ],
  },
];

const named = [
  "eq neq gt gte lt lte in present blank contains starts_with ends_with matches between modulo",
  "sin cos tan asin acos atan atan2 sinh cosh tanh sqrt cbrt power exp log log10 log2",
  "round floor ceil truncate abs factorial gcd lcm",
  "min max sum average mean median stddev standard_deviation variance percentile count",
  "before_date after_date within_days day_of_week",
  "duration_seconds duration_minutes duration_hours duration_days",
  "add_days subtract_days add_hours subtract_hours add_minutes subtract_minutes",
  "hour_of_day day_of_month month year week_of_year rate_per_second rate_per_minute rate_per_hour",
  "moving_average moving_sum moving_max moving_min",
  "compound_interest present_value future_value payment",
  "join length contains_all contains_any intersects subset_of within_radius in_polygon",
].flatMap((names) => names.split(" "));

/** Returns the decision and the warnings of a definition file with this one rule. */
async function answer(op: string, value: Json | undefined, x: Json): Promise<readonly [string, ...string[]]> {
  const condition = { field: "x", op, ...(value !== undefined && { value }) };
  const evaluators = [
    { name: "rules", rules: [{ id: "r", if: condition, then: { decision: "matches" } }] },
    { name: "otherwise", static: { decision: "differs", weight: 0.5 } },
  ];
  const document = { decision: { id: "under-test", type: "scored", evaluators } };
  const { summary, body } = readDefinitions("f.yaml", Buffer.from(JSON.stringify(document)));
  expect(summary.diagnostics).toEqual([]);
  const [definition] = body.definitions;
  if (definition === undefined) throw new Error("the file declares no definition");
  const context = { x, y: midnight };
  const { selected_labels, warnings } = await decide(
    { decision_id: "under-test", context },
    worldWith(definition, noon),
  );
  return [selected_labels.join(), ...warnings];
}

describe("the operators of the contract's reference library", () => {
  const tested = groups.flatMap(({ rows }) => rows.map(([op]) => op));

  it("all exist, and all are tested here but `fetch_from_api`", () => {
    expect([...new Set(tested)].sort()).toEqual([...new Set([...named, "not_in"])].sort());
    expect([...ruleOperators().keys()].sort()).toEqual([...new Set([...tested, "fetch_from_api"])].sort());
  });

  describe.each(groups)("$title", ({ rows }) => {
    it.each(rows)("%s with %j matches %j, but not %j", async (op, value, matching, differing) => {
      expect(await answer(op, value, matching)).toEqual(["matches"]);
      expect(await answer(op, value, differing)).toEqual(["differs"]);
    });
  });

  it.each<Row>([
    ["hour_of_day", 21, "2026-06-01T23:30:00+02:00", "2026-06-01T21:30:00-01:00"],
    ["day_of_week", "tuesday", "2026-06-01T23:30:00-02:00", "2026-06-02T01:00:00+02:00"],
    ["sum", 0, [], [1]],
    ["round", -2, -2.5, -2.51],
    ["payment", { rate: 0, periods: 12, result: 100 }, 1200, 1201],
  ])("differ on purpose: %s with %j matches %j, but not %j", async (op, value, matching, differing) => {
    expect(await answer(op, value, matching)).toEqual(["matches"]);
    expect(await answer(op, value, differing)).toEqual(["differs"]);
  });

  it.each(["sum", "average", "median", "stddev", "percentile", "moving_sum"])(
    "differ on purpose: `%s` of a list with anything but numbers is false, with a warning",
    async (op) => {
      const value = { percentile: { percentile: 50, gt: 0 }, moving_sum: { window: 2, gt: 0 } }[op];
      const [decision, ...warnings] = await answer(op, value ?? { gt: 0 }, [1, 2, "3"]);
      expect([decision, ...warnings]).toEqual(["differs", expect.stringContaining("needs numbers only")]);
    },
  );
});
