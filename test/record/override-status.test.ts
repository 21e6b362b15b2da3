import { describe, expect, it } from "vitest";
import type { OverridePolicy, PolicyDefinition } from "../../src/model/definition.js";
import type { Lineage } from "../../src/model/lineage.js";
import type { Store } from "../../src/model/store.js";
import { overrideUseCounter } from "../../src/record/counters.js";
import type { OverrideStatus } from "../../src/record/override-status.js";
import { overrideStatuses } from "../../src/record/override-status.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { decided, noted } from "../store/entries.js";

const now = Date.parse("2026-03-02T12:00:00Z");

const definitionOf = (...overrides: readonly OverridePolicy[]): PolicyDefinition => ({
  id: "d",
  type: "policy",
  tool: "t",
  policies: [{ name: "p" }, ...overrides],
});

const override = (name: string, more: Partial<OverridePolicy> = {}): OverridePolicy => ({
  name,
  overrides: ["p"],
  ...more,
});

/** Records a call that these overrides let pass. */
async function use(store: Store, at: number, ...overrides: readonly string[]): Promise<string> {
  const timestamp = `2026-03-02T11:00:${String(at).padStart(2, "0")}.000000Z`;
  const policies = overrides.map((name) => ({ name: "p", override: name }));
  const lineage = { policies } as unknown as Lineage;
  const body = decided({ decision_id: "d", selected_labels: ["allowed_by_exception"], timestamp, lineage });
  const counts = overrides.map((policy) => overrideUseCounter({ decision: "d", policy }));
  await store.log.append({ body, counts: [...counts, { counter: "other", keep: 1, at }] });
  return /"record_id":"([^"]+)"/.exec(body)?.[1] ?? "";
}

const statusesOf = (
  definition: PolicyDefinition,
  store = openMemoryStore(),
  records = 20,
): Promise<readonly OverrideStatus[]> => overrideStatuses(definition, { log: store.log, now, records });

describe("the status of an override", () => {
  it("has its origin, its action and its uses", async () => {
    const written = override("o", {
      version: "2.0.0",
      action: "allow_with_warning",
      effective_from: "2026-01-01",
      expires_at: "2027-01-01",
      max_applications: 3,
    });
    const store = openMemoryStore();
    const id = await use(store, 5, "o");
    expect(await statusesOf(definitionOf(written), store)).toEqual([
      {
        decision_id: "d",
        name: "o",
        version: "2.0.0",
        overrides: ["p"],
        action: "allow_with_warning",
        status: "live",
        effective_from: "2026-01-01",
        expires_at: "2027-01-01",
        max_applications: 3,
        uses: 1,
        org_uses: 0,
        uses_left: 2,
        last_used: "2026-03-02T11:00:05.000000Z",
        records: [id],
      },
    ]);
  });

  it("has defaults where the override has only `overrides`", async () => {
    expect(await statusesOf(definitionOf(override("o")))).toEqual([
      {
        decision_id: "d",
        name: "o",
        version: "0.0.0",
        overrides: ["p"],
        action: "allow",
        status: "live",
        effective_from: null,
        expires_at: null,
        max_applications: null,
        uses: 0,
        org_uses: 0,
        uses_left: null,
        last_used: null,
        records: [],
      },
    ]);
  });

  it.each<[OverrideStatus["status"], string, Partial<OverridePolicy>]>([
    ["live", "without a window", {}],
    ["live", "from its first moment on", { effective_from: "2026-03-02T12:00:00Z" }],
    ["pending", "before its first moment", { effective_from: "2026-03-02T12:00:00.001Z" }],
    ["live", "until its last moment", { expires_at: "2026-03-02T12:00:00.001Z" }],
    ["expired", "from the moment it expires", { expires_at: "2026-03-02T12:00:00Z" }],
    ["used_up", "once all uses are taken", { max_applications: 1 }],
    ["live", "while a use is left", { max_applications: 2 }],
    ["expired", "rather than used up", { max_applications: 1, expires_at: "2026-01-01" }],
    ["used_up", "rather than pending", { max_applications: 1, effective_from: "2027-01-01" }],
  ])("is %s %s", async (status, _when, more) => {
    const store = openMemoryStore();
    await use(store, 1, "o");
    expect(await statusesOf(definitionOf(override("o", more)), store)).toMatchObject([{ status }]);
  });

  it("never has a negative number of uses left", async () => {
    const store = openMemoryStore();
    for (let at = 0; at < 3; at++) await use(store, at, "o");
    const [status] = await statusesOf(definitionOf(override("o", { max_applications: 1 })), store);
    expect(status).toMatchObject({ uses: 3, uses_left: 0 });
  });

  it("is listed for every override in the order of the file, and for no base policy", async () => {
    const names = (await statusesOf(definitionOf(override("o"), override("n")))).map(({ name }) => name);
    expect(names).toEqual(["o", "n"]);
    expect(await statusesOf({ id: "d", type: "policy", tool: "t" })).toEqual([]);
    expect(await statusesOf(definitionOf())).toEqual([]);
  });
});

