import type { LoadedDefinition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Result } from "../model/result.js";
import type { Count, Entry, Ledger, Limit, Prunable, Store } from "../model/store.js";
import { AnswerCache } from "./answer-cache.js";
import type { About } from "./record-body.js";
import { decisionBody, noteBody } from "./record-body.js";
import { RecentDecisions } from "./recent-decisions.js";

export interface RecordsOptions {
  /** The id and time of a note that is made now. */
  readonly newNote: () => { readonly record_id: string; readonly timestamp: string };
  /** Hears of what went wrong without touching a decision. */
  readonly onTrouble: (message: string) => void;
}

/** A decision that is to be remembered. */
export interface Draft {
  readonly result: Result;
  readonly about: About;
  readonly loaded: LoadedDefinition;
  readonly counts: readonly Count[];
  readonly limits: readonly Limit[];
}

/** What is remembered of decisions. */
export class Records {
  readonly store: Store;
  readonly answers: AnswerCache;
  readonly recent = new RecentDecisions();
  readonly #newNote: RecordsOptions["newNote"];
  readonly #onTrouble: (message: string) => void;
  readonly #kept = new Map<string, Promise<void>>();
  readonly #isKept = new WeakSet<LoadedDefinition>();
  #unwritten: string[] = [];
  #writing: Promise<void> | undefined;

  constructor(store: Store, { newNote, onTrouble }: RecordsOptions) {
    this.store = store;
    this.#newNote = newNote;
    this.answers = new AnswerCache(store.shelf("cache"), onTrouble);
    this.#onTrouble = onTrouble;
  }

  get log(): Ledger {
    return this.store.log;
  }

  /** Resolves once the records are kept for good, all in one step; gives the limit that kept them out, if one did. */
  async append(...drafts: readonly [Draft, ...Draft[]]): Promise<Limit | undefined> {
    const [first, ...others] = drafts;
    try {
      for (const { loaded } of drafts) {
        if (this.#isKept.has(loaded)) continue;
        await this.#keepDefinition(loaded);
        this.#isKept.add(loaded);
      }
      const appended = await this.store.log.append(entryOf(first), ...others.map(entryOf));
      return "refused" in appended ? appended.refused : undefined;
    } finally {
      for (const { result } of drafts) this.recent.remove(result.record_id ?? "");
    }
  }

  /** Lets other processes know of an answer; those of one moment are written together. */
  publish(key: string): Promise<void> {
    this.#unwritten.push(key);
    this.#writing ??= soon().then(async () => {
      const keys = this.#unwritten;
      this.#unwritten = [];
      this.#writing = undefined;
      await this.answers.write(keys).catch((error: unknown) => {
        this.#onTrouble(`the answer could not be cached: ${(error as Error).message}`);
      });
    });
    return this.#writing;
  }

  /** Removes the oldest records; the log says which, and what was asked for. */
  prune(prunable: Prunable, asked: JsonObject): Promise<void> {
    const noteOf = (details: JsonObject): string =>
      noteBody({ ...this.#newNote(), note: "pruned", details: { ...details, ...asked } });
    return this.store.log.prune(prunable, noteOf);
  }

  /** The definition and its environment stay known by their hashes, whatever becomes of the file. */
  #keepDefinition(loaded: LoadedDefinition): Promise<void> {
    const { definition, definition_hash, environment, environment_hash } = loaded;
    const name = `${definition_hash} ${environment_hash}`;
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      kept = Promise.all([
        this.#keep("definitions", definition_hash, definition as unknown as Json),
        this.#keep("environments", environment_hash, environment),
      ]).then(() => undefined);
      this.#kept.set(name, kept);
      kept.catch(() => this.#kept.delete(name));
    }
    return kept;
  }

  async #keep(name: "definitions" | "environments", key: string, value: Json): Promise<void> {
    const shelf = this.store.shelf(name);
    if ((await shelf.get(key)) === undefined) await shelf.put([{ key, value }]);
  }
}

const entryOf = ({ result, about, loaded, counts, limits }: Draft): Entry => ({
  body: decisionBody(result, about, loaded.definition.logging),
  counts,
  limits,
});

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
