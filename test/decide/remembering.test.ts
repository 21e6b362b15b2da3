import { afterEach, describe, expect, it } from "vitest";
import type { DecisionRequest, World } from "../../src/decide/decide.js";
import { decide } from "../../src/decide/decide.js";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import type { Definition, FirstMatchDefinition } from "../../src/model/definition.js";
import type { Json } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { ShelfEntry, Store } from "../../src/model/store.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import { newRecordId } from "../../src/record/record-id.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";

const noon = "2026-03-02T12:00:00.000000Z";

const routed = {
  id: "routed",
  type: "switch",
  input: "{{ customer.email }}",
  cases: [{ condition: "input == 'eve@example.com'", target: "stage-eve", label: "Eve" }],
  default: { target: "stage-other" },
} as const satisfies Definition;

interface Place extends World {
  now: string;
  readonly store: Store;
  ask(request?: Partial<DecisionRequest>): ReturnType<typeof decide>;
  log(): Promise<readonly DecisionRecord[]>;
  /** Everything that was kept, as text. */
  kept(): Promise<string>;
}

/** What went wrong without touching a decision; a test that expects it takes it out. */
const troubles: string[] = [];
afterEach(() => expect(troubles.splice(0)).toEqual([]));

function place(definition: Definition): Place {
  const store = openMemoryStore();
  const loaded = {
    definition,
    definition_hash: sha256Hex(canonicalJson(definition as unknown as Json)),
    environment: {},
    environment_hash: sha256Hex("{}"),
    file: "decisions/under-test.yaml",
    line: 1,
  };
  const newNote = (): { record_id: string; timestamp: string } => ({ record_id: "note", timestamp: noon });
  const log = async (): Promise<readonly DecisionRecord[]> => {
    const records: DecisionRecord[] = [];
    for await (const { record } of store.log.select({ kind: "decision" }))
      records.push(record as DecisionRecord);
    return records;
  };
  const world: Place = {
    now: noon,
    store,
    definitions: { find: () => Promise.resolve(loaded) },
    clock: () => world.now,
    newId: (timestamp) => newRecordId(microsecondsOf(timestamp), Math.random),
    records: new Records(store, { newNote, onWarning: (message) => void troubles.push(message) }),
    ask: (request = {}) =>
      decide(
        { decision_id: definition.id, context: { customer: { email: "eve@example.com" } }, ...request },
        world,
      ),
    log,
    async kept() {
      const entries: unknown[] = [];
      for (const name of ["cache", "definitions", "environments"] as const)
        for await (const entry of store.shelf(name).entries()) entries.push(entry);
      return JSON.stringify([await log(), entries]);
    },
  };
  return world;
}

