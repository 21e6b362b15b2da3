import { decide } from "../../src/decide/decide.js";
import type { DecisionRequest, World } from "../../src/decide/decide.js";
import { definitionHash } from "../../src/definition/loaded-definition.js";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import type { Definition, LoadedDefinition } from "../../src/model/definition.js";
import type { Endpoints, Fetch, Fetched } from "../../src/model/endpoint.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { Result } from "../../src/model/result.js";
import type { Store } from "../../src/model/store.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { newId, noon, TestClock } from "../store/entries.js";

export const fetchedAt = "2026-01-02T03:04:05.000000Z";

/** Data that came just now. */
export const gave = (data: Json): Fetched => ({ ok: true, data, from: "endpoint", fetched_at: fetchedAt });

export const failed = (message: string): Fetched => ({
  ok: false,
  error: { code: "network_failed", message },
});

/** A definition as it is loaded, with endpoints of these names. */
export function loadedWith(definition: object, ...names: readonly string[]): LoadedDefinition {
  const endpoints: Endpoints = Object.fromEntries(
    names.map((name) => [name, { url: `https://${name}.example/` }]),
  );
  const environment = { targets: [], endpoints } as unknown as JsonObject;
  return {
    definition: definition as Definition,
    definition_hash: definitionHash(definition as Definition),
    environment,
    environment_hash: sha256Hex(canonicalJson(environment)),
    file: "f.yaml",
    line: 1,
  };
}

export interface Fetching {
  readonly world: World;
  readonly store: Store;
  /** What was asked of endpoints, in order. */
  readonly asked: Fetch[];
  decide(context: JsonObject, more?: Partial<DecisionRequest>): Promise<Result>;
  newest(): Promise<DecisionRecord | undefined>;
}

/** A place where one definition decides, and endpoints answer as told. */
export function fetching(loaded: LoadedDefinition, answer: (fetch: Fetch) => Fetched): Fetching {
  const store = openMemoryStore();
  const asked: Fetch[] = [];
  const newNote = (): { record_id: string; timestamp: string } => ({ record_id: "note", timestamp: noon });
  const fetch = (each: Fetch): Promise<Fetched> => {
    asked.push(each);
    return Promise.resolve(answer(each));
  };
  const world: World = {
    definitions: { find: () => Promise.resolve(loaded) },
    clock: new TestClock().read,
    newId,
    records: new Records(store, { newNote, onWarning: () => undefined }),
    fetcher: () => Promise.resolve({ fetch }),
  };
  return {
    world,
    store,
    asked,
    decide: (context, more = {}) => decide({ decision_id: loaded.definition.id, context, ...more }, world),
    async newest() {
      let newest: DecisionRecord | undefined;
      for await (const { record } of store.log.select({})) if (record.kind === "decision") newest = record;
      return newest;
    },
  };
}
