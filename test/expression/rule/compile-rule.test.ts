import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { context, json, wellFormed } from "./conditions.js";
import { requestTime, traceOf } from "./evaluate-condition.js";
import { DecisionError } from "../../../src/errors.js";
import { compileRule, compileWhen, compileField } from "../../../src/expression/rule/compile-rule.js";
import type { FieldCondition, RuleCondition } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";
import type { Scope } from "../../../src/model/scope.js";
import { refusalOf, scopeOf } from "../answers.js";

const yes = { field: "yes", op: "eq", value: true };
const no = { field: "no", op: "eq", value: true };
const scope = scopeOf({ yes: true, no: false });
const judge = (condition: RuleCondition): boolean => compileRule(condition).evaluate(scope).result;

describe("a group of conditions", () => {
  it.each<[RuleCondition, boolean]>([
    [yes, true],
    [no, false],
    [{ all: [yes, yes] }, true],
    [{ all: [yes, no] }, false],
    [{ any: [no, yes] }, true],
    [{ any: [no, no] }, false],
    [{ none: [no, no] }, true],
    [{ none: [no, yes] }, false],
    [{ all: [{ any: [no, yes] }, { none: [no] }] }, true],
    [{ none: [{ none: [yes] }] }, true],
    [{ none: [{ all: [yes, no] }] }, true],
  ])("%j is %s", (condition, result) => {
    expect(judge(condition)).toBe(result);
  });

  it("asks every condition, also when the answer is known", () => {
    const { traces } = compileRule({ all: [no, yes, { any: [yes, no] }] }).evaluate(scope);
    expect(traces.map(({ result }) => result)).toEqual([false, true, true, false]);
  });

  it("marks the conditions under an odd number of `none`, which answer as they would elsewhere", () => {
    const { traces } = compileRule({
      all: [yes, { none: [no, { any: [yes] }, { none: [yes, { all: [no] }] }] }],
    }).evaluate(scope);
    expect(traces.map((trace) => [trace.result, "negated" in trace])).toEqual([
      [true, false],
      [false, true],
      [true, true],
      [true, false],
      [false, false],
    ]);
  });
});

describe("the trace of a condition", () => {
  const condition = { field: "credit.score", op: "gte", value: 700 };
  const common = { field: "credit.score", operator: "gte", expected: 700 };

  it.each<[string, JsonObject, object]>([
    ["what was found", { credit: { score: 720 } }, { actual: 720, result: true }],
    ["that it was too little", { credit: { score: 500 } }, { actual: 500, result: false }],
    [
      "that it is missing",
      { credit: {} },
      { actual: null, result: false, note: "`credit.score` is missing" },
    ],
    [
      "that it is of the wrong type",
      { credit: { score: "720" } },
      { actual: "720", result: false, note: "`gte` needs a number, as its `value` is one, got text" },
    ],
    [
      "that it is null, which is a value",
      { credit: { score: null } },
      { actual: null, result: false, note: "`gte` needs a number, as its `value` is one, got null" },
    ],
  ])("reports %s", (_name, found, expected) => {
    expect(traceOf(condition, found)).toStrictEqual({ ...common, ...expected });
  });

  it("shows that it is negated, along with its note", () => {
    const { result, traces } = compileRule({ none: [condition] }).evaluate(scopeOf({}));
    const trace = {
      ...common,
      actual: null,
      result: false,
      note: "`credit.score` is missing",
      negated: true,
    };
    expect({ result, traces }).toStrictEqual({ result: true, traces: [trace] });
  });
});

describe("the field of a condition", () => {
  const rich: Scope = {
    context: {
      a: { "b-c": 1, "d e": 1 },
      items: [{ name: 1 }],
      input: 2,
      facts: 2,
      system: 2,
      only: { x: 1 },
    },
    input: 1,
    computed: { large: 1 },
    facts: { seen: 1 },
    system: { request_time: 1 },
  };
  const found = ["a.b-c", "a.d e", "items.0.name", "input", "facts.seen", "system.request_time", "large"];

  it.each([...found, "context.only.x"])("%s is read as in expressions", (field) => {
    expect(compileRule({ field, op: "eq", value: 1 }).evaluate(rich).result).toBe(true);
  });

  it.each(["toString", "a.toString", "items.length", "items.00", "a.b-c.x", "input.x"])(
    "%s is missing",
    (field) => {
      const { traces } = compileRule({ field, op: "neq", value: 1 }).evaluate(rich);
      expect(traces).toMatchObject([{ result: false, note: `\`${field}\` is missing` }]);
    },
  );

  it("is missing if there is no input", () => {
    expect(compileRule({ field: "input", op: "blank" }).evaluate(scopeOf({ input: 1 })).result).toBe(true);
  });
});

