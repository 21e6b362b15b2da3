import { describe, expect, it } from "vitest";
import { compareWithPrecedents } from "../../src/decide/compare.js";
import { compareRecord } from "../../src/lineage/precedents.js";
import type { AuthenticatedCaller, DecisionRecord } from "../../src/model/record.js";
import type { Deciding } from "./deciding.js";
import { deciding } from "./deciding.js";

const binary = (more: object = {}): object => ({
  decision: {
    id: "d",
    type: "binary",
    entities: [{ type: "c", id: "{{ c }}" }],
    default: { target: "down" },
    cases: [{ label: "High", condition: "n > 10", target: "up" }],
    ...more,
  },
});

const policy = (id: string, expression: string, more: object = {}): object => ({
  decision: {
    id,
    type: "policy",
    tool: "t",
    entities: [{ type: "c", id: "{{ params.c }}" }],
    policies: [{ name: "p", conditions: [{ name: "asked", expression }] }],
    ...more,
  },
});

/** The numbers of the records that each record rests on; 0 for one that is not there. */
async function cited(place: Deciding): Promise<readonly (readonly number[])[]> {
  const records = await place.records();
  const seqOf = (id: string): number => records.find(({ record_id }) => record_id === id)?.seq ?? 0;
  return records.map(({ lineage }) => (lineage?.precedents ?? []).map(({ record_id }) => seqOf(record_id)));
}

const callerOf = (org_id?: string): { readonly caller: AuthenticatedCaller } => ({
  caller: {
    subject: "alice",
    issuer: "https://id.example",
    ...(org_id !== undefined && { org_id }),
    scopes: ["decide"],
    delegated: false,
    actors: [],
  },
});

describe("decisions of callers that are bound to an organisation", () => {
  it("rest on those of their organisation and of none; those of other callers on all", async () => {
    const place = deciding(binary());
    const orgs = ["acme", "globex", undefined, "globex", "acme", undefined];
    for (const org of orgs) await place.decide("d", { c: "1", n: 1 }, callerOf(org));
    expect(await cited(place)).toEqual([[], [], [2, 1], [3, 2], [3, 1], [5, 4, 3, 2, 1]]);
  });

  it("do not rest on those of other organisations that are not recorded yet", async () => {
    const place = deciding(binary());
    const orgs = ["acme", "globex", "acme", "globex"];
    await Promise.all(orgs.map((org) => place.decide("d", { c: "1", n: 1 }, callerOf(org))));
    expect(await cited(place)).toEqual([[], [], [1], [2]]);
  });

  it("are found, however many others there are between them", async () => {
    const place = deciding(binary());
    await place.decide("d", { c: "1", n: 1 }, callerOf("acme"));
    for (let times = 0; times < 450; times++)
      await place.decide("d", { c: "1", n: times }, callerOf("globex"));
    await place.decide("d", { c: "1", n: 1 }, callerOf("acme"));
    expect((await cited(place)).at(-1)).toEqual([1]);
  });

  it("rest on those of a gate of their organisation", async () => {
    const gate = {
      decision: {
        id: "g",
        type: "gate",
        entities: [{ type: "c", id: "{{ c }}" }],
        action: { org: "acme", domain: "d", name: "a" },
        rules: [{ id: "go", tier: "T3", severity: 1, when: "true", status: "GREEN" }],
      },
    };
    const place = deciding(gate);
    for (const org of [undefined, "acme"]) await place.decide("g", { c: "1" }, callerOf(org));
    expect(await cited(place)).toEqual([[], [1]]);
  });
});

