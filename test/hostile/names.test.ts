import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../acceptance/command.js";
import { attack, refused } from "./attack.js";

const inherited = ["__proto__", "constructor", "toString", "hasOwnProperty"];
const ids = [...inherited.slice(0, 2), "-", "--", ".", "..", "1", "a".repeat(128)];
const folder = temporaryDirectory();
writeFileSync(
  join(folder, "names.yaml"),
  [
    ...ids.map(
      (id) =>
        `decision: {id: "${id}", type: switch, cases: [{condition: a == 1, target: hit}], default: {target: miss}}\n`,
    ),
    ...inherited.map(
      (name) =>
        `decision: {id: to-${name}, type: rule_table, hit_policy: collect, rules: [{condition: a == 1, target: ${name}}, {condition: "true", target: ${name}}], default: {target: ${name}}}\n`,
    ),
    ...inherited.map(
      (name) =>
        `decision: {id: roll-${name}, type: weighted, input: a, cases: [{weight: 1, target: ${name}, condition: "true"}], default: {target: miss}}\n`,
    ),
  ].join("---\n"),
);

const evaluate = (id: string): readonly string[] => [
  "decision",
  "evaluate",
  "--decisions",
  ".",
  "--input",
  '{"a": 1}',
  "--",
  id,
];

interface Result {
  readonly selected_labels: readonly string[];
  readonly evaluation_details: Readonly<Record<string, unknown>>;
}

describe("a name out of the ordinary", () => {
  it.each(ids)("may be the id of a decision: %s", async (id) => {
    const { stdout } = await attack(evaluate(id), { cwd: folder, exitCode: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ decision_id: id, selected_targets: ["hit"] });
  });

  it.each(inherited)("may be a target, and what came of its conditions is told: %s", async (name) => {
    const { stdout } = await attack(evaluate(`to-${name}`), { cwd: folder, exitCode: 0 });
    const { selected_labels, evaluation_details } = JSON.parse(stdout) as Result;
    expect(selected_labels).toHaveLength(2);
    expect(Object.keys(evaluation_details)).toEqual(selected_labels);
  });

  it.each(inherited)("may be rolled for, and what came of its condition is told: %s", async (name) => {
    const { stdout } = await attack(evaluate(`roll-${name}`), { cwd: folder, exitCode: 0 });
    const { selected_labels, evaluation_details } = JSON.parse(stdout) as Result;
    expect(Object.keys(evaluation_details["conditions"] as object)).toEqual(selected_labels);
    expect(Object.keys(evaluation_details["weights"] as object)).toEqual(selected_labels);
  });

  it.each([
    "",
    " ",
    "valueOf",
    "../names",
    "names.yaml",
    "x\u0007y",
    "\u001b[2J",
    "\u202ex",
    "é",
    "a".repeat(100_000),
  ])("that nothing has is not found: %j", async (id) => {
    await refused(evaluate(id), { cwd: folder, exitCode: 2 });
  });

  it.each([
    ["command", ["NAME"]],
    ["verb", ["decision", "NAME"]],
    ["topic", ["help", "NAME"]],
    ["shell", ["completion", "NAME"]],
    ["format", ["decision", "list", "--decisions", ".", "--format", "NAME"]],
    ["type", ["decision", "new", "NAME", "some-id"]],
    ["flag", ["decision", "list", "--NAME"]],
  ])("is no %s", async (_what, words) => {
    for (const name of ["__proto__", "constructor"]) {
      const args = words.map((word) => word.replace("NAME", name));
      await refused(args, { cwd: folder, exitCode: 2 });
    }
  });
});
