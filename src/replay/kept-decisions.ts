import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { prepareLazily } from "../evaluate/prepare-lazily.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Store } from "../model/store.js";
import { keptDefinition } from "../record/kept-definition.js";

/** A definition as it was, with what stood beside it, ready to be asked again. */
export interface Ready {
  readonly loaded: LoadedDefinition;
  readonly prepared: Prepared;
}

/** Why it cannot be asked again. */
export interface Unkept {
  readonly missing: string;
}

/** The definitions that records were made with, by their hashes; whatever has become of the files. */
export class KeptDecisions {
  readonly #store: Store;
  /** By environment, then by definition. */
  readonly #known = new Map<string, Map<string, Ready | Unkept>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Without waiting where it is known already: a log names few definitions, many times. */
  get(record: DecisionRecord): Ready | Unkept | Promise<Ready | Unkept> {
    const { definition_hash, environment_hash } = record;
    return this.#known.get(environment_hash)?.get(definition_hash) ?? this.#load(record);
  }

  async #load({ definition_hash, environment_hash }: DecisionRecord): Promise<Ready | Unkept> {
    const found = await this.#find(definition_hash, environment_hash);
    const beside = this.#known.get(environment_hash) ?? new Map<string, Ready | Unkept>();
    this.#known.set(environment_hash, beside.set(definition_hash, found));
    return found;
  }

  async #find(definition_hash: string, environment_hash: string): Promise<Ready | Unkept> {
    const definition = await keptDefinition(definition_hash, this.#store);
    if (definition === undefined) return { missing: "its definition is no longer kept" };
    const environment = (await this.#store.shelf("environments").get(environment_hash))?.value;
    if (environment === undefined || sha256Hex(canonicalJson(environment)) !== environment_hash) {
      return { missing: "what stood beside its definition is no longer kept" };
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