describe("decisions of one moment", () => {
  it("rest on those before them, though none is recorded yet", async () => {
    const place = deciding(binary());
    await Promise.all([1, 2, 3].map((n) => place.decide("d", { c: "1", n })));
    expect(await cited(place)).toEqual([[], [1], [2, 1]]);
  });

  it("rest on what was recorded before too, the newest first", async () => {
    const place = deciding(binary());
    for (const n of [1, 2]) await place.decide("d", { c: "1", n });
    await Promise.all([3, 4].map((n) => place.decide("d", { c: "1", n })));
    expect(await cited(place)).toEqual([[], [1], [2, 1], [3, 2, 1]]);
  });

  it("are recorded in the order in which they know each other, however long each has to look", async () => {
    const place = deciding(binary({ entities: [{ type: "c", id: "{{ all }}" }] }));
    const { log } = place.world.records;
    const neighbours = log.neighbours.bind(log);
    // Whoever asks first is told last.
    let delay = 20;
    Object.assign(log, {
      neighbours: async (...asked: Parameters<typeof neighbours>) => {
        for (let ticks = delay--; ticks > 0; ticks--) await Promise.resolve();
        return neighbours(...asked);
      },
    });
    const all = [["a"], ["a", "b"], ["b"], ["a", "b"]];
    await Promise.all(all.map((each) => place.decide("d", { all: each, n: 1 })));
    const records = await place.records();
    expect(records.map(({ context }) => context?.["all"])).toEqual(all);
    for (const [index, before] of (await cited(place)).entries()) {
      expect(before.every((seq) => seq <= index)).toBe(true);
    }
  });

  it("never rest on one that is refused", async () => {
    const limited = policy("d", "params.fine", {
      policies: [
        { name: "p", conditions: [{ name: "asked", expression: "params.fine" }] },
        { name: "o", overrides: ["p"], max_applications: 1 },
      ],
    });
    const place = deciding(limited);
    const params = [false, false, false, true].map((fine) => ({ c: "1", fine }));
    await Promise.all(params.map((each) => place.decide("d", { tool: "t", params: each })));
    const labels = (await place.records()).map(({ selected_labels }) => selected_labels.join());
    expect(labels.toSorted()).toEqual(["allowed", "allowed_by_exception", "denied", "denied"]);
    expect((await cited(place)).flat()).not.toContain(0);
  });

  it("look no further back than 1,000, those that are about to be recorded included", async () => {
    const place = deciding(binary({ entities: [{ type: "c", id: "{{ all }}" }] }));
    await place.decide("d", { all: ["a", "b"], n: 1 });
    const others = Array.from({ length: 1000 }, () => place.decide("d", { all: ["a"], n: 1 }));
    const last = place.decide("d", { all: ["a", "b"], n: 1 });
    await Promise.all([...others, last]);
    expect(await place.precedents()).toEqual([]);
  });
});

describe("what was never recorded", () => {
  it("is no precedent where another decision on the same call fails", async () => {
    const place = deciding(policy("a", "true"), policy("b", "params.missing"));
    await expect(place.check("t", { c: "1" }, { strict: true })).rejects.toThrow("missing");
    const { decisions } = await place.check("t", { c: "1" });
    expect(decisions.map(({ lineage }) => lineage.precedents)).toEqual([[], []]);
  });

  it.each(["neighbours", "append"] as const)("is no precedent where the log fails to %s", async (method) => {
    const place = deciding(binary());
    const { log } = place.world.records;
    const kept = { ...log };
    Object.assign(log, { [method]: () => Promise.reject(new Error("no room")) });
    await expect(place.decide("d", { c: "1", n: 1 })).rejects.toThrow("no room");
    Object.assign(log, kept);
    await place.decide("d", { c: "1", n: 1 });
    expect(await cited(place)).toEqual([[]]);
  });

  it("is no precedent where its definition cannot be kept", async () => {
    const place = deciding(binary());
    const shelf = place.world.records.store.shelf("definitions");
    const put = shelf.put.bind(shelf);
    shelf.put = () => Promise.reject(new Error("no room"));
    await expect(place.decide("d", { c: "1", n: 1 })).rejects.toThrow("no room");
    shelf.put = put;
    await place.decide("d", { c: "1", n: 1 });
    expect(await cited(place)).toEqual([[]]);
  });

  it("is no precedent where it is not to be recorded, though it has some", async () => {
    const place = deciding(policy("d", "true"));
    await place.check("t", { c: "1" });
    const dry = await place.check("t", { c: "1" }, { dry_run: true });
    expect(dry.decisions[0]?.lineage.precedents).toHaveLength(1);
    const silent = place.redefine(policy("d", "true", { logging: { log_decision: false } }));
    const { decisions } = await silent.check("t", { c: "1" });
    expect(decisions[0]?.lineage.precedents).toHaveLength(1);
    await place.check("t", { c: "1" });
    expect(await cited(place)).toEqual([[], [1]]);
  });
});

