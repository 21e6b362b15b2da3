import { describe, expect, it } from "vitest";
import type { Case } from "../../src/model/definition.js";
import { prepareBranches } from "../../src/evaluate/branch.js";
import { decideOn, switchOn, tableOf } from "./definitions.js";

const labels = (...cases: readonly Case[]): readonly string[] =>
  prepareBranches(cases.map((each) => ({ condition: "true", ...each }))).map((branch) => branch.label);

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
