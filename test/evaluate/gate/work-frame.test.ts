import { describe, expect, it } from "vitest";
import type { FrameConditions } from "../../../src/evaluate/gate/work-frame.js";
import { mergeWorkFrames } from "../../../src/evaluate/gate/work-frame.js";
import type { Status, WrittenFrame } from "../../../src/model/definition.js";
import type { Json } from "../../../src/model/json.js";
import type { WorkFrame } from "../../../src/model/result.js";
import { rule } from "./gates.js";

function frameOf(
  frames: readonly (WrittenFrame | undefined)[],
  extra: Partial<FrameConditions> = {},
): WorkFrame {
  const rules = frames.map((work_frame) => rule("a", work_frame === undefined ? {} : { work_frame }));
  return mergeWorkFrames(rules, { status: "RED", errored: false, raised: false, missing: [], ...extra });
}

const full: WrittenFrame = {
  next_action: "act",
  allowed_actions: ["go"],
  forbidden_actions: ["stay"],
  required_output: { form: "A" },
  missing_evidence: ["proof"],
  next_human_owner: "ann",
};

describe("a work frame", () => {
  it.each<[Status, string]>([
    ["GREEN", "execute"],
    ["GREEN-SKIP", "skip"],
    ["YELLOW", "review"],
    ["RED", "stop"],
  ])("of %s has the mode %s", (status, mode) => {
    expect(frameOf([], { status }).mode).toBe(mode);
  });

  it.each([[[]], [[undefined]], [[{}]]])("has no value if %j has none", (frames) => {
    expect(frameOf(frames)).toEqual({
      mode: "stop",
      next_action: null,
      allowed_actions: [],
      forbidden_actions: [],
      required_output: null,
      missing_evidence: [],
      next_human_owner: null,
    });
  });

  it("of one rule is the frame of the rule", () => {
    expect(frameOf([full])).toEqual({ mode: "stop", ...full });
  });

  it("of several rules has the union of lists, and the first value of other fields", () => {
    const others: readonly WrittenFrame[] = [
      { allowed_actions: ["a", "b", "a"], missing_evidence: ["x"] },
      { allowed_actions: ["b", "c"], next_action: "first", forbidden_actions: ["f"] },
      { next_action: "second", next_human_owner: "bob", missing_evidence: ["y", "x"] },
    ];
    expect(frameOf(others)).toMatchObject({
      next_action: "first",
      allowed_actions: ["a", "b", "c"],
      forbidden_actions: ["f"],
      missing_evidence: ["x", "y"],
      next_human_owner: "bob",
    });
  });

  it.each<[string, readonly (Json | undefined)[], Json]>([
    ["nothing", [undefined], null],
    ["null, which says nothing", [null, "form"], "form"],
    ["a list", [["a"]], ["a"]],
    ["an empty list", [[]], []],
    ["lists", [["a", { b: 1, c: 2 }], undefined, [{ c: 2, b: 1 }, "d"]], ["a", { b: 1, c: 2 }, "d"]],
    ["a list and something else", [["a"], "form"], ["a"]],
    ["something else and a list", [false, ["a"]], false],
  ])("asks for output: %s", (_what, outputs, expected) => {
    const frames = outputs.map((required_output) =>
      required_output === undefined ? {} : { required_output },
    );
    expect(frameOf(frames).required_output).toEqual(expected);
  });

  it("lists what the context lacks after what the rules say, without repeats", () => {
    const missing = ["amount", "proof"];
    expect(frameOf([full], { missing }).missing_evidence).toEqual(["proof", "amount"]);
  });

  it.each<[Status, boolean, string]>([
    ["YELLOW", true, "gather_evidence_and_retry"],
    ["YELLOW", false, "act"],
    ["RED", true, "act"],
    ["RED", false, "act"],
  ])("of %s, errors: %s, continues with %s", (status, errored, next_action) => {
    expect(frameOf([full], { status, errored }).next_action).toBe(next_action);
  });

  it("that was raised by errors allows no actions", () => {
    expect(frameOf([full], { status: "YELLOW", errored: true, raised: true })).toEqual({
      mode: "review",
      next_action: "gather_evidence_and_retry",
      allowed_actions: [],
      forbidden_actions: ["stay"],
      required_output: null,
      missing_evidence: ["proof"],
      next_human_owner: "ann",
    });
  });
});
