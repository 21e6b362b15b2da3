import { describe, expect, it } from "vitest";
import { InvalidEvaluatorError, InvalidWeightError } from "../../../src/errors.js";
import { validateEvaluation, validateWeight } from "../../../src/evaluate/scored/evaluation.js";
import { thrownBy, unfrozen } from "./votes.js";

const vote = { decision: "approve", weight: 0.5, reason: "because" };

describe("a weight", () => {
  it.each([0, -0, 5e-324, 0.5, 1])("can be %d", (weight) => {
    expect(validateWeight(weight)).toBe(weight);
  });

  it.each([
    -5e-324,
    -0.1,
    1 + Number.EPSILON,
    1.5,
    Infinity,
    -Infinity,
    NaN,
    "0.5",
    null,
    undefined,
    true,
    1n,
  ])("must not be %s", (weight) => {
    const error = thrownBy(() => validateWeight(weight));
    expect(error).toBeInstanceOf(InvalidWeightError);
    expect((error as Error).message).toBe(`Weight must be between 0.0 and 1.0, got: ${String(weight)}`);
  });
});

describe("an evaluation", () => {
  it("takes its evaluator's name and empty metadata if it has none", () => {
    expect(validateEvaluation(vote, "me")).toEqual({ ...vote, evaluator_name: "me", metadata: {} });
  });

  it("keeps a name of its own and its metadata", () => {
    const named = { ...vote, evaluator_name: "other", metadata: { rule_id: "r", list: [{ a: null }] } };
    expect(validateEvaluation(named, "me")).toEqual(named);
  });

  it("can have an empty reason", () => {
    expect(validateEvaluation({ ...vote, reason: "" }, "me").reason).toBe("");
  });

  it("leaves out what an evaluation does not have", () => {
    expect(validateEvaluation({ ...vote, extra: 1 }, "me")).not.toHaveProperty("extra");
  });

  it("is a copy, frozen deeply", () => {
    const metadata = { user: { role: "admin" }, tags: ["urgent"] };
    const evaluation = validateEvaluation({ ...vote, metadata }, "me");
    expect(unfrozen(evaluation)).toEqual([]);
    metadata.user.role = "guest";
    expect(evaluation.metadata).toEqual({ user: { role: "admin" }, tags: ["urgent"] });
  });

  it.each<[string, unknown, string]>([
    ["a text", "approve", "must return an evaluation, null or undefined"],
    ["null", null, "must return an evaluation, null or undefined"],
    ["a list", [vote], "must return an evaluation, null or undefined"],
    ["no decision", { weight: 1, reason: "" }, "returned no decision"],
    ["an empty decision", { ...vote, decision: "" }, "returned no decision"],
    ["a decision that is no text", { ...vote, decision: true }, "returned no decision"],
    ["no reason", { decision: "approve", weight: 1 }, "returned no reason (it may be empty)"],
    ["a reason that is no text", { ...vote, reason: 7 }, "returned no reason (it may be empty)"],
    ["an empty name", { ...vote, evaluator_name: "" }, "has no name"],
    ["a name that is no text", { ...vote, evaluator_name: 7 }, "has no name"],
    ["metadata that is a text", { ...vote, metadata: "m" }, "returned metadata that is not an object"],
    ["metadata that is null", { ...vote, metadata: null }, "returned metadata that is not an object"],
    ["metadata that is a list", { ...vote, metadata: [] }, "returned metadata that is not an object"],
    [
      "metadata that is no JSON",
      { ...vote, metadata: { at: new Date(0) } },
      "returned metadata that is not JSON: only plain objects are JSON",
    ],
    [
      "metadata with a function in it",
      { ...vote, metadata: { f: () => 1 } },
      "returned metadata that is not JSON: a value of type `function` is not JSON",
    ],
  ])("is not %s", (_what, given, message) => {
    const error = thrownBy(() => validateEvaluation(given, "me"));
    expect(error).toBeInstanceOf(InvalidEvaluatorError);
    expect((error as Error).message).toBe(`the evaluator \`me\` ${message}`);
  });

  it("with a weight out of bounds is the error of the weight", () => {
    expect(thrownBy(() => validateEvaluation({ ...vote, weight: 1.5 }, "me"))).toBeInstanceOf(
      InvalidWeightError,
    );
    expect(thrownBy(() => validateEvaluation({ decision: "a", reason: "" }, "me"))).toMatchObject({
      message: "Weight must be between 0.0 and 1.0, got: undefined",
    });
  });
});
