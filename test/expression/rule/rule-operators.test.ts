import { describe, expect, it } from "vitest";
import { DecisionError } from "../../../src/errors.js";
import { ruleOperatorGroups, ruleOperators } from "../../../src/expression/rule/rule-operators.js";
import type { Json } from "../../../src/model/json.js";
import { ask, askMissing, checkValue, operatorNamed, traceOf } from "./evaluate-condition.js";

const aCircle = { center: { lat: 52.5, lon: 13.4 }, radius: 10 };

/** For each operator a valid `value`, an invalid one, and a field that it cannot test. */
const probes: Readonly<Record<string, { value: Json; faulty?: Json; wrong?: Json }>> = {
  eq: { value: "a" },
  neq: { value: "a" },
  gt: { value: 5, faulty: true, wrong: "6" },
  gte: { value: 5, faulty: [5], wrong: true },
  lt: { value: 5, faulty: {}, wrong: [1] },
  lte: { value: 5, faulty: null, wrong: { a: 1 } },
  in: { value: ["a"], faulty: "a" },
  not_in: { value: ["a"], faulty: { a: 1 } },
  present: { value: true, faulty: false },
  blank: { value: true, faulty: false },
  contains: { value: "a", wrong: 5 },
  starts_with: { value: "a", faulty: 5, wrong: 5 },
  ends_with: { value: "a", faulty: ["a"], wrong: ["a"] },
  matches: { value: "a", faulty: "(", wrong: 5 },
  between: { value: [1, 5], faulty: [5, 1], wrong: "3" },
  modulo: { value: [2, 1], faulty: [0, 1], wrong: "3" },
  before_date: { value: "2026-01-01", faulty: "yesterday", wrong: "2026-01-01T00:00:00" },
  after_date: { value: "2026-01-01", faulty: 2026, wrong: 2026 },
  within_days: { value: 5, faulty: -1, wrong: "soon" },
  day_of_week: { value: "mon", faulty: "someday", wrong: "monday" },
  contains_all: { value: ["a"], faulty: "a", wrong: "a" },
  contains_any: { value: ["a"], faulty: "a", wrong: "a" },
  intersects: { value: ["a"], faulty: "a", wrong: { 0: "a" } },
  subset_of: { value: ["a"], faulty: "a", wrong: "a" },
  length: { value: 1, faulty: "1", wrong: 1 },
  min: { value: 1, faulty: {}, wrong: 1 },
  max: { value: 1, faulty: [1], wrong: ["1"] },
  sum: { value: 1, faulty: { least: 1 }, wrong: [1, null] },
  average: { value: 1, faulty: { gte: "1" }, wrong: "1" },
  count: { value: 1, faulty: null, wrong: "a" },
  within_radius: { value: aCircle, faulty: { ...aCircle, radius: -1 }, wrong: { lat: 52.5 } },
  fetch_from_api: { value: { endpoint: "bureau" }, faulty: { endpoint: "bureau", into: "x" } },
};

const named = Object.entries(probes).map(([name, probe]) => ({ name, ...probe }));
const entries = [...ruleOperators.values()];

describe("every operator of rules", () => {
  it("is probed here, and nothing else is", () => {
    expect(Object.keys(probes).sort()).toEqual([...ruleOperators.keys()].sort());
  });

  it("stands in exactly one group of the help", () => {
    const grouped = ruleOperatorGroups.flatMap(({ entries: group }) => group.map(({ name }) => name));
    expect(grouped.sort()).toEqual([...ruleOperators.keys()].sort());
  });

  it.each(entries)("$name answers its documented example as documented", ({ name, example }) => {
    expect(example.condition.op).toBe(name);
    const { result, note } = traceOf(example.condition, example.context);
    expect({ result, note }).toEqual({ result: example.answer, note: undefined });
  });

  it.each(entries)("$name says in the help what it does and what it takes", ({ summary, takes }) => {
    expect([summary, takes].filter((text) => text === "" || text.endsWith("."))).toEqual([]);
  });

  const anyway = entries.filter(({ testsMissing }) => testsMissing).map(({ name }) => name);
  const strict = named.filter(({ name }) => name !== "blank" && !anyway.includes(name));

  it.each(strict)("$name is false, with a note, if the field is missing", ({ name, value }) => {
    expect(askMissing(name, value)).toBe("`x` is missing");
  });

  it("only `fetch_from_api` is evaluated if the field is missing", () => {
    expect(anyway).toEqual(["fetch_from_api"]);
    expect(askMissing("fetch_from_api", { endpoint: "bureau" })).toBe(false);
  });

  it.each(named)("$name accepts $value", ({ name, value }) => {
    expect(checkValue(name, value)).toBeUndefined();
  });

  const faulty = named.flatMap(({ name, faulty: value }) => (value === undefined ? [] : [{ name, value }]));

  it.each(faulty)("$name rejects $value, and says what it takes", ({ name, value }) => {
    expect(checkValue(name, value)).toMatch(
      /^(?:`value` must be .+ \(got .+\)|invalid pattern|`\w+` takes no `value`)/,
    );
    expect(() => operatorNamed(name).prepare(value)).toThrow(DecisionError);
    expect(() => operatorNamed("within_days").extraReads("x")).toThrow(DecisionError);
  });

  const mistyped = named.flatMap((each) =>
    each.wrong === undefined ? [] : [{ ...each, wrong: each.wrong }],
  );

  it.each(mistyped)("$name is false, with a note, of $wrong", ({ name, value, wrong }) => {
    expect(ask(name, wrong, value)).toMatch(new RegExp(`^\`${name}\` needs .+`));
  });

  it.each(mistyped)("$name is false, with a note, of null", ({ name, value }) => {
    expect(ask(name, null, value)).toMatch(new RegExp(`^\`${name}\` needs .+, got null$`));
  });

  it.each(mistyped)("$name never shows the value in its note, for it can be a secret", ({ name, value }) => {
    expect(ask(name, { lat: "s3cret" }, value)).not.toContain("s3cret");
  });
});

describe("the time of the request", () => {
  it("is read by `within_days` alone, and only without a date of its own", () => {
    const readers = named.filter(({ name, value }) =>
      operatorNamed(name).extraReads(value).includes("system.request_time"),
    );
    expect(readers.map(({ name }) => name)).toEqual(["within_days"]);
    expect(operatorNamed("within_days").extraReads({ days: 1, of: "2026-01-01" })).toEqual([]);
  });
});
