import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { prepareLazily } from "../evaluate/prepare-lazily.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Store } from "../model/store.js";
import { findStoredDefinition } from "../record/stored-definition.js";

/** A definition as it was, with what stood beside it, ready to be asked again. */
export interface ReplayableDefinition {
  readonly loaded: LoadedDefinition;
  readonly prepared: Prepared;
}

/** Why it cannot be asked again. */
export interface UnavailableDefinition {
  readonly missing: string;
  /** It is there, but not as it was kept. */
  readonly changed?: true;
}

/** The definitions that records were made with, by their hashes; whatever has become of the files. */
export class ReplayableDefinitions {
  readonly #store: Store;
  /** By environment, then by definition. */
  readonly #known = new Map<string, Map<string, ReplayableDefinition | UnavailableDefinition>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Without waiting where it is known already: a log names few definitions, many times. */
  get(
    record: DecisionRecord,
  ): ReplayableDefinition | UnavailableDefinition | Promise<ReplayableDefinition | UnavailableDefinition> {
    const { definition_hash, environment_hash } = record;
    return this.#known.get(environment_hash)?.get(definition_hash) ?? this.#load(record);
  }

  async #load({
    definition_hash,
    environment_hash,
  }: DecisionRecord): Promise<ReplayableDefinition | UnavailableDefinition> {
    const found = await this.#find(definition_hash, environment_hash);
    const beside =
      this.#known.get(environment_hash) ?? new Map<string, ReplayableDefinition | UnavailableDefinition>();
    this.#known.set(environment_hash, beside.set(definition_hash, found));
    return found;
  }

  /** What is there under the hash and yet is something else was changed by somebody. */
  async #unkept(name: "definitions" | "environments", hash: string): Promise<UnavailableDefinition> {
    const what = name === "definitions" ? "its definition" : "what stood beside its definition";
    const isThere = (await this.#store.shelf(name).get(hash)) !== undefined;
    return isThere
      ? { missing: `${what} was changed in the store`, changed: true }
      : { missing: `${what} is no longer kept` };
  }

  async #find(
    definition_hash: string,
    environment_hash: string,
  ): Promise<ReplayableDefinition | UnavailableDefinition> {
    const definition = await findStoredDefinition(definition_hash, this.#store);
    if (definition === undefined) return this.#unkept("definitions", definition_hash);
    const environment = (await this.#store.shelf("environments").get(environment_hash))?.value;
    if (environment === undefined || sha256Hex(canonicalJson(environment)) !== environment_hash) {
      return this.#unkept("environments", environment_hash);
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
      return { loaded, prepared: await prepareLazily(definition) };
    } catch (error) {
      // Kept by a version that understood what this one does not.
      if (!(error instanceof DecisionError)) throw error;
      return { missing: `its definition can no longer be used (${error.message})` };
    }
  }
}
