import { describe, expect, it } from "vitest";
import { describeErrored, summariseErrored } from "../../../src/evaluate/gate/gate-result.js";
import type { ErroredPredicate } from "../../../src/model/result.js";

const error = "`n` is missing";
const unfit: ErroredPredicate = { source: "context_schema", error };
const lacking: ErroredPredicate = { source: "enrich", name: "bureau", error: "it is gone" };
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
    [[lacking, lacking], "required data is missing"],
    [[lacking, failing], "required data is missing, and 1 condition could not be evaluated"],
    [[unfit, unfit], "the context does not match the schema"],
    [[unfit, failing], "the context does not match the schema, and 1 condition could not be evaluated"],
  ])("is summarised: %j", (errors, expected) => {
    expect(summariseErrored(errors)).toBe(expected);
  });
});
