import type { DeclaredFetch } from "../definition/fetches.js";
import { uniqueFetches } from "../definition/fetches.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { prepareLoaded } from "../evaluate/prepare-lazily.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Store } from "../model/store.js";
import { findStoredDefinition } from "../record/stored-definition.js";

/** A stored definition with its environment, ready to be evaluated again. */
export interface ReplayableDefinition {
  readonly loaded: LoadedDefinition;
  readonly prepared: Prepared;
  readonly fetches: readonly DeclaredFetch[];
}

/** A definition that cannot be evaluated again. */
export interface UnavailableDefinition {
  /** Why not. */
  readonly unavailable: string;
  /** The store has it, but its hash does not match. */
  readonly isChanged?: true;
}

type Found = ReplayableDefinition | UnavailableDefinition;

/** The definitions that records were made with, found in the store by their hashes. */
export class ReplayableDefinitions {
  readonly #store: Store;
  /** By environment hash, then by definition hash. */
  readonly #loaded = new Map<string, Map<string, Found>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns a promise only on first use: a log names few definitions, many times. */
  get(record: DecisionRecord): Found | Promise<Found> {
    const { definition_hash, environment_hash } = record;
    return this.#loaded.get(environment_hash)?.get(definition_hash) ?? this.#load(record);
  }

  async #load({ definition_hash, environment_hash }: DecisionRecord): Promise<Found> {
    const found = await this.#find(definition_hash, environment_hash);
    const sameEnvironment = this.#loaded.get(environment_hash) ?? new Map<string, Found>();
    this.#loaded.set(environment_hash, sameEnvironment.set(definition_hash, found));
    return found;
  }

  async #find(definition_hash: string, environment_hash: string): Promise<Found> {
    const definition = await findStoredDefinition(definition_hash, this.#store);
    if (definition === undefined) return this.#unavailable("definitions", definition_hash);
    const environment = (await this.#store.shelf("environments").get(environment_hash))?.value;
    if (environment === undefined || sha256Hex(canonicalJson(environment)) !== environment_hash) {
      return this.#unavailable("environments", environment_hash);
    }
    const loaded: LoadedDefinition = {
      definition,
      definition_hash,
      environment: environment as JsonObject,
      environment_hash,
      file: "",
      line: 0,
    };
    try {
      return {
        loaded,
        prepared: await prepareLoaded(loaded),
        fetches: uniqueFetches(definition),
      };
    } catch (error) {
      // Stored by a version that supports what this one does not.
      if (!(error instanceof DecisionError)) throw error;
      return { unavailable: `its definition can no longer be used (${error.message})` };
    }
  }

  /** Tells an entry that was changed from one that is not in the store. */
  async #unavailable(name: "definitions" | "environments", hash: string): Promise<UnavailableDefinition> {
    const what = name === "definitions" ? "its definition" : "the environment of its definition";
    const isStored = (await this.#store.shelf(name).get(hash)) !== undefined;
    return isStored
      ? { unavailable: `${what} was changed in the store`, isChanged: true }
      : { unavailable: `${what} is no longer stored` };
  }
}
