import { describe, expect, it } from "vitest";
import { prepareSuppression } from "../../../src/evaluate/gate/aggregation.js";
import type { GateRule } from "../../../src/model/definition.js";
import { rule } from "./gates.js";

/** Written as `a > b c`: a suppresses b and c; a capital letter stands for a T1 rule. */
function ruleFrom(text: string): GateRule {
  const [id = "", names = ""] = text.split(" > ");
  const tier = id === id.toUpperCase() ? "T1" : "T2";
  return rule(id, { tier, ...(names !== "" && { suppresses: names.split(" ") }) });
}

function suppressedBy(written: readonly string[], matched: string): readonly string[] {
  const rules = written.map(ruleFrom);
  const matches = [...rules.keys()].filter((place) => matched.includes(rules[place]?.id ?? ""));
  const suppressed = prepareSuppression(rules)(matches);
  return [...suppressed]
    .map(([place, by]) => `${String(rules[place]?.id)} by ${String(rules[by]?.id)}`)
    .sort();
}

describe("a rule", () => {
  it.each<[string, readonly string[], string, readonly string[]]>([
    ["is suppressed by one that matched and names it", ["a > b", "b"], "ab", ["b by a"]],
    ["is not suppressed by one that did not match", ["a > b", "b"], "b", []],
    ["is not listed as suppressed when it did not match", ["a > b", "b"], "a", []],
    ["is not listed as suppressed when only others matched", ["a > b", "b", "c"], "ac", []],
    ["is suppressed by one of lower severity too", ["b", "a > b"], "ab", ["b by a"]],
    ["stands when who names it is suppressed", ["a > b", "b > c", "c"], "abc", ["b by a"]],
    [
      "is suppressed when who suppresses who names it is not there",
      ["a > b", "b > c", "c"],
      "bc",
      ["c by b"],
    ],
    ["is suppressed along a longer chain", ["d", "c > d", "b > c", "a > b"], "abcd", ["b by a", "d by c"]],
    ["is suppressed by the first of several", ["x", "a > x", "b > x"], "abx", ["x by a"]],
    [
      "is suppressed by the first that stands",
      ["x", "a > x", "b > x", "c > a"],
      "abcx",
      ["a by c", "x by b"],
    ],
    ["of T1 is never suppressed", ["a > B", "B > c", "c"], "aBc", ["c by B"]],
    ["does not suppress itself", ["a > a"], "a", []],
    ["that names nobody who is there changes nothing", ["a > z", "b"], "ab", []],
  ])("%s", (_clause, rules, matched, expected) => {
    expect(suppressedBy(rules, matched)).toEqual(expected);
  });

  it("of a circle, which validation rejects, still has an answer", () => {
    expect(suppressedBy(["a > b", "b > a"], "ab")).toHaveLength(1);
  });
});
