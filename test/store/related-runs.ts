import fc from "fast-check";
import { expect } from "vitest";
import type { Entity, Lineage } from "../../src/model/lineage.js";
import type { Neighbour, Query, RecordKey, RelatedRange, Store } from "../../src/model/store.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import type { Decided } from "./entries.js";
import { called, decided, definitionHash, noon, noted, seqs, sha256 } from "./entries.js";
import { expectSound, openLog, storeDirectory } from "./jsonl-log.js";

const start = microsecondsOf(noon);
const names = ["a", "b", 'q"', "back\\", '"},{"type":"a","id":"b"}', "ü\n", "__proto__", ""];
const name = fc.constantFrom(...names);
const entity: fc.Arbitrary<Entity> = fc.record(
  { type: fc.constantFrom("a", 'q"'), id: name },
  { noNullPrototype: true },
);
const tool = fc.constantFrom("t", 'q"');
const decision = fc.constantFrom("gate", "split", 'o"dd');
const moment = fc.integer({ min: 0, max: 20 }).map((at) => start + at * 1e6);
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;

const inputsOf = (sources: readonly string[]): Lineage["inputs"] =>
  sources.map((source) => ({ source, keys: ["id"], digest: sha256(source) }));

/** As records were written before they listed the names of params: the tool comes after the lineage. */
function asOlder(body: string, tool: string): string {
  const field = `,"tool":${JSON.stringify(tool)}`;
  return body
    .replace(`${field},"lineage":`, () => `,"lineage":`)
    .replace(`,"allowed":true`, () => `${field},"allowed":true`);
}

const body: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({
        decision_id: decision,
        version: fc.integer({ min: 0, max: 2 }),
        selected_labels: fc.array(fc.constantFrom("Pass", "Fail"), { maxLength: 2 }),
        entities: fc.array(entity, { maxLength: 3 }),
        artifacts: fc.array(name, { maxLength: 2 }),
        policies: fc.array(fc.record({ name, override: fc.option(name) }), { maxLength: 2 }),
        session_id: maybe(name),
        workflow_id: maybe(name),
        parent_record_id: maybe(name),
        // A valid record id, which needs no escapes.
        cached_from: maybe(fc.constantFrom("a", "b")),
        cached: fc.boolean(),
        time: moment,
        tool: maybe(tool),
        sources: fc.array(name, { maxLength: 2 }),
        params: maybe(fc.array(name, { maxLength: 2 })),
      })
      .map(({ version, entities, artifacts, policies, time, tool: called, sources, params, ...rest }) => {
        const consulted = policies.map((each) => ({
          ...each,
          version: "1",
          hash: "",
          base_decision: "allow",
        }));
        const lineage = {
          entities,
          artifacts,
          policies: consulted,
          inputs: inputsOf(sources),
          ...(params !== undefined && { param_names: params }),
        };
        const call = { type: "policy", tool: called, allowed: true, outcome: "allowed", reason: "" };
        const text = decided({
          ...defined(rest),
          // A definition has one type.
          ...(called !== undefined && call),
          ...(rest.cached && { cache_key: sha256("k") }),
          definition_hash: definitionHash(`${rest.decision_id} ${version} ${called !== undefined}`),
          timestamp: formatTimestamp(time),
          lineage,
        } as unknown as Decided);
        return called === undefined || params !== undefined ? text : asOlder(text, called);
      }),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        session_id: maybe(name),
        decision_records: fc.array(name, { maxLength: 3 }),
        tool: name,
        time: moment,
      })
      .map(({ time, ...rest }) => called({ ...defined(rest), timestamp: formatTimestamp(time) } as object)),
  },
  { weight: 1, arbitrary: fc.constant(0).map(() => noted()) },
);

const key: fc.Arbitrary<RecordKey> = fc.oneof(
  fc.record({ entity }),
  fc.record({ artifact: name }),
  fc.record({ policy: name }),
  fc.record({ session_id: name }),
  fc.record({ refers_to: name }),
);

const range = fc
  .record({
    since: maybe(moment),
    until: maybe(moment),
    limit: maybe(fc.integer({ min: 0, max: 4 })),
    label: maybe(fc.constantFrom("Pass", "Fail")),
  })
  .map((all) => defined(all) as RelatedRange);

const query = fc
  .record({
    session_id: name,
    decision_id: maybe(decision),
    limit: maybe(fc.integer({ min: 0, max: 4 })),
    reverse: maybe(fc.boolean()),
    after: maybe(fc.integer({ min: 0, max: 20 })),
  })
  .map((all) => defined(all) as Query);

type Step =
  | { readonly do: "append"; readonly bodies: readonly string[] }
  | { readonly do: "related"; readonly reader: number; readonly key: RecordKey; readonly range: RelatedRange }
  | { readonly do: "select"; readonly reader: number; readonly query: Query }
  | { readonly do: "neighbours"; readonly reader: number; readonly asked: Asked };

interface Asked {
  readonly decision_id: string;
  readonly tool: string | undefined;
  readonly entities: readonly Entity[];
  readonly most: number;
}

const reader = fc.integer({ min: 0, max: 2 });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("append" as const), bodies: fc.array(body, { maxLength: 8 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("related" as const), reader, key, range }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("select" as const), reader, query }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("neighbours" as const),
      reader,
      asked: fc.record({
        decision_id: decision,
        tool: maybe(tool),
        entities: fc.array(entity, { maxLength: 3 }),
        most: fc.integer({ min: 0, max: 5 }),
      }),
    }),
  },
);

async function take(step: Step, model: Store, stores: readonly Store[]): Promise<void> {
  const [writer] = stores;
  if (step.do === "append") {
    for (const each of step.bodies) {
      await model.log.append({ body: each });
      await writer?.log.append({ body: each });
    }
    return;
  }
  const { log } = stores[step.reader] ?? model;
  if (step.do === "related") {
    const expected = await seqs(model.log.related(step.key, step.range));
    expect(await seqs(log.related(step.key, step.range))).toEqual(expected);
  } else if (step.do === "select") {
    expect(await seqs(log.select(step.query))).toEqual(await seqs(model.log.select(step.query)));
  } else {
    const { entities, most, ...subject } = step.asked;
    const expected = await model.log.neighbours(subject, entities, most);
    expect(await shown(await log.neighbours(subject, entities, most))).toEqual(await shown(expected));
  }
}

const shown = (found: readonly Neighbour[]): Promise<readonly object[]> =>
  Promise.all(
    found.map(async ({ seq, shared, entities, traits, labels, ...neighbour }) => {
      const line = await neighbour.read();
      return { seq, shared, entities, traits, labels, read: line?.seq };
    }),
  );

/** Runs random appends and queries for related records; the memory store must return the same. */
export async function expectRelatedTrue(runs: number): Promise<number> {
  let done = 0;
  const steps = fc.array(step, { minLength: 5, maxLength: 30, size: "max" });
  const sizes = fc.constantFrom(1, 3000, 1_000_000);
  const property = fc.asyncProperty(sizes, steps, async (segmentSize, all) => {
    const directory = storeDirectory();
    const open = (): Store => openLog(directory, { segmentSize, durability: "fast" });
    const [writer, model] = [open(), openMemoryStore()];
    // An open store sees appends of other processes with a delay, so another one is opened for each query.
    for (const each of all) {
      const other = open();
      await take(each, model, [writer, writer, other]);
      await other.close();
    }
    expectSound(directory);
    await writer.close();
    done++;
  });
  await fc.assert(property, { numRuns: runs });
  return done;
}
