import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Distribution } from "../../src/record/distribution.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const id = "decision-ab-prompt-variant";

let place: Workplace;
beforeEach(() => {
  place = workplace();
});

/** Decides for the users from one number to another. */
function decideFor(from: number, to: number): Promise<Ran> {
  const lines = Array.from({ length: to - from }, (_, index) =>
    JSON.stringify({ request: { id: `user-${from + index}` } }),
  );
  return place.run(["evaluate", id, "--inputs", "-", "--durability", "fast"], { stdin: lines.join("\n") });
}

const distributionOf = async (...words: readonly string[]): Promise<Distribution> =>
  JSON.parse((await place.run(["distribution", id, ...words])).out) as Distribution;

const definitionFile = (): string => join(place.decisions, "prompt-ab-test.yaml");

function edit(from: string, to: string): void {
  const text = readFileSync(definitionFile(), "utf8");
  expect(text).toContain(from);
  writeFileSync(definitionFile(), text.replaceAll(from, to));
}

describe("a distribution", () => {
  it("counts each distinct input once", async () => {
    await decideFor(0, 40);
    await decideFor(0, 40);
    const { total, current_total, distinct_inputs, check } = await distributionOf();
    expect({ total, current_total, distinct_inputs, sample: check?.sample }).toEqual({
      total: 80,
      current_total: 80,
      distinct_inputs: 40,
      sample: 40,
    });
  });

  it("counts the inputs of the current definition", async () => {
    await decideFor(0, 40);
    edit("1.0.0", "1.0.1");
    await decideFor(0, 30);
    const { total, all_total, current_total, distinct_inputs } = await distributionOf();
    expect({ total, all_total, current_total, distinct_inputs }).toEqual({
      total: 30,
      all_total: 70,
      current_total: 30,
      distinct_inputs: 30,
    });
  });

  it("compares records with the weights that they were made with, before and after a change of weights", async () => {
    await decideFor(0, 600);
    edit("weight: 70", "weight: 10");
    edit("weight: 20", "weight: 80");
    await decideFor(0, 600);
    expect((await place.run(["distribution", id, "--check"])).code).toBe(0);
    const { branches, counts, check, other_definitions: others } = await distributionOf("--all-definitions");
    expect(branches.map(({ expected_share }) => expected_share)).toEqual([0.1, 0.8, 0.1]);
    expect(branches[1]?.share).toBeCloseTo(0.8, 1);
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(600);
    expect(check).toMatchObject({ sample: 600, mismatch: false });
    expect(others).toMatchObject([
      { total: 600, decision_version: "1.0.0", check: { sample: 600, mismatch: false } },
    ]);
    expect(others?.[0]?.branches[0]).toMatchObject({ expected_share: 0.7 });
    const hash = others?.[0]?.definition_hash ?? "";
    expect(await distributionOf("--hash", hash.slice(0, 8))).toMatchObject({
      definition_hash: hash,
      total: 600,
      check: { definition_hash: hash },
    });
  });

  it("shows the current definition by its hash before it has records", async () => {
    await decideFor(0, 3);
    edit("1.0.0", "1.0.1");
    const { definition_hash: hash } = await distributionOf();
    expect(await distributionOf("--hash", hash?.slice(0, 10) ?? "")).toMatchObject({ total: 0 });
  });

  it("counts by day and hour", async () => {
    await decideFor(0, 40);
    for (const [by, length] of [
      ["day", 10],
      ["hour", 17],
    ] as const) {
      const { periods = [] } = await distributionOf("--by", by);
      expect(periods.reduce((sum, { total }) => sum + total, 0)).toBe(40);
      expect(periods.every(({ period }) => period.length === length)).toBe(true);
    }
    const tampered = join(place.store, "log/index");
    const file = readdirSync(tampered).find((name) => name.startsWith("hours-")) ?? "";
    writeFileSync(
      join(tampered, file),
      readFileSync(join(tampered, file), "utf8").replace(/\d/, (digit) => `${(Number(digit) + 1) % 10}`),
    );
    expect((await place.run(["verify"])).out).toContain(file);
  });

  it.each([
    ["its file is gone", () => rmSync(definitionFile())],
    ["the directory of definitions is gone", () => rmSync(place.decisions, { recursive: true })],
  ])("goes by the last definition where %s", async (_name, remove) => {
    await decideFor(0, 40);
    const before = await distributionOf();
    remove();
    expect(await distributionOf()).toEqual(before);
    expect(before.branches.map(({ target }) => target)).toEqual([
      "stage-prompt-v1",
      "stage-prompt-v2",
      "stage-prompt-v3",
    ]);
  });

  it("rejects a missing directory of definitions", async () => {
    await decideFor(0, 1);
    const { code, out } = await place.run(["distribution", id, "--decisions", join(place.root, "nowhere")]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  it("rejects an id that is neither defined nor recorded", async () => {
    const { code, err } = await place.run(["distribution", "decision-ab-promt-variant"]);
    expect(code).toBe(2);
    expect(err).toContain(`did you mean \`${id}\`?`);
  });

  it("fails under --check if inputs are masked, unless --allow-empty is given", async () => {
    edit("include_evaluation: true", 'mask: ["/request/id"]');
    await decideFor(0, 400);
    const { code, err } = await place.run(["distribution", id, "--check"]);
    expect(code).toBe(6);
    expect(err).toContain("nothing to check: the inputs are masked, so distinct inputs cannot be counted");
    expect((await place.run(["distribution", id, "--check", "--allow-empty"])).code).toBe(0);
    expect(await distributionOf()).toMatchObject({ total: 400, distinct_inputs: null, check: null });
    const { out } = await place.run(["validate", "--format", "plain"]);
    expect(out).toContain("the input is masked");
  });

  it("exits with 6 under --check once the split is not what the weights say", async () => {
    await decideFor(0, 600);
    expect((await place.run(["distribution", id, "--check"])).code).toBe(0);
    const file = join(place.store, "log/000000000001.jsonl");
    writeFileSync(file, relabelled(readFileSync(file, "utf8")));
    expect((await place.run(["distribution", id, "--check"])).code).toBe(6);
  });

  it.each([
    [id, "there are no records of this definition"],
    ["decision-quality-gate", "only weighted decisions without conditions have expected shares"],
  ])("fails under --check if there is nothing to check: %s", async (name, reason) => {
    const words = ["distribution", name, "--check"];
    const { code, err } = await place.run(words);
    expect(code).toBe(6);
    expect(err).toBe(`error: nothing to check: ${reason}\nhint: add --allow-empty if that is expected\n`);
    expect(JSON.parse((await place.run([...words, "--json"])).err)).toMatchObject({
      error: { code: "nothing_to_check" },
    });
    expect(await place.run([...words, "--allow-empty"])).toMatchObject({ code: 0, err: "" });
  });

  it.each([
    [["--by", "week"], "unknown period `week`"],
    [["--hash", "x"], "is not a hash"],
    [["--check", "--watch"], "cannot be combined"],
    [["--watch"], "requires a terminal"],
    [["--since", "yesterday"], "is not a time"],
    [["--format", "target"], "target"],
  ])("refuses %j", async (words, message) => {
    await decideFor(0, 1);
    const { code, out, err } = await place.run(["distribution", id, ...words]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(err).toContain("hint:");
  });
});

/** Every answer as if it had been the first branch's. */
const relabelled = (log: string): string =>
  log.replaceAll(/"selected_labels":\["[^"]*"\]/g, '"selected_labels":["Control (v1)"]');