describe("the records that used an override", () => {
  it("are listed newest first, up to the limit", async () => {
    const store = openMemoryStore();
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.unshift(await use(store, at, "o"));
    const [status] = await statusesOf(definitionOf(override("o")), store, 3);
    expect(status).toMatchObject({ uses: 5, last_used: "2026-03-02T11:00:04.000000Z" });
    expect(status?.records).toEqual(ids.slice(0, 3));
  });

  it("may be those of organisations, which do not use up the override for others", async () => {
    const store = openMemoryStore();
    const reference = { decision: "d", policy: "o" };
    const counts = [overrideUseCounter(reference, "org", "acme"), overrideUseCounter(reference, "orgs")];
    for (let count = 0; count < 2; count++)
      await store.log.append({
        body: decided({
          decision_id: "d",
          selected_labels: ["allowed_by_exception"],
          lineage: { policies: [{ name: "p", override: "o" }] } as unknown as Lineage,
        }),
        counts,
      });
    await use(store, 1, "o");
    const [status] = await statusesOf(definitionOf(override("o", { max_applications: 2 })), store);
    expect(status).toMatchObject({ status: "live", uses: 3, org_uses: 2, uses_left: 1 });
    expect(status?.records).toHaveLength(3);
  });

  it("are listed per override where several were applied", async () => {
    const store = openMemoryStore();
    const [first, both, last] = [
      await use(store, 1, "o"),
      await use(store, 2, "o", "n"),
      await use(store, 3, "n"),
    ];
    const statuses = await statusesOf(definitionOf(override("o"), override("n"), override("idle")), store);
    expect(statuses.map(({ name, records }) => [name, records])).toEqual([
      ["o", [both, first]],
      ["n", [last, both]],
      ["idle", []],
    ]);
  });

  it("belong to this decision", async () => {
    const store = openMemoryStore();
    const counts = [overrideUseCounter({ decision: "other", policy: "o" })];
    await store.log.append({
      body: decided({ decision_id: "other", selected_labels: ["allowed_by_exception"] }),
      counts,
    });
    expect(await statusesOf(definitionOf(override("o")), store)).toMatchObject([{ uses: 0, records: [] }]);
  });

  it("stay counted where they were pruned", async () => {
    const store = openMemoryStore();
    await use(store, 1, "o");
    await store.log.prune(await store.log.prunable({ keep: 0 }), noted);
    expect(await statusesOf(definitionOf(override("o")), store)).toMatchObject([
      { uses: 1, last_used: null, records: [] },
    ]);
  });

  it("are not those that were allowed without being counted", async () => {
    const store = openMemoryStore();
    await store.log.append({
      body: decided({ decision_id: "d", selected_labels: ["allowed_by_exception"] }),
    });
    const used = await use(store, 2, "o");
    expect((await statusesOf(definitionOf(override("o")), store))[0]?.records).toEqual([used]);
  });
});
