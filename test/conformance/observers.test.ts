import { describe, expect, it } from "vitest";
import { decide } from "../../src/decide/decide.js";
import type { JsonObject } from "../../src/model/json.js";
import type { AssessmentRecord, AuthenticatedCaller } from "../../src/model/record.js";
import type { Ledger } from "../../src/model/store.js";
import { Records } from "../../src/record/records.js";
import type { Deciding } from "../decide/deciding.js";
import { deciding } from "../decide/deciding.js";
import { noon } from "../store/entries.js";

const decision = {
  decision: {
    id: "d",
    type: "binary",
    entities: [{ type: "c", id: "{{ c }}" }],
    cases: [{ label: "High", condition: "n > 10", target: "up" }],
    default: { target: "down" },
  },
};

const observing = (...observers: readonly object[]): object => ({
  observers: observers.map((each) => ({ type: "precedent_consistency", ...each })),
});

async function assessments(place: Deciding): Promise<readonly AssessmentRecord[]> {
  const found: AssessmentRecord[] = [];
  for await (const { record } of place.world.records.log.select({ kind: "assessment" }))
    if (record.kind === "assessment") found.push(record);
  return found;
}

/** Decides about these values of `n` in a session, one after the other. */
async function run(place: Deciding, values: readonly number[], session_id = "s"): Promise<void> {
  for (const n of values) await place.decide("d", { c: "1", n }, { session_id });
}

const caller = (org_id: string): AuthenticatedCaller => ({
  subject: "u",
  issuer: "i",
  org_id,
  scopes: [],
  delegated: false,
  actors: [],
});

describe("observers", () => {
  it("ObserverTrigger(every_n_calls=5): a deviation is recorded after the fifth decision of the session", async () => {
    const place = deciding(decision, observing({}));
    await run(place, [12, 12, 12, 1]);
    expect(await assessments(place)).toEqual([]);
    await run(place, [12]);
    const last = await place.newest();
    expect(await assessments(place)).toEqual([
      expect.objectContaining({
        kind: "assessment",
        seq: 6,
        observer: "precedent_consistency",
        severity: "caution",
        summary: "2 of 5 decisions deviated from precedent",
        decisions: 5,
        session_id: "s",
        parent_record_id: last.record_id,
        suggestions: [expect.any(String), expect.any(String)],
      }),
    ]);
    const [{ deviations } = { deviations: [] }] = await assessments(place);
    expect(deviations.map(({ explanation }) => explanation)).toEqual([
      "`High` now, `default` before",
      "`default` now, `High` before",
      "`default` now, `High` before",
      "`default` now, `High` before",
    ]);
  });

  it("None where nothing deviates: nothing is recorded, unless `on` is `info`", async () => {
    const silent = deciding(decision, observing({ every: 2 }));
    await run(silent, [12, 13, 14, 15]);
    expect(await assessments(silent)).toEqual([]);
    const told = deciding(decision, observing({ every: 2, on: "info" }));
    await run(told, [12, 13, 14, 15]);
    expect(
      (await assessments(told)).map(({ severity, decisions, seq }) => [severity, decisions, seq]),
    ).toEqual([
      ["info", 2, 3],
      ["info", 4, 6],
    ]);
  });

  it("assess the last 10 decisions of the session, or as many as `last` says", async () => {
    const place = deciding(
      decision,
      observing({ every: 12, on: "info" }, { every: 12, last: 3, on: "info" }),
    );
    await run(place, Array<number>(12).fill(12));
    expect((await assessments(place)).map(({ decisions }) => decisions)).toEqual([10, 3]);
  });

  it("count each session by itself, and no decision without one", async () => {
    const place = deciding(decision, observing({ every: 2, on: "info" }));
    await run(place, [12], "a");
    await run(place, [12], "b");
    await place.decide("d", { c: "1", n: 12 });
    expect(await assessments(place)).toEqual([]);
    await run(place, [12], "a");
    expect((await assessments(place)).map(({ session_id, decisions }) => [session_id, decisions])).toEqual([
      ["a", 2],
    ]);
  });

  it("count what is recorded: neither a dry run nor a decision that is not logged", async () => {
    const unlogged = { decision: { ...decision.decision, id: "u", logging: { log_decision: false } } };
    const place = deciding(decision, unlogged, observing({ every: 1, on: "info" }));
    await place.decide("d", { c: "1", n: 12 }, { session_id: "s", dry_run: true });
    await place.decide("u", { c: "1", n: 12 }, { session_id: "s" });
    expect(await place.world.records.log.state()).toMatchObject({ size: 0 });
    await run(place, [12]);
    expect(await assessments(place)).toHaveLength(1);
  });

  it("run once where a call makes several decisions, also if it is denied", async () => {
    const policy = (id: string, expression: string): object => ({
      decision: {
        id,
        type: "policy",
        tool: "t",
        policies: [{ name: id, conditions: [{ name: id, expression }] }],
      },
    });
    const place = deciding(
      policy("p", "true"),
      policy("q", "params.n > 10"),
      observing({ every: 3, on: "info" }),
    );
    for (const n of [1, 12, 1]) await place.check("t", { n });
    expect((await assessments(place)).map(({ seq, decisions }) => [seq, decisions])).toEqual([
      [5, 4],
      [8, 6],
    ]);
  });

  it("run once for every N-th decision, however many are made at the same time", async () => {
    const place = deciding(decision, observing({ every: 3, on: "info" }));
    const values = Array.from({ length: 20 }, (_, n) => n);
    await Promise.all(values.map((n) => place.decide("d", { c: "1", n }, { session_id: "s" })));
    const found = await assessments(place);
    expect(found.map(({ decisions }) => decisions).sort((a, b) => a - b)).toEqual([3, 6, 9, 10, 10, 10]);
    const seqs = new Map((await place.records()).map(({ record_id, seq }) => [record_id, seq]));
    const after = found.map(({ parent_record_id }) => seqs.get(parent_record_id) ?? 0);
    expect(new Set(after).size).toBe(6);
  });

  it("are the same if two files declare them", async () => {
    const place = deciding(
      decision,
      observing({ every: 1, on: "info" }),
      observing({ every: 1, on: "info" }),
    );
    await run(place, [12]);
    expect(await assessments(place)).toHaveLength(1);
  });

  it("do not tell an organisation of the decisions of another", async () => {
    const place = deciding(decision, observing({ every: 1, on: "info" }));
    const decideFor = async (org: string, n: number): Promise<void> => {
      await place.decide("d", { c: "1", n }, { session_id: "s", caller: caller(org) });
    };
    await decideFor("a", 12);
    await decideFor("b", 1);
    await decideFor("a", 1);
    const found = await assessments(place);
    expect(found.map(({ org_id, decisions, deviations }) => [org_id, decisions, deviations.length])).toEqual([
      ["a", 1, 0],
      ["b", 1, 0],
      ["a", 2, 1],
    ]);
    const [first] = await place.records();
    expect(found[2]?.deviations[0]?.precedent_id).toBe(first?.record_id);
  });

  it("list the newest 100 deviations", async () => {
    const place = deciding(decision, observing({ every: 60, last: 100 }));
    await run(
      place,
      Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? 12 : 1)),
    );
    const [found] = await assessments(place);
    expect(found?.deviations).toHaveLength(100);
    expect(found?.deviations_omitted).toBeGreaterThan(0);
    expect(found?.summary).toBe("59 of 60 decisions deviated from precedent");
  });
});