describe("the paths that a rule reads", () => {
  it("is every field once, in the order of their first mention", () => {
    const condition = { all: [yes, { any: [no, yes] }, { none: [{ field: "a.b", op: "present" }] }] };
    expect(compileRule(condition).reads).toEqual(["yes", "no", "a.b"]);
  });

  it("is the time of the request too if days are counted from it", () => {
    expect(compileRule({ field: "at", op: "within_days", value: 5 }).reads).toEqual([
      "at",
      "system.request_time",
    ]);
    const value = { days: 5, of: "2026-01-01" };
    expect(compileRule({ field: "at", op: "within_days", value }).reads).toEqual(["at"]);
  });
});

describe("an invalid condition", () => {
  it("is not compiled", () => {
    const compileFaulty = (): unknown => compileRule({ all: [{ field: "a", op: "equals", value: 1 }] });
    expect(compileFaulty).toThrow(DecisionError);
    expect(compileFaulty).toThrow(
      expect.objectContaining({
        code: "definition_invalid",
        message: "unknown operator `equals`",
        hint: "did you mean `eq`?",
      }) as Error,
    );
  });

  it("that was not checked throws an internal error", () => {
    expect(() => compileField({ field: "a", op: "equals" }, false, new Set())).toThrow(
      "accepted the unknown operator `equals`",
    );
  });
});

describe("when", () => {
  it.each<[string, JsonObject, object]>([
    ["score < 500", { score: 499 }, { result: true }],
    ["score < 500", { score: 500 }, { result: false }],
    ["{{ score < 500 }}", { score: 499 }, { result: true }],
    ["score < 500", {}, { result: false, error: "`score` is missing" }],
    [
      "score",
      { score: 1 },
      { result: false, error: "a condition must be true or false, this one is a number" },
    ],
  ])("%j in %j", (expression, found, expected) => {
    const { result, traces } = compileWhen(expression).evaluate(scopeOf(found));
    expect(traces).toStrictEqual([{ expression, ...expected }]);
    expect(result).toBe(traces[0]?.result);
  });

  it("reads what its expression reads", () => {
    expect(compileWhen("a.b > 1 and c in ('x')").reads).toEqual(["a.b", "c"]);
  });

  it.each(["", "a >", "{{ a }} b"])("%j is rejected as an expression", (text) => {
    expect(refusalOf(text, compileWhen).expression).toBe(text);
  });
});

/** The expected result of a condition, from the definition of `all`, `any` and `none`; the leaves are evaluated one by one. */
function holds(condition: RuleCondition, found: Scope): boolean {
  if ("all" in condition) return condition.all.every((each) => holds(each, found));
  if ("any" in condition) return condition.any.some((each) => holds(each, found));
  if ("none" in condition) return !condition.none.some((each) => holds(each, found));
  return compileRule(condition).evaluate(found).result;
}

function leavesOf(condition: RuleCondition): readonly FieldCondition[] {
  if ("all" in condition) return condition.all.flatMap(leavesOf);
  if ("any" in condition) return condition.any.flatMap(leavesOf);
  return "none" in condition ? condition.none.flatMap(leavesOf) : [condition];
}

describe("any well-formed condition in any context", () => {
  const scopes = fc.record({
    context,
    input: json,
    facts: context,
    system: fc.oneof(fc.constant({ request_time: requestTime }), context),
  });

  it("is tested as its summary says", () => {
    fc.assert(
      fc.property(wellFormed, scopes, (condition, found) => {
        expect(compileRule(condition).evaluate(found).result).toBe(holds(condition, found));
      }),
      { numRuns: 500 },
    );
  });

  it("has one trace for each condition on a field, in the order in which they are written", () => {
    fc.assert(
      fc.property(wellFormed, scopes, (condition, found) => {
        const traced = compileRule(condition)
          .evaluate(found)
          .traces.map((trace) => "field" in trace && trace.field);
        expect(traced).toEqual(leavesOf(condition).map(({ field }) => field));
      }),
    );
  });

  it("makes `none` the opposite of `any`", () => {
    fc.assert(
      fc.property(fc.array(wellFormed, { minLength: 1, maxLength: 4 }), scopes, (conditions, found) => {
        const any = compileRule({ any: conditions }).evaluate(found).result;
        expect(compileRule({ none: conditions }).evaluate(found).result).toBe(!any);
      }),
    );
  });
});
