import { expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import type { Entity, Lineage } from "../../src/model/lineage.js";
import type { Neighbour, RecordKey, RelatedRange, Store } from "../../src/model/store.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import type { WithStore } from "./contract.js";
import type { Decided } from "./entries.js";
import { assessed, called, decided, definitionHash, newId, noon, noted, seqs, sha256 } from "./entries.js";

const start = microsecondsOf(noon);
const at = (seconds: number): string => formatTimestamp(start + seconds * 1e6);

const customer = (id: string): Entity => ({ type: "customer", id });
const order = (id: string): Entity => ({ type: "order", id });

const about = (lineage: Partial<Lineage>): Pick<Decided, "lineage"> => ({ lineage: lineage as Lineage });

/** The lineage of a policy decision. */
function judged(...policies: Lineage["policies"]): Decided {
  const outcome = {
    type: "policy",
    tool: "read_file",
    allowed: true,
    outcome: "allowed",
    reason: "",
    params: {},
  };
  return { ...outcome, ...about({ policies }) } as unknown as Decided;
}

const read = (...sources: readonly string[]): Lineage["inputs"] =>
  sources.map((source) => ({ source, keys: ["id"], digest: sha256(source) }));

const consulted = (name: string, override: string | null = null): Lineage["policies"][number] => ({
  name,
  version: "1.0.0",
  hash: sha256(name),
  base_decision: override === null ? "allow" : "deny",
  denial_reason: override === null ? null : 'said "no", ]}',
  override,
});

async function add({ log }: Store, ...bodies: readonly (Decided | string)[]): Promise<void> {
  for (const each of bodies) await log.append({ body: typeof each === "string" ? each : decided(each) });
}

const asked = ({ log }: Store, key: RecordKey, range?: RelatedRange): Promise<readonly number[]> =>
  seqs(log.related(key, range));

/** The comparable part of a neighbour. */
const shown = ({ seq, shared, entities, traits, labels }: Neighbour): object => ({
  seq,
  shared,
  entities,
  traits,
  labels,
});

const odd = [
  "",
  '"',
  "\\",
  '\\"}],"artifacts":["x"]',
  '"},{"type":"customer","id":"other"}',
  '","id":"x',
  ',"lineage":{"entities":[{"type":"customer","id":"fake"}],"artifacts":[',
  "line\nbreak\u2028",
  "\u0000",
  "ü 漢字 🎉",
  "\ud800",
  "__proto__",
  "constructor",
  "x".repeat(20_000),
  "123",
  "null",
];

export function relating(withStore: WithStore): void {
  it(
    "finds nothing in an empty log",
    withStore(async (store) => {
      const keys: readonly RecordKey[] = [
        { entity: customer("c1") },
        { artifact: "a" },
        { policy: "p" },
        { session_id: "s" },
        { refers_to: "r" },
      ];
      for (const key of keys) expect(await asked(store, key)).toEqual([]);
      await add(store, {}, called(), noted());
      for (const key of keys) expect(await asked(store, key)).toEqual([]);
    }),
  );

  it(
    "finds the records of an entity in all decisions, newest first",
    withStore(async (store) => {
      await add(
        store,
        { decision_id: "gate", ...about({ entities: [customer("c1"), order("o1")] }) },
        { decision_id: "split", ...about({ entities: [customer("c1")] }) },
        { decision_id: "gate", ...about({ entities: [customer("c2")] }) },
        { decision_id: "split", ...about({ entities: [order("c1")] }) },
        {},
        { decision_id: "gate", ...about({ entities: [order("o2"), customer("c1")] }) },
      );
      expect(await asked(store, { entity: customer("c1") })).toEqual([6, 2, 1]);
      expect(await asked(store, { entity: order("c1") })).toEqual([4]);
      expect(await asked(store, { entity: order("o2") })).toEqual([6]);
      expect(await asked(store, { entity: customer("o1") })).toEqual([]);
    }),
  );

  it(
    "finds the records that used an artifact, consulted a policy or applied an override",
    withStore(async (store) => {
      await add(
        store,
        about({ artifacts: ["a1", "a2"] }),
        judged(consulted("limits"), consulted("hours", "vip")),
        about({ artifacts: ["a2"], policies: [consulted("hours")] }),
        judged(consulted("limits")),
        judged(),
      );
      expect(await asked(store, { artifact: "a2" })).toEqual([3, 1]);
      expect(await asked(store, { artifact: "a1" })).toEqual([1]);
      expect(await asked(store, { policy: "limits" })).toEqual([4, 2]);
      expect(await asked(store, { policy: "hours" })).toEqual([3, 2]);
      expect(await asked(store, { policy: "vip" })).toEqual([2]);
      expect(await asked(store, { policy: "a1" })).toEqual([]);
    }),
  );

  it(
    "finds the records of a session and the references to a record, including tool results",
    withStore(async (store) => {
      const [one, two] = [newId(noon), newId(noon)];
      await add(
        store,
        { session_id: "s1" },
        { session_id: "s2", workflow_id: "s1", parent_record_id: one },
        { cached: true, cache_key: sha256("k"), cached_from: one, stage_id: "st" },
        { cached: true, cache_key: sha256("k"), cached_from: two, parent_record_id: two, session_id: "s1" },
        called({ decision_records: [one, two], session_id: "s1", tool: 'odd "tool"' }),
        called({ decision_records: [two], ok: false }),
        { correlation_id: one, check_id: one, context: { session_id: "s1", parent_record_id: one } },
        noted({ session_id: "s1" }),
        assessed("s3"),
      );
      expect(await asked(store, { session_id: "s1" })).toEqual([5, 4, 1]);
      expect(await asked(store, { session_id: "s3" })).toEqual([9]);
      expect(await seqs(store.log.select({ session_id: "s3", kind: "assessment" }))).toEqual([9]);
      expect(await seqs(store.log.select({ session_id: "s3", decision_id: "gate" }))).toEqual([]);
      expect(await asked(store, { session_id: "s2" })).toEqual([2]);
      expect(await asked(store, { refers_to: one })).toEqual([5, 3, 2]);
      expect(await asked(store, { refers_to: two })).toEqual([6, 5, 4]);
      for (const reverse of [true, false])
        expect(await seqs(store.log.select({ session_id: "s1", reverse }))).toEqual(
          reverse ? [5, 4, 1] : [1, 4, 5],
        );
      expect(await seqs(store.log.select({ session_id: "s1", limit: 2 }))).toEqual([4, 5]);
      expect(await seqs(store.log.select({ session_id: "s1", after: 1, kind: "decision" }))).toEqual([4]);
      expect(await seqs(store.log.select({ session_id: "s1", decision_id: "gate", reverse: true }))).toEqual([
        4, 1,
      ]);
    }),
  );

  it(
    "applies the limit, the time range and the label",
    withStore(async (store) => {
      for (let seq = 1; seq <= 12; seq++)
        await add(store, {
          timestamp: at(seq),
          selected_labels: seq % 3 === 0 ? ["Fail", "Late"] : ["Pass"],
          session_id: "s",
          ...about({ entities: [customer("c1")] }),
        });
      const entity = { entity: customer("c1") };
      expect(await asked(store, entity, { limit: 3 })).toEqual([12, 11, 10]);
      expect(await asked(store, entity, { limit: 0 })).toEqual([]);
      expect(await asked(store, entity, { limit: 100 })).toHaveLength(12);
      const range = { since: start + 3e6, until: start + 9e6 };
      expect(await asked(store, entity, range)).toEqual([9, 8, 7, 6, 5, 4, 3]);
      expect(await asked(store, entity, { ...range, label: "Late" })).toEqual([9, 6, 3]);
      expect(await asked(store, { session_id: "s" }, { ...range, label: "Late", limit: 2 })).toEqual([9, 6]);
      expect(await asked(store, entity, { label: "Absent" })).toEqual([]);
      expect(await asked(store, { session_id: "s" }, { since: start + 13e6 })).toEqual([]);
    }),
  );

  it(
    "distinguishes names, whatever they contain",
    withStore(async (store) => {
      for (const text of odd)
        await add(
          store,
          {
            decision_id: text,
            session_id: text,
            ...about({
              entities: [
                { type: text, id: "i" },
                { type: "t", id: text },
              ],
              artifacts: [text, "z"],
            }),
          },
          judged(consulted(text, text)),
          called({ session_id: text, decision_records: [text], tool: text }),
        );
      for (const [index, text] of odd.entries()) {
        const [decision, policy, result] = [index * 3 + 1, index * 3 + 2, index * 3 + 3];
        const name = text.slice(0, 40);
        const answers = {
          byId: await asked(store, { entity: { type: "t", id: text } }),
          byType: await asked(store, { entity: { type: text, id: "i" } }),
          artifact: await asked(store, { artifact: text }),
          policy: await asked(store, { policy: text }),
          session: await asked(store, { session_id: text }),
          reference: await asked(store, { refers_to: text }),
        };
        expect({ name, ...answers }).toEqual({
          name,
          byId: [decision],
          byType: [decision],
          artifact: [decision],
          policy: [policy],
          session: [result, decision],
          reference: [result],
        });
      }
      expect(await asked(store, { entity: customer("fake") })).toEqual([]);
      expect(await asked(store, { entity: customer("other") })).toEqual([]);
      expect(await asked(store, { artifact: "z" })).toHaveLength(odd.length);
    }),
  );

  it(
    "is not misled by the content of a context",
    withStore(async (store) => {
      const lineage = { entities: [customer("fake")], artifacts: ["fake"], policies: [consulted("fake")] };
      const fields = { environment_hash: sha256("{}"), session_id: "fake", lineage, policies: [] };
      const context = fields as unknown as JsonObject;
      await add(
        store,
        { context, facts: context, ...about({ entities: [customer("real")] }) },
        { context, session_id: "real" },
        { context },
      );
      expect(await asked(store, { entity: customer("fake") })).toEqual([]);
      expect(await asked(store, { artifact: "fake" })).toEqual([]);
      expect(await asked(store, { policy: "fake" })).toEqual([]);
      expect(await asked(store, { session_id: "fake" })).toEqual([]);
      expect(await asked(store, { entity: customer("real") })).toEqual([1]);
      expect(await asked(store, { session_id: "real" })).toEqual([2]);
      expect(await store.log.neighbours({ decision_id: "gate" }, [customer("fake")], 5)).toEqual([]);
    }),
  );

  it(
    "sees records added between queries, and is not disturbed by those added during one",
    withStore(async (store) => {
      const body = { session_id: "s", ...about({ entities: [customer("c1")] }) };
      const expected: number[] = [];
      for (let seq = 1; seq <= 60; seq++) {
        await add(store, body);
        expected.unshift(seq);
        expect(await asked(store, { entity: customer("c1") }, { limit: 3 })).toEqual(expected.slice(0, 3));
      }
      const seen: number[] = [];
      for await (const { record } of store.log.related({ session_id: "s" })) {
        seen.push(record.seq);
        if (seen.length % 10 === 0) await add(store, body);
        if (seen.length % 20 === 0) await store.log.neighbours({ decision_id: "gate" }, [customer("c1")], 2);
      }
      expect(seen).toEqual(expected);
    }),
  );

  it(
    "does not find pruned records",
    withStore(async (store) => {
      for (let seq = 1; seq <= 30; seq++)
        await add(store, { session_id: `s${seq % 2}`, ...about({ entities: [customer("c1")] }) });
      expect(await asked(store, { session_id: "s1" })).toHaveLength(15);
      await store.log.prune(await store.log.prunable({ keep: 10 }), noted);
      const left = await seqs(store.log.select({ kind: "decision", reverse: true }));
      expect(await asked(store, { entity: customer("c1") })).toEqual(left);
      expect(await asked(store, { session_id: "s1" })).toEqual(left.filter((seq) => seq % 2 === 1));
      await add(store, { session_id: "s1", ...about({ entities: [customer("c1")] }) });
      expect((await asked(store, { session_id: "s1" })).slice(0, 2)).toEqual([32, 29]);
      const [newest] = await store.log.neighbours({ decision_id: "gate" }, [customer("c1")], 1);
      expect(newest?.seq).toBe(32);
    }),
  );
}

export function neighbouring(withStore: WithStore): void {
  it(
    "are the newest records of the decision that share an entity, with the number of shared entities",
    withStore(async (store) => {
      const [first, second] = [definitionHash("v1"), definitionHash("v2")];
      const [one, two] = [{ definition_hash: first }, { definition_hash: second }];
      const [early, late] = [read("customer"), read("customer", "order")];
      await add(
        store,
        { ...one, ...about({ entities: [customer("c1"), order("o1")], inputs: early }) },
        { ...one, selected_labels: ["Fail"], ...about({ entities: [customer("c2")], inputs: early }) },
        { decision_id: "split", ...about({ entities: [customer("c1")], inputs: late }) },
        { ...two, selected_labels: [], ...about({ entities: [customer("c1")], inputs: late }) },
        { ...two, ...about({ entities: [], inputs: late }) },
        { ...two, ...about({ entities: [order("o9"), customer("c1"), order("o1")], inputs: late }) },
        { ...one, ...about({ entities: [order("o1")], inputs: early, artifacts: ["a"] }), session_id: "s" },
      );
      const wanted = [customer("c1"), order("o1"), order("o7")];
      const found = await store.log.neighbours({ decision_id: "gate" }, wanted, 10);
      const both = ["customer", "order"];
      expect(found.map(shown)).toEqual([
        { seq: 7, shared: 1, entities: 1, traits: { sources: ["customer"], params: [] }, labels: ["Pass"] },
        { seq: 6, shared: 2, entities: 3, traits: { sources: both, params: [] }, labels: ["Pass"] },
        { seq: 4, shared: 1, entities: 1, traits: { sources: both, params: [] }, labels: [] },
        { seq: 1, shared: 2, entities: 2, traits: { sources: ["customer"], params: [] }, labels: ["Pass"] },
      ]);
      for (const neighbour of found) expect((await neighbour.read())?.seq).toBe(neighbour.seq);
      expect((await store.log.neighbours({ decision_id: "gate" }, wanted, 2)).map(({ seq }) => seq)).toEqual([
        7, 6,
      ]);
      expect((await store.log.neighbours({ decision_id: "split" }, wanted, 2)).map(shown)).toEqual([
        { seq: 3, shared: 1, entities: 1, traits: { sources: both, params: [] }, labels: ["Pass"] },
      ]);
      expect(await store.log.neighbours({ decision_id: "gate" }, wanted, 0)).toEqual([]);
      expect(await store.log.neighbours({ decision_id: "gate" }, [], 5)).toEqual([]);
      expect(await store.log.neighbours({ decision_id: "other" }, wanted, 5)).toEqual([]);
    }),
  );

  it(
    "are records about the same tool, with the names of their params",
    withStore(async (store) => {
      const call = (tool: string, params?: readonly string[]): Decided =>
        ({
          ...judged(consulted("limits")),
          tool,
          context: { params: { older: 1 } },
          ...about({
            entities: [customer("c1")],
            policies: [consulted("limits")],
            inputs: read("params"),
            ...(params !== undefined && { param_names: params }),
          }),
        }) as unknown as Decided;
      await add(
        store,
        call("read_file", ["path"]),
        call("write_file", ["path", "text"]),
        call("read_file"),
        // A definition has one type.
        {
          definition_hash: definitionHash("other"),
          ...about({ entities: [customer("c1")], param_names: ["ignored"] }),
        },
        call("read_file", ["path", 'odd"']),
      );
      const traitsOf = async (tool?: string): Promise<readonly object[]> =>
        (await store.log.neighbours({ decision_id: "gate", tool }, [customer("c1")], 9)).map(
          ({ seq, traits }) => ({ seq, ...traits }),
        );
      expect(await traitsOf("read_file")).toEqual([
        { seq: 5, sources: ["params"], params: ["path", 'odd"'] },
        { seq: 3, sources: ["params"], params: ["older"] },
        { seq: 1, sources: ["params"], params: ["path"] },
      ]);
      expect(await traitsOf("write_file")).toEqual([
        { seq: 2, sources: ["params"], params: ["path", "text"] },
      ]);
      expect(await traitsOf("other")).toEqual([]);
      expect(await traitsOf()).toEqual([{ seq: 4, sources: [], params: [] }]);
      expect(await asked(store, { entity: customer("c1") })).toEqual([5, 4, 3, 2, 1]);
    }),
  );

  it(
    "can be read after more records were added",
    withStore(async (store) => {
      await add(store, about({ entities: [customer("c1")] }));
      const [found] = await store.log.neighbours({ decision_id: "gate" }, [customer("c1")], 1);
      for (let seq = 2; seq < 20; seq++) await add(store, about({ entities: [customer("c1")] }));
      const [newest] = await store.log.neighbours({ decision_id: "gate" }, [customer("c1")], 1);
      expect((await found?.read())?.seq).toBe(1);
      expect((await newest?.read())?.seq).toBe(19);
    }),
  );

  it(
    "count an entity twice if it is queried twice",
    withStore(async (store) => {
      await add(store, about({ entities: [customer("c1"), customer("c1"), order("o1")] }));
      const wanted = [customer("c1"), customer("c1"), order("o1")];
      const [found] = await store.log.neighbours({ decision_id: "gate" }, wanted, 5);
      expect(found).toMatchObject({ shared: 3, entities: 3 });
      expect(await store.log.neighbours({ decision_id: "gate" }, wanted, 5)).toHaveLength(1);
    }),
  );
}
