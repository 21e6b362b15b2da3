import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { describe, expect, it } from "vitest";
import type { BaseVerdict } from "../../../src/evaluate/policy/base-policy.js";
import { identityOf, prepareBasePolicy } from "../../../src/evaluate/policy/base-policy.js";
import type { BasePolicy } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";

function ask(
  policy: Omit<BasePolicy, "name">,
  context: JsonObject = {},
  facts: JsonObject = {},
): BaseVerdict {
  return prepareBasePolicy({ name: "p", ...policy }).evaluate("tool", {
    context,
    input: context,
    facts,
    system: {},
  });
}

const condition = (expression: string, name = "c"): { name: string; expression: string } => ({
  name,
  expression,
});

describe("the identity of a policy", () => {
  it("is its name, its version and the hash of all that is written", () => {
    const policy = { name: "p", version: "1.2.3", deny_reason: "no", conditions: [condition("true")] };
    const hash = createHash("sha256")
      .update(canonicalize(policy) ?? "")
      .digest("hex");
    expect(identityOf(policy)).toEqual({ name: "p", version: "1.2.3", hash });
  });

  it("has the version 0.0.0 if none is written", () => {
    expect(identityOf({ name: "p" }).version).toBe("0.0.0");
  });

  it("is another one as soon as anything differs", () => {
    const hashes = [
      { name: "p" },
      { name: "p", version: "1.0.0" },
      { name: "p", deny_reason: "no" },
      { name: "p", overrides: ["q"] },
    ].map((policy) => identityOf(policy).hash);
    expect(new Set(hashes).size).toBe(4);
  });
});

describe("a base policy", () => {
  it("allows if it asks for nothing", () => {
    expect(ask({})).toMatchObject({
      allows: true,
      reason: undefined,
      conditions: [],
      counted: [],
    });
  });

  it("allows if all its conditions hold, with its reason if it has one", () => {
    const conditions = [condition("x > 1"), condition("x < 3", "d")];
    expect(ask({ conditions, reason: "x is {{ x }}" }, { x: 2 })).toMatchObject({
      allows: true,
      reason: "x is 2",
      conditions: [
        { name: "c", expression: "x > 1", result: true },
        { name: "d", expression: "x < 3", result: true },
      ],
    });
  });

  it("denies if one does not hold, and still asks the others", () => {
    const conditions = [condition("x > 1"), condition("x < 3", "d"), condition("x == 5", "e")];
    expect(ask({ conditions }, { x: 5 })).toMatchObject({
      allows: false,
      reason: "`d` does not hold: x < 3",
      conditions: [{ result: true }, { result: false }, { result: true }],
    });
  });

  it.each([
    ["its own words", { deny_reason: "not {{ x }}" }, "not 1"],
    ["the condition that does not hold", {}, "`c` does not hold: x == 2"],
    [
      "the condition that could not be evaluated",
      { conditions: [condition("y == 2")] },
      "`c` could not be evaluated: `y` is missing",
    ],
    [
      "the condition that is neither true nor false",
      { conditions: [condition("x + 1")] },
      "`c` could not be evaluated: a condition must be true or false, this one is a number",
    ],
    [
      "what happened in the session",
      { conditions: [condition("true")], requires: ["login"] },
      "`login` must succeed in the session first",
    ],
    [
      "the condition rather than what happened in the session",
      { requires: ["login"] },
      "`c` does not hold: x == 2",
    ],
  ])("has the reason of the denial in %s", (_words, policy, reason) => {
    const facts = { succeeded: { login: 0 } };
    expect(ask({ conditions: [condition("x == 2")], ...policy }, { x: 1 }, facts)).toMatchObject({
      allows: false,
      reason,
    });
  });

  it("denies if a condition cannot be evaluated, and keeps the error", () => {
    expect(ask({ conditions: [condition("y.z")] })).toMatchObject({
      allows: false,
      conditions: [{ result: false, error: "`y.z` is missing" }],
    });
  });

  it("has the results of its limits, and denies beyond them", () => {
    const max_calls = { count: 1, per: "session" };
    const max_sum = { of: "x", most: 5, per: "session" } as const;
    const within = ask({ max_calls, max_sum }, { x: 2 }, { calls: { p: 0 }, sums: { p: 3 } });
    expect(within).toMatchObject({
      allows: true,
      counted: [
        { name: "max_calls", owner: "p", limited: true },
        { name: "max_sum", owner: "p", limited: true, amount: 2_000_000 },
      ],
      lineage: [
        { name: "max_calls", inputs_used: ["facts.calls.p"] },
        { name: "max_sum", inputs_used: ["x", "facts.sums.p"] },
      ],
    });
    const beyond = ask({ max_calls, max_sum }, { x: 2 }, { calls: { p: 1 }, sums: { p: 4 } });
    expect(beyond).toMatchObject({
      allows: false,
      reason: "1 of 1 calls were made in the session",
      counted: [{ limited: false }, { limited: false, amount: 2_000_000 }],
    });
  });

  it("shows the built-in conditions like its own, with their errors", () => {
    const { conditions } = ask(
      { requires: ["login"], max_calls: { count: 1, per: "session" } },
      {},
      {
        succeeded: { login: 1 },
      },
    );
    expect(conditions).toEqual([
      { name: "requires", expression: "`login` has succeeded in the session", result: true },
      {
        name: "max_calls",
        expression: "fewer than 1 calls in the session",
        result: false,
        error: "there is no recorded session",
      },
    ]);
  });

  it("reads what its conditions and its reasons read", () => {
    const policy = { conditions: [condition("a.b == c")], reason: "{{ d }}", deny_reason: "{{ e.f }}" };
    expect(prepareBasePolicy({ name: "p", ...policy }).reads).toEqual(["a.b", "c", "d", "e.f"]);
  });
});
