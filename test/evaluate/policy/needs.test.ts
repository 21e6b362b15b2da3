import { describe, expect, it } from "vitest";
import { prepareLimits } from "../../../src/evaluate/limits.js";
import { needsOf } from "../../../src/evaluate/policy/policy-facts.js";
import type { Policy } from "../../../src/model/definition.js";

describe("the facts that policies need", () => {
  it.each<[string, readonly Policy[]]>([
    ["nothing, where there is none", []],
    [
      "nothing, where they only ask for conditions",
      [{ name: "p", conditions: [{ name: "c", expression: "true" }] }],
    ],
  ])("is %s", (_claim, policies) => {
    expect(needsOf(policies, [])).toBeUndefined();
  });

  it("are those of all policies", () => {
    const limits = prepareLimits({ max_calls: { count: 2, per: "1h" } }, { owner: "p", masks: [] });
    const policies: readonly Policy[] = [
      { name: "p", requires: ["a", "b"], max_calls: { count: 2, per: "1h" } },
      {
        name: "q",
        requires: ["b", "c"],
        read_before_write: { read_tools: ["r"], write_tools: ["w"], path: "params.path" },
      },
      { name: "o", overrides: ["p"], max_applications: 3 },
      { name: "n", overrides: ["q"] },
    ];
    expect(needsOf(policies, limits)).toMatchObject({
      requires: ["a", "b", "c"],
      reads: [
        {
          policy: "q",
          read_tools: ["r"],
          write_tools: ["w"],
          path: { text: "params.path", reads: ["params.path"] },
        },
      ],
      limits: [{ name: "max_calls", owner: "p", most: 2, per: "session", window: 3_600_000_000 }],
      uses: [
        { override: "o", most: 3 },
        { override: "n", most: undefined },
      ],
    });
  });

  it("include the uses of every override", () => {
    expect(needsOf([{ name: "p" }, { name: "o", overrides: ["p"] }], [])?.uses).toHaveLength(1);
  });
});
