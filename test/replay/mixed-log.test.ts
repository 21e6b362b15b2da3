import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { DecisionRecord } from "../../src/model/record.js";
import { changeLine } from "./changed-line.js";
import { reasons } from "./mixed-definitions.js";
import type { MixedStore } from "./mixed-store.js";
import { mixedStore, recordsOf, replayAll } from "./mixed-store.js";
import { isThorough } from "../thoroughness.js";

const lines = isThorough ? 10_500 : 7_500;
const unreplayable = 40;

let mixed: MixedStore;
let decided: readonly DecisionRecord[];

beforeAll(async () => {
  mixed = await mixedStore({ lines, unreplayable });
  decided = (await recordsOf(mixed)).flatMap((record) => (record.kind === "decision" ? record : []));
}, 60_000);

describe(`a log of ${lines.toLocaleString("en")} requests for decisions of all types`, () => {
  const facts = (name: string) => (record: DecisionRecord) => Object.hasOwn(record.facts, name);

  it.each<{ readonly name: string; readonly is: (record: DecisionRecord) => boolean }>([
    { name: "answers from the cache", is: ({ cached }) => cached },
    { name: "blocked ones", is: ({ blocked, type }) => blocked && type === "switch" },
    { name: "blocked votes", is: ({ blocked, type }) => blocked && type === "scored" },
    { name: "blocked calls", is: ({ blocked, type }) => blocked && type === "policy" },
    { name: "escalated ones", is: ({ escalated, type }) => escalated && type === "switch" },
    { name: "escalated gates", is: ({ escalated, type }) => escalated && type === "gate" },
    { name: "gates with errors", is: ({ type, warnings }) => type === "gate" && warnings.length > 0 },
    { name: "distributions", is: facts("distribution") },
    { name: "what succeeded in a session", is: facts("succeeded") },
    { name: "what was read in a session", is: facts("read") },
    { name: "counted calls", is: facts("calls") },
    { name: "sums", is: facts("sums") },
    { name: "uses of overrides", is: facts("uses") },
    { name: "params that another decision set", is: facts("set_params") },
    { name: "params that cannot be changed", is: facts("fixed_params") },
    {
      name: "changed params that were allowed",
      is: (record) => facts("recheck")(record) && record.selected_labels[0] === "allowed_by_exception",
    },
    {
      name: "changed params that were denied",
      is: (record) => facts("recheck")(record) && record.selected_labels[0] === "denied",
    },
    { name: "calls without a policy", is: ({ decision_id }) => decision_id === "none" },
    {
      name: "calls allowed by an override",
      is: ({ selected_labels: [label] }) => label === "allowed_by_exception",
    },
    {
      name: "writing after reading",
      is: ({ facts: { read }, selected_labels: [label] }) => read !== undefined && label === "allowed",
    },
    { name: "several labels", is: ({ selected_labels }) => selected_labels.length > 1 },
    { name: "combined outputs", is: ({ aggregate }) => (aggregate?.of.length ?? 0) > 1 },
    { name: "outputs of gates", is: ({ type, outputs }) => type === "gate" && outputs?.[0] !== undefined },
    { name: "masked outputs", is: ({ outputs }) => JSON.stringify(outputs ?? []).includes('"[masked]"') },
    { name: "blocked outputs", is: ({ proposed_outputs: outputs }) => outputs?.[0] !== undefined },
    { name: "feedback", is: ({ feedback }) => feedback !== undefined },
    { name: "masked values", is: ({ context }) => JSON.stringify(context ?? {}).includes('"[masked]"') },
    { name: "no details", is: ({ evaluation_details }) => Object.keys(evaluation_details).length === 0 },
  ])("contains $name", ({ is }) => {
    expect(decided.filter(is).length).toBeGreaterThan(3);
  });

  it("is long, and of every type", () => {
    expect(decided.length).toBeGreaterThan(lines * 0.95);
    expect(new Set(decided.map(({ type }) => type)).size).toBe(7);
  });

  it("is reproduced by a replay, which lists what is not replayable", async () => {
    const { code, report, err } = await replayAll(mixed);
    expect(report).toMatchObject({ total: decided.length, mismatched: 0, mismatches: [] });
    expect(report.not_replayable).toBe(unreplayable);
    expect(report.matched).toBe(decided.length - unreplayable);
    expect(report.reasons.map(({ reason, count }) => [reason, count])).toEqual([
      ["it read masked values", 30],
      ["its inputs were not logged", 10],
    ]);
    const idOf = new Map(decided.map(({ record_id, decision_id }) => [record_id, decision_id]));
    for (const { reason, examples } of report.reasons) {
      expect(examples.map((id) => reasons[idOf.get(id) ?? ""])).toEqual(Array(5).fill(reason));
    }
    expect(err).toBe(
      "warning: 40 records could not be replayed: it read masked values (30); its inputs were not logged (10)\n",
    );
    expect(code).toBe(0);
  });

  it("is replayed without definition files, their cache and the index", async () => {
    rmSync(mixed.decisions, { recursive: true });
    rmSync(mixed.cacheHome, { recursive: true, force: true });
    rmSync(join(mixed.directory, "log/index"), { recursive: true });
    const { code, report } = await replayAll(mixed);
    expect({ code, matched: report.matched, mismatched: report.mismatched }).toEqual({
      code: 0,
      matched: decided.length - unreplayable,
      mismatched: 0,
    });
    expect(existsSync(join(dirname(mixed.decisions), "decisions"))).toBe(false);
  });

  it("reports the one record with a changed byte", async () => {
    const changed = decided[Math.trunc(decided.length * 0.7)];
    if (changed?.context === undefined) throw new Error("it has a context");
    changeLine(mixed.directory, changed.seq, (text) => {
      const at = text.lastIndexOf('"context":{"') + '"context":{"'.length;
      return `${text.slice(0, at)}X${text.slice(at + 1)}`;
    });
    const { code, report } = await replayAll(mixed);
    expect(code).toBe(6);
    expect(report.matched).toBe(decided.length - unreplayable - 1);
    expect(report.mismatches.map(({ seq, record_id }) => ({ seq, record_id }))).toEqual([
      { seq: changed.seq, record_id: changed.record_id },
    ]);
  });
});
