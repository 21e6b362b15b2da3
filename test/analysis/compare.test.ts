import { describe, expect, it } from "vitest";
import { compareDefinitions } from "../../src/analysis/compare.js";
import type { Definition } from "../../src/model/definition.js";

const definition = (fields: object): Definition => ({ id: "d", ...fields }) as unknown as Definition;

const weighted = (input: string): Definition =>
  definition({
    type: "weighted",
    input,
    salt: "s",
    cases: [
      { target: "a", weight: 60 },
      { target: "b", weight: 40 },
    ],
    default: { target: "c" },
  });

const when = (condition: string): Definition =>
  definition({ type: "switch", cases: [{ condition, target: "p" }], default: { target: "zz" } });

const gate = (action: object): Definition =>
  definition({ type: "gate", action, rules: [{ id: "r", tier: "T1", when: "true", status: "RED" }] });

describe("the comparison of two definitions", () => {
  it("notices that a draw depends on another input", () => {
    const compared = compareDefinitions(weighted("{{ u }}"), weighted("{{ v }}"));
    expect(compared).toMatchObject({
      result: "different",
      not_compared: [],
      differences: [
        { region: "u is present and v is present" },
        { region: "u is present and v is missing", to: "default" },
        { region: "u is missing and v is present", from: "default" },
      ],
    });
    expect(compareDefinitions(weighted("{{ u }}"), weighted("{{u}}"))).toMatchObject({
      result: "equivalent",
    });
  });

  it("notices that a table that collects needs another input", () => {
    const table = (input: string): Definition =>
      definition({
        type: "rule_table",
        hit_policy: "collect",
        input,
        rules: [{ condition: "a > 1", target: "p" }],
        default: { target: "zz" },
      });
    const compared = compareDefinitions(table("{{ u }}"), table("{{ v }}"));
    expect(compared).toMatchObject({ result: "different", not_compared: [] });
  });

  it.each([
    { before: "contains(o, 'a')", after: "contains(o, 'b')", inputs: [{ o: "a" }, { o: "b" }] },
    { before: "length(o) > 2", after: "length(o) < 2", inputs: undefined },
    { before: "o.k % 2 == 0", after: "length(o) < 2", inputs: undefined },
  ])("shows only inputs that are in their region: $before, $after", ({ before, after, inputs }) => {
    const compared = compareDefinitions(when(before), when(after));
    const differences = compared.result === "different" ? compared.differences : [];
    for (const { from, to, region } of differences) {
      const isFirst = region.startsWith(`\`${before}\` is true`);
      expect([from, to], region).toEqual(isFirst ? ["p", "default"] : ["default", "p"]);
    }
    expect(new Set(differences.map(({ from }) => from)).size).toBe(
      compared.result === "different" && compared.not_compared.length === 0 ? 2 : 1,
    );
    if (inputs !== undefined) expect(differences.map(({ input }) => input)).toEqual(inputs);
  });

  it("does not call gates for different actions equivalent", () => {
    const action = { org: "a", domain: "b", name: "c" };
    for (const other of [
      { ...action, name: "d" },
      { ...action, world_model_version: 7 },
    ]) {
      expect(compareDefinitions(gate(action), gate(other))).toEqual({
        result: "unknown",
        not_compared: [{ part: "`action`", reason: "the action is not part of the context" }],
      });
    }
  });
});
