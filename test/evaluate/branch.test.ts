import { describe, expect, it } from "vitest";
import type { Case } from "../../src/model/definition.js";
import { labelsOf } from "../../src/definition/branches.js";
import { decideOn, switchOn, tableOf } from "./definitions.js";

const labels = (...cases: readonly Case[]): readonly string[] => labelsOf(cases);

describe("a case without a label", () => {
  it("is named after its target", () => {
    expect(labels({ target: "stage-a" }, { target: "stage-b" })).toEqual(["stage-a", "stage-b"]);
  });

  it("is numbered from the second on if targets repeat", () => {
    expect(labels({ target: "a" }, { target: "b" }, { target: "a" }, { target: "a" })).toEqual([
      "a",
      "b",
      "a#2",
      "a#3",
    ]);
  });

  it("gives way to a label that is written, wherever that stands", () => {
    expect(labels({ target: "a" }, { target: "b", label: "a" }, { target: "a", label: "a#2" })).toEqual([
      "a#3",
      "a",
      "a#2",
    ]);
  });

  it("has its position in its label if it has no target either", () => {
    const outputs = [{ output: 1 }, { target: "a" }, { output: 2 }];
    expect(labels(...outputs)).toEqual(["rule-1", "a", "rule-3"]);
  });

  it("keeps that label unique among written labels and targets", () => {
    expect(
      labels({ output: 1 }, { output: 2 }, { target: "rule-1" }, { target: "b", label: "rule-2" }),
    ).toEqual(["rule-1#2", "rule-2#2", "rule-1", "rule-2"]);
    expect(labels({ output: 1 }, { target: "rule-1" }, { target: "rule-1" })).toEqual([
      "rule-1#2",
      "rule-1",
      "rule-1#3",
    ]);
  });

  it("is not called like the default route", () => {
    expect(labels({ target: "default" })).toEqual(["default#2"]);
  });

  it("is listed in the details under the name it was given", () => {
    const cases = [
      { condition: "false", target: "stage-a" },
      { condition: "true", target: "stage-a" },
    ];
    expect(decideOn(switchOn(cases))).toMatchObject({
      selected_targets: ["stage-a"],
      selected_labels: ["stage-a#2"],
      evaluation_details: { "stage-a": { result: false }, "stage-a#2": { result: true } },
    });
  });

  it.each([
    ["switch", switchOn([{ condition: "true", target: "__proto__" }])],
    ["rule_table", tableOf([{ condition: "true", target: "__proto__" }])],
  ])("keeps its details whatever its target is called, in a %s", (_type, definition) => {
    const { evaluation_details, selected_labels } = decideOn(definition);
    expect(Object.keys(evaluation_details)).toEqual(selected_labels);
  });
});
