import { describe, expect, it } from "vitest";
import { describeErrored, summariseErrored } from "../../../src/evaluate/gate/errored-texts.js";
import type { ErroredPredicate } from "../../../src/model/result.js";

const error = "`n` is missing";
const unfit: ErroredPredicate = { source: "context_schema", error };
const unfitFor = (missing: string): ErroredPredicate => ({ source: "context_schema", missing, error });
const lacking: ErroredPredicate = {
  source: "enrich",
  name: "bureau",
  missing: "credit",
  error: "it is gone",
};
const lackingToo: ErroredPredicate = { source: "enrich", name: "crm", missing: "customer", error };
const failing: ErroredPredicate = { source: "when", name: "large", error };

describe("an evaluation error", () => {
  it.each<[ErroredPredicate, string]>([
    [unfit, "the context does not match the schema: `n` is missing"],
    [{ source: "input", error }, "the input could not be evaluated: `n` is missing"],
    [
      { source: "computed", name: "a", error },
      "the computed value `a` could not be evaluated: `n` is missing",
    ],
    [
      { source: "applies_when", name: "large", error },
      "`applies_when` of `large` could not be evaluated: `n` is missing",
    ],
    [failing, "`large` could not be evaluated: `n` is missing"],
    [lacking, "no data from `bureau`: it is gone"],
  ])("is reported: %j", (errored, expected) => {
    expect(describeErrored(errored)).toBe(expected);
  });

  it.each<[readonly ErroredPredicate[], string]>([
    [[failing], "1 condition could not be evaluated"],
    [[failing, failing], "2 conditions could not be evaluated"],
    [[lacking, lacking], "required data could not be fetched: `credit` from `bureau`"],
    [
      [lacking, lackingToo, failing],
      "required data could not be fetched: `credit` from `bureau` and `customer` from `crm`, and 1 condition could not be evaluated",
    ],
    [[unfitFor("payee")], "the context does not match the schema: `payee` is missing"],
    [
      [unfit, unfitFor("a.b"), unfitFor("payee"), unfitFor("c")],
      "the context does not match the schema: `a.b`, `payee` and `c` are missing",
    ],
    [
      Array.from({ length: 12 }, (_, index) => unfitFor(`f${index}`)),
      "the context does not match the schema: `f0`, `f1`, `f2`, `f3`, `f4`, `f5`, `f6`, `f7`, `f8`, `f9` and 2 more are missing",
    ],
    [[unfit, unfit], "the context does not match the schema"],
    [
      [{ source: "computed", name: "a", error }, failing, { ...failing, source: "applies_when" }],
      "the computed value `a` and 2 conditions could not be evaluated",
    ],
    [
      [
        { source: "computed", name: "a", error },
        { source: "computed", name: "b", error },
        { source: "input", error },
      ],
      "the input and the computed values `a` and `b` could not be evaluated",
    ],
    [
      [failing, { source: "output", name: "large", error }],
      "1 condition and the output could not be evaluated",
    ],
    [[unfit, failing], "the context does not match the schema, and 1 condition could not be evaluated"],
  ])("is summarised: %j", (errors, expected) => {
    expect(summariseErrored(errors)).toBe(expected);
  });
});
