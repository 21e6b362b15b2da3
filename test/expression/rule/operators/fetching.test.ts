import { describe, expect, it } from "vitest";
import { compileRule } from "../../../../src/expression/rule/compile-rule.js";
import { fetchKey } from "../../../../src/expression/rule/operators/fetching.js";
import type { Json, JsonObject } from "../../../../src/model/json.js";
import { scopeOf } from "../../answers.js";
import { checkValue, operatorNamed } from "../evaluate-condition.js";

const value = { endpoint: "bureau", params: { ssn: "{{ customer.ssn }}" }, mapping: { score: "credit" } };

function evaluateFetch(facts: JsonObject, context: JsonObject = {}): { result: boolean; note: unknown } {
  const rule = compileRule({ field: "customer", op: "fetch_from_api", value });
  const { result, traces } = rule.evaluate(scopeOf(context, { facts }));
  const [trace] = traces;
  return { result, note: trace !== undefined && "note" in trace ? trace.note : undefined };
}

/** Missing data is an ordinary false result, without a note. */
const none = { result: false, note: undefined };

describe("fetch_from_api", () => {
  it("is true if the facts contain the data, even if the field is missing", () => {
    const facts = { fetched: { [fetchKey(value)]: { endpoint: "bureau", ok: true } } };
    expect(evaluateFetch(facts)).toEqual({ result: true, note: undefined });
    expect(evaluateFetch(facts, { customer: null })).toEqual({ result: true, note: undefined });
  });

  it.each<[string, JsonObject]>([
    ["nothing was fetched at all", {}],
    ["something else was fetched", { fetched: { [fetchKey({ endpoint: "bureau" })]: { ok: true } } }],
    ["it failed", { fetched: { [fetchKey(value)]: { ok: false } } }],
    ["the fact is no object", { fetched: { [fetchKey(value)]: true } }],
    ["the facts are no object", { fetched: "all" }],
    [
      "only a prototype says so",
      { fetched: Object.create({ [fetchKey(value)]: { ok: true } }) as JsonObject },
    ],
  ])("does not hold if %s", (_why, facts) => {
    expect(evaluateFetch(facts)).toEqual(none);
  });

  it("cannot be forged with the context", () => {
    expect(evaluateFetch({}, { facts: { fetched: { [fetchKey(value)]: { ok: true } } } })).toEqual(none);
  });

  it("reads only whether the data was fetched", () => {
    expect(operatorNamed("fetch_from_api").extraReads(value)).toEqual([
      `facts.fetched.${fetchKey(value)}.ok`,
    ]);
  });

  it.each<[Json, string]>([
    ["bureau", '`value` must be a map with `endpoint` (got "bureau")'],
    [["bureau"], "`value` must be a map with `endpoint` (got a list)"],
    [{}, "`endpoint` must be the name of an endpoint (got nothing)"],
    [{ endpoint: "" }, '`endpoint` must be the name of an endpoint (got "")'],
    [{ endpoint: 5 }, "`endpoint` must be the name of an endpoint (got 5)"],
    [
      { endpoint: "b", url: "x" },
      "`value` must be a map of endpoint, params, mapping, without `url` (got a map)",
    ],
    [{ endpoint: "b", params: ["a"] }, "`params` must be a map (got a list)"],
    [{ endpoint: "b", params: null }, "`params` must be a map (got null)"],
    ...[{}, "score", { score: 5 }, { score: "" }].map((mapping): [Json, string] => [
      { endpoint: "b", mapping },
      "`mapping` must be a map of fields of the response to fields of the context " +
        `(got ${typeof mapping === "string" ? '"score"' : "a map"})`,
    ]),
  ])("%j is rejected", (wrong, message) => {
    expect(checkValue("fetch_from_api", wrong)).toBe(message);
  });
});

describe("the key of a fetch", () => {
  it("begins with its endpoint and has no dots of its own", () => {
    expect(fetchKey(value)).toMatch(/^bureau:[0-9a-f]{16}$/);
  });

  it("stays the same whatever the order of its params, and with what is absent written out", () => {
    const one = fetchKey({ endpoint: "b", params: { a: 1, b: 2 } });
    expect(fetchKey({ endpoint: "b", params: { b: 2, a: 1 }, mapping: {} })).toBe(one);
  });

  it("differs with every part of it", () => {
    const base = { endpoint: "b", params: { a: 1 }, mapping: { x: "y" }, into: "z" };
    const others = [
      { ...base, endpoint: "c" },
      { ...base, params: { a: "1" } },
      { ...base, mapping: { x: "yy" } },
      { ...base, into: "zz" },
      { endpoint: base.endpoint, params: base.params, mapping: base.mapping },
    ];
    expect(new Set([base, ...others].map(fetchKey)).size).toBe(6);
  });
});