describe("what a decision would be compared with", () => {
  const compared = async (place: Deciding, n: number): ReturnType<typeof compareWithPrecedents> =>
    compareWithPrecedents({ decision_id: "d", context: { c: "1", n } }, place.world);

  it("tells what it is about, what it reads and how it would come out", async () => {
    const place = deciding(binary({ version: "1.2.0" }));
    const earlier = await place.decide("d", { c: "1", n: 1 });
    expect(await compared(place, 12)).toEqual({
      decision_id: "d",
      type: "binary",
      outcome: "High",
      entities: [{ type: "c", id: "1" }],
      sources: ["n"],
      param_names: [],
      precedents: [
        {
          record_id: earlier.record_id,
          similarity: 1,
          match_reason: "same c:1; both read n",
          outcome_matched: false,
          outcome: "default",
          because: earlier.because,
          seq: 1,
          timestamp: earlier.timestamp,
          decision_version: "1.2.0",
        },
      ],
    });
  });

  it("keeps nothing and counts nothing", async () => {
    const place = deciding(
      policy("d", "false", {
        policies: [
          { name: "p", conditions: [{ name: "never", expression: "false" }] },
          { name: "o", overrides: ["p"], max_applications: 1 },
        ],
      }),
    );
    const request = { decision_id: "d", context: { tool: "t", params: { c: "1" } } };
    for (let times = 0; times < 3; times++) {
      expect(await compareWithPrecedents(request, place.world)).toMatchObject({
        outcome: "allowed_by_exception",
        precedents: [],
      });
    }
    expect(await place.records()).toEqual([]);
    expect((await place.check("t", { c: "1" })).outcome).toBe("allowed_by_exception");
  });

  it("shows no masked value", async () => {
    const place = deciding(binary({ logging: { mask: ["/c"] } }));
    expect(await compared(place, 1)).toMatchObject({ entities: [], precedents: [] });
  });
});

describe("a record and those before it", () => {
  const nth = async (place: Deciding, seq: number): Promise<DecisionRecord> => {
    const record = (await place.records()).find((each) => each.seq === seq);
    if (record === undefined) throw new Error("it is not there");
    return record;
  };

  it("is compared as it was when it was made", async () => {
    const place = deciding(binary());
    for (const n of [1, 12, 2, 13, 3]) await place.decide("d", { c: "1", n });
    for (const seq of [1, 2, 3, 4, 5]) {
      const record = await nth(place, seq);
      const { precedents } = await compareRecord(record, place.world.records.log, {});
      const noted = precedents.map(({ record_id, similarity, match_reason, outcome_matched }) => ({
        record_id,
        similarity,
        match_reason,
        outcome_matched,
      }));
      expect(noted).toEqual(record.lineage?.precedents);
    }
  });

  it("is compared with the 1,000 before it, however many came later", async () => {
    const place = deciding(binary());
    for (let n = 0; n < 1100; n++) await place.decide("d", { c: "1", n: 1 });
    const { log } = place.world.records;
    const [second, later] = [await nth(place, 2), await nth(place, 1050)];
    expect((await compareRecord(second, log, {})).precedents.map(({ seq }) => seq)).toEqual([1]);
    const all = (await compareRecord(later, log, { limit: 5000 })).precedents.map(({ seq }) => seq);
    expect([all.length, all[0], all.at(-1)]).toEqual([1000, 1049, 50]);
  });
});
