import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { DecisionRecord } from "../../src/model/record.js";
import type { Result } from "../../src/model/result.js";
import type { Ran } from "./workspace.js";
import { workplace } from "./workspace.js";

const { decisions, store, ...place } = workplace();

const definitions = `decision:
  id: triage
  type: switch
  input: "{{ kind }}"
  cases:
    - { condition: "input == 'code'", target: quality, label: Code }
    - { condition: "input == 'quiet'", target: unlogged, label: Quiet }
    - { condition: "input == 'loop'", target: loop-a, label: Loop }
    - { condition: "input == 'self'", target: triage, label: Self }
    - { condition: "input == 'broken'", target: broken, label: Broken }
    - { condition: "input == 'guarded'", target: guarded, label: Guarded }
  default: { target: stage-other }
---
decision:
  id: quality
  type: binary
  input: "{{ score }}"
  cases:
    - { condition: "input >= 0.8", target: stage-deploy, label: Pass }
  default: { target: stage-rework }
---
decision:
  id: unlogged
  type: binary
  cases:
    - { condition: "true", target: quality }
  default: { target: stage-other }
  logging: { log_decision: false }
---
decision:
  id: guarded
  type: binary
  cases:
    - { condition: "true", target: stage-off }
  default: { target: stage-other }
  guardrails:
    - { type: no_disabled_targets, disabled_stages: [stage-off] }
---
decision: { id: loop-a, type: binary, cases: [{ condition: "true", target: loop-b }], default: { target: x } }
---
decision: { id: loop-b, type: binary, cases: [{ condition: "true", target: loop-a }], default: { target: x } }
---
decision:
  id: fan
  type: rule_table
  hit_policy: collect
  rules:
    - { condition: "true", target: quality }
    - { condition: "true", target: stage-log }
    - { condition: "score < 0.5", target: guarded }
  default: { target: stage-other }
`;

const evaluate = (id: string, context: object, ...flags: readonly string[]): Promise<Ran> =>
  place.run(["evaluate", id, "--follow", "--input", JSON.stringify(context), ...flags]);

async function records(): Promise<readonly DecisionRecord[]> {
  const { out } = await place.run(["log", "--format", "jsonl"]);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as DecisionRecord);
}

beforeEach(() => {
  rmSync(decisions, { recursive: true, force: true });
  rmSync(store, { recursive: true, force: true });
  mkdirSync(decisions);
  writeFileSync(join(decisions, "ways.yaml"), definitions);
  writeFileSync(join(decisions, "broken.yaml"), "decision: { id: broken, type: binary }\n");
});

describe("evaluate --follow", () => {
  it("makes and records every decision, each linked to the one before", async () => {
    const { code, out } = await evaluate("triage", { kind: "code", score: 0.9 });
    const result = JSON.parse(out) as Result;
    const [first, second, ...others] = await records();
    expect(code).toBe(0);
    expect(result).toMatchObject({
      decision_id: "quality",
      selected_targets: ["stage-deploy"],
      final_targets: ["stage-deploy"],
      followed: [
        { decision_id: "triage", record_id: first?.record_id, selected_labels: ["Code"] },
        { decision_id: "quality", record_id: second?.record_id, parent_record_id: first?.record_id },
      ],
    });
    expect([first?.decision_id, second?.decision_id, others.length]).toEqual(["triage", "quality", 0]);
    expect(first?.parent_record_id).toBeUndefined();
    expect(second?.parent_record_id).toBe(first?.record_id);
  });

  it("stops at a target that is not a decision", async () => {
    const { out } = await evaluate("triage", { kind: "other" });
    expect((JSON.parse(out) as Result).followed).toHaveLength(1);
    expect(await records()).toHaveLength(1);
  });

  it("gives a script the last target alone", async () => {
    const { out } = await evaluate("triage", { kind: "code", score: 0.1 }, "--format", "target");
    expect(out).toBe("stage-rework\n");
  });

  it("shows the path in a table", async () => {
    const { out } = await evaluate("triage", { kind: "code", score: 0.9 }, "--format", "table");
    expect(out).toContain("followed  triage (Code)");
  });

  it("links to the last recorded decision", async () => {
    const { out } = await evaluate("triage", { kind: "quiet", score: 0.9 });
    const [first, second] = await records();
    expect((JSON.parse(out) as Result).followed).toHaveLength(3);
    expect(second?.parent_record_id).toBe(first?.record_id);
  });

  it.each([
    { kind: "loop", way: "triage → loop-a → loop-b → loop-a", made: 3 },
    { kind: "self", way: "triage → triage", made: 1 },
  ])("stops in a circle: $way", async ({ kind, way, made }) => {
    const { code, out, err } = await evaluate("triage", { kind });
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toContain(`leads to a cycle of decisions: ${way}`);
    expect(await records()).toHaveLength(made);
  });

  it("stops if the path is too long", async () => {
    const chain = Array.from(
      { length: 40 },
      (_, index) =>
        `decision: { id: d${index}, type: binary, cases: [{ condition: "true", target: d${index + 1} }], default: { target: x } }`,
    );
    writeFileSync(join(decisions, "ways.yaml"), chain.join("\n---\n"));
    const { code, err } = await evaluate("d0", {});
    expect(code).toBe(1);
    expect(err).toContain("leads to more than 32 decisions");
    expect(await records()).toHaveLength(32);
  });

  it("reports an invalid definition that a target leads to", async () => {
    const { code, err } = await evaluate("triage", { kind: "broken" });
    expect(code).toBe(3);
    expect(err).toContain("the definition of `broken` is not valid");
  });

  it("ends with exit code 4 if a guardrail blocks", async () => {
    const { code, out } = await evaluate("triage", { kind: "guarded" });
    expect(code).toBe(4);
    expect(JSON.parse(out)).toMatchObject({ decision_id: "guarded", blocked: true, final_targets: [] });
  });

  it("follows each of several decisions, and answers with what went worst", async () => {
    const good = await evaluate("fan", { score: 0.9 }, "--format", "target");
    const bad = await evaluate("fan", { score: 0.1 });
    expect(good.out).toBe("stage-log stage-deploy\n");
    expect(bad.code).toBe(4);
    expect(JSON.parse(bad.out)).toMatchObject({
      decision_id: "guarded",
      final_targets: [],
    });
  });

  it("keeps nothing in a dry run", async () => {
    const context = JSON.stringify({ kind: "code", score: 0.9 });
    const { out } = await place.run(["dry-run", "triage", "--follow", "--input", context]);
    expect(JSON.parse(out)).toMatchObject({ decision_id: "quality", dry_run: true });
    expect(await records()).toHaveLength(0);
  });

  it("follows each line of --inputs", async () => {
    const stdin = '{"kind":"code","score":1}\n{"kind":"self"}\n{"kind":"x"}\n';
    const { code, out } = await place.run(["evaluate", "triage", "--follow", "--inputs", "-"], { stdin });
    const answers = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { final_targets?: readonly string[]; error?: object });
    expect(code).toBe(1);
    expect(answers.map((each) => each.final_targets)).toEqual([["stage-deploy"], undefined, ["stage-other"]]);
    expect(answers[1]?.error).toMatchObject({ code: "decision_cycle" });
  });
});