describe("an observer that fails", () => {
  const withLog = (place: Deciding, changes: Partial<Ledger>, warnings: string[] = []): Records => {
    const { store: usual } = place.world.records;
    const store = { ...usual, log: { ...usual.log, ...changes } };
    const newNote = (): { record_id: string; timestamp: string } => ({ record_id: "note", timestamp: noon });
    return new Records(store, { newNote, onWarning: (message) => warnings.push(message) });
  };
  const request = (n: number): { decision_id: string; context: JsonObject; session_id: string } => ({
    decision_id: "d",
    context: { c: "1", n },
    session_id: "s",
  });

  it("does not fail the decision", async () => {
    const place = deciding(decision, observing({ every: 1, on: "info" }));
    const warnings: string[] = [];
    const related = (): never => {
      throw new Error("the index is gone");
    };
    const records = withLog(place, { related }, warnings);
    const result = await decide(request(12), { ...place.world, records });
    expect(result.selected_labels).toEqual(["High"]);
    expect(warnings).toEqual(["cannot assess session `s`: the index is gone"]);
    expect(await assessments(place)).toEqual([]);
  });

  it("is an error if its assessment cannot be written", async () => {
    const place = deciding(decision, observing({ every: 1, on: "info" }));
    const { log } = place.world.records;
    const records = withLog(place, {
      append: (...entries) =>
        entries[0].body.startsWith('"kind":"assessment"')
          ? Promise.reject(new Error("the disk is full"))
          : log.append(...entries),
    });
    await expect(decide(request(12), { ...place.world, records })).rejects.toThrow("the disk is full");
    expect(await place.records()).toHaveLength(1);
  });
});