describe("a record", () => {
  it("is the result with where it came from and what it rested on", async () => {
    const world = place(routed);
    const result = await world.ask({ workflow_id: "w", stage_id: "s", session_id: "t", correlation_id: "c" });
    const [record] = await world.log();
    expect(record).toMatchObject({
      ...result,
      seq: 1,
      kind: "decision",
      workflow_id: "w",
      stage_id: "s",
      session_id: "t",
      correlation_id: "c",
      context: { customer: { email: "eve@example.com" } },
      facts: {},
    });
    expect(result.record_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("is not kept of a dry run, which has no id either", async () => {
    const world = place({ ...routed, cache: { enabled: true } });
    const result = await world.ask({ dry_run: true });
    expect(result).not.toHaveProperty("record_id");
    expect(await world.kept()).toBe("[[],[]]");
  });

  it("is not kept where logging is off", async () => {
    const world = place({ ...routed, logging: { log_decision: false } });
    expect(await world.ask()).not.toHaveProperty("record_id");
    expect(await world.log()).toEqual([]);
  });

  it("leaves the inputs out where they are not wanted", async () => {
    const world = place({ ...routed, logging: { include_inputs: false }, cache: { enabled: true } });
    const result = await world.ask();
    const [record] = await world.log();
    expect(result.input_value).toBe("eve@example.com");
    expect(record).not.toHaveProperty("input_value");
    expect(record).not.toHaveProperty("context");
    expect((await world.kept()).replaceAll("input == 'eve@example.com'", "")).not.toContain("eve@");
  });

  it("leaves the evaluation out where it is not wanted", async () => {
    const world = place({ ...routed, logging: { include_evaluation: false } });
    await world.ask();
    expect((await world.log())[0]?.evaluation_details).toEqual({});
  });

  it("comes with the definition that it used, by its hash", async () => {
    const world = place(routed);
    const { definition_hash } = await world.ask();
    expect((await world.store.shelf("definitions").get(definition_hash))?.value).toEqual(routed);
  });
});

describe("a masked value", () => {
  const secret = "mallory-4711@example.com";
  const definition = (more: Partial<FirstMatchDefinition> = {}): Definition => ({
    ...routed,
    cases: [{ condition: `starts_with(input, 'mallory')`, target: "stage-mallory", label: "Mallory" }],
    logging: { mask: ["/customer/email"] },
    cache: { enabled: true },
    ...more,
  });

  it.each([
    ["as the input itself", definition()],
    ["within an input made of it", definition({ input: "mail of {{ upper(customer.email) }}" })],
    ["within the whole context", definition({ input: "{{ context }}" })],
    [
      "in the message of a condition that failed on it",
      definition({
        cases: [{ condition: "abs(customer.email) > 1", target: "x", label: "X" }],
      }),
    ],
  ])("is found nowhere: %s", async (_where, masking) => {
    const world = place(masking);
    const result = await world.ask({ context: { customer: { email: secret, name: "M" } } });
    const everything = JSON.stringify(result) + (await world.kept());
    expect(everything.toLowerCase()).not.toContain("mallory-4711");
    expect((await world.log())[0]?.context).toEqual({ customer: { email: "[masked]", name: "M" } });
  });

  it("still decides", async () => {
    const result = await place(definition()).ask({ context: { customer: { email: secret } } });
    expect(result.selected_labels).toEqual(["Mallory"]);
  });

  it("is masked before anything is hashed, so it cannot be guessed from the hash", async () => {
    const ask = async (email: string): Promise<string> =>
      (await place(definition()).ask({ context: { customer: { email } } })).deterministic_hash;
    expect(await ask("mallory-1")).toBe(await ask("mallory-2"));
  });

  it("is never the key of a cached answer", async () => {
    const world = place(definition());
    await world.ask({ context: { customer: { email: "mallory" } } });
    const other = await world.ask({ context: { customer: { email: "eve" } } });
    expect(other).toMatchObject({ cached: false, selected_labels: ["default"] });
  });
});

describe("a cached answer", () => {
  const cached: Definition = { ...routed, cache: { enabled: true, ttl: "1h" } };
  const later = (microseconds: number): string => formatTimestamp(microsecondsOf(noon) + microseconds);
  const hour = 3_600_000_000;

  it("is the same answer, with an id and a time of its own", async () => {
    const world = place(cached);
    const first = await world.ask();
    world.now = later(1);
    const second = await world.ask();
    const { record_id, timestamp, ...rest } = second;
    expect(rest).toEqual({ ...without(first), cached: true });
    expect([record_id, timestamp]).not.toContain(first.record_id);
    expect(timestamp).toBe(later(1));
    expect((await world.log())[1]).toMatchObject({ cached: true, cached_from: first.record_id });
  });

  it.each([
    { name: "target", edit: (text: string) => text.replace("stage-eve", "stage-evil") },
    { name: "reason", edit: (text: string) => text.replaceAll("input == ", "input != ") },
    { name: "end", edit: (text: string) => text.replace(/("expires_at":\d+)/, "$10") },
    { name: "time", edit: (text: string) => text.replace(/("created_at":\d+)/, "$10") },
    { name: "record", edit: (text: string) => text.replace(/("record_id":")[0-9a-f]{4}/, "$1ffff") },
    // Like an answer that an earlier version has cached.
    { name: "place", edit: (text: string) => text.replace(/,"place":\{[^}]*\}/, ""), isSilent: true },
    {
      name: "whole",
      edit: (text: string) => text.replace(/"value":\{.*\}(?=\})/, '"value":null'),
      isSilent: true,
    },
  ])("is not used where its $name was edited", async ({ edit, isSilent = false }) => {
    const world = place(cached);
    const first = await world.ask();
    const shelf = world.store.shelf("cache");
    const entries: ShelfEntry[] = [];
    for await (const entry of shelf.entries())
      entries.push(JSON.parse(edit(JSON.stringify(entry))) as ShelfEntry);
    await shelf.put(entries);
    const second = await world.ask();
    expect(without(second)).toEqual(without(first));
    const warning = "ignored a cached answer that was changed in the store";
    expect(troubles.splice(0)).toEqual(isSilent ? [] : [warning]);
    expect((await world.ask()).cached).toBe(true);
  });

  it.each([
    ["lives until the last microsecond of its time", hour - 1, true],
    ["is gone the moment its time is over", hour, false],
    ["does not live longer because the clock was set back", -1, false],
  ])("%s", async (_claim, after, isCached) => {
    const world = place(cached);
    await world.ask();
    world.now = later(after);
    expect((await world.ask()).cached).toBe(isCached);
  });

  it("is not asked for with no_cache", async () => {
    const world = place(cached);
    await world.ask();
    expect((await world.ask({ no_cache: true })).cached).toBe(false);
  });

  it("is another one for another value, and for another definition", async () => {
    const world = place(cached);
    await world.ask();
    expect((await world.ask({ context: { customer: { email: "bob" } } })).cached).toBe(false);
    const edited = place({ ...cached, default: { target: "elsewhere" } });
    for await (const entry of world.store.shelf("cache").entries())
      await edited.store.shelf("cache").put([entry]);
    expect((await edited.ask()).cached).toBe(false);
  });

  it("does not depend on what the decision does not read", async () => {
    const world = place(cached);
    await world.ask();
    const other = { customer: { email: "eve@example.com", age: 3 }, weather: "rain" };
    expect((await world.ask({ context: other })).cached).toBe(true);
  });

  it("is never one with a warning", async () => {
    const world = place(cached);
    await world.ask({ context: {} });
    expect((await world.ask({ context: {} })).cached).toBe(false);
  });

  it("stays in the process, with the adapter `memory`", async () => {
    const world = place({ ...cached, cache: { enabled: true, adapter: "memory" } });
    const first = await world.ask();
    expect(await world.ask()).toMatchObject({ cached: true, selected_labels: ["Eve"] });
    expect((await world.log())[1]).toMatchObject({ cached: true, cached_from: first.record_id });
    const stored: ShelfEntry[] = [];
    for await (const entry of world.store.shelf("cache").entries()) stored.push(entry);
    expect(stored).toEqual([]);
    world.now = later(hour);
    expect((await world.ask()).cached).toBe(false);
  });

  it.each([
    { adapter: "memory", isShared: false },
    { adapter: "store", isShared: true },
  ] as const)(
    "of the adapter $adapter is shared with other processes: $isShared",
    async ({ adapter, isShared }) => {
      const world = place({ ...cached, cache: { enabled: true, adapter } });
      await world.ask();
      const records = new Records(world.store, {
        newNote: () => ({ record_id: "note", timestamp: noon }),
        onWarning: (message) => void troubles.push(message),
      });
      const other = { ...world, records };
      const context = { customer: { email: "eve@example.com" } };
      expect((await decide({ decision_id: "routed", context }, other)).cached).toBe(isShared);
    },
  );

  it.each([
    { adapter: "memory", isCached: true },
    { adapter: "store", isCached: false },
  ] as const)("that is not recorded is cached with the adapter $adapter: $isCached", async (row) => {
    const { adapter, isCached } = row;
    const world = place({ ...cached, cache: { enabled: true, adapter }, logging: { log_decision: false } });
    await world.ask();
    expect((await world.ask()).cached).toBe(isCached);
    expect(await world.kept()).toBe("[[],[]]");
  });

  it("is known to a question that is asked at the same moment", async () => {
    const world = place(cached);
    const answers = [];
    for (let index = 0; index < 3; index++) answers.push(world.ask());
    const hits = (await Promise.all(answers)).filter((answer) => answer.cached);
    expect(hits).toHaveLength(2);
  });
});

function without(result: object): object {
  const own = new Set(["record_id", "timestamp"]);
  return Object.fromEntries(Object.entries(result).filter(([name]) => !own.has(name)));
}
