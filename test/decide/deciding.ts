import { expect } from "vitest";
import type { CheckRequest, CheckResult, CheckWorld } from "../../src/decide/check.js";
import { check } from "../../src/decide/check.js";
import type { DecisionRequest } from "../../src/decide/decide.js";
import { decide } from "../../src/decide/decide.js";
import { buildLibrary } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Precedent } from "../../src/model/lineage.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { Result } from "../../src/model/result.js";
import type { Store } from "../../src/model/store.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { collect, newId, noon, TestClock } from "../store/entries.js";

/** A place where decisions are made and remembered, until their definitions change. */
export interface Deciding {
  readonly world: CheckWorld & { readonly records: Records };
  decide(id: string, context: JsonObject, more?: Partial<DecisionRequest>): Promise<Result>;
  check(tool: string, params: JsonObject, more?: Partial<CheckRequest>): Promise<CheckResult>;
  /** Oldest first. */
  records(): Promise<readonly DecisionRecord[]>;
  newest(): Promise<DecisionRecord>;
  /** What the newest record says of those before it. */
  precedents(): Promise<readonly Precedent[]>;
  /** The same log with other definitions. */
  redefine(...documents: readonly object[]): Deciding;
  /** The same definitions with a new store, into which the log is restored. */
  move(): Promise<Deciding>;
}

/** Documents as in a definition file, such as `{ decision: … }`; JSON is YAML too. */
export function deciding(...documents: readonly object[]): Deciding {
  return decidingIn(openMemoryStore(), new TestClock(), documents);
}

function decidingIn(store: Store, clock: TestClock, documents: readonly object[]): Deciding {
  const text = documents.map((each) => JSON.stringify(each)).join("\n---\n");
  const { summary, body } = readDefinitions("f.yaml", Buffer.from(text));
  expect(summary.diagnostics).toEqual([]);
  const newNote = (): { record_id: string; timestamp: string } => ({ record_id: "note", timestamp: noon });
  const world = {
    definitions: buildLibrary([summary], (_file, position) => {
      const found = body.definitions[position];
      return found === undefined ? Promise.reject(new Error("it is not there")) : Promise.resolve(found);
    }),
    clock: clock.read,
    newId,
    records: new Records(store, { newNote, onWarning: () => undefined }),
  };
  const records = async (): Promise<readonly DecisionRecord[]> => {
    const found: DecisionRecord[] = [];
    for await (const { record } of store.log.select({})) if (record.kind === "decision") found.push(record);
    return found;
  };
  const newest = async (): Promise<DecisionRecord> => {
    const record = (await records()).at(-1);
    if (record === undefined) throw new Error("nothing is recorded");
    return record;
  };
  return {
    world,
    decide: (id, context, more = {}) => decide({ decision_id: id, context, ...more }, world),
    check: (tool, params, more = {}) => check({ tool, params, session_id: "s-1", ...more }, world),
    records,
    newest,
    precedents: async () => (await newest()).lineage?.precedents ?? [],
    redefine: (...others) => decidingIn(store, clock, others),
    async move() {
      const lines = (await collect(store.log.select({}))).map(({ text }) => text);
      const moved = openMemoryStore();
      await moved.restore({ state: await store.log.state(), shelves: [], checkpoints: [], lines });
      return decidingIn(moved, clock, documents);
    },
  };
}
