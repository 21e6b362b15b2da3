import { AnswerCache } from "./answer-cache.js";
import type { RecordMetadata } from "./record-json.js";
import { decisionRecordBody, noteRecordBody } from "./record-json.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Entity } from "../model/lineage.js";
import type { LogRecord } from "../model/record.js";
import type { Result } from "../model/result.js";
import type { Count, Entry, Ledger, Limit, Prunable, Store, Neighbour } from "../model/store.js";

interface RecordsOptions {
  /** The id and time of a note that is made now. */
  readonly newNote: () => { readonly record_id: string; readonly timestamp: string };
  /** Hears of what went wrong without touching a decision. */
  readonly onWarning: (message: string) => void;
}

/** A decision that is to be remembered. */
export interface RecordDraft {
  readonly result: Result;
  readonly metadata: RecordMetadata;
  readonly loaded: LoadedDefinition;
  readonly counts: readonly Count[];
  readonly limits: readonly Limit[];
}

/** What is remembered of decisions. */
export class Records {
  readonly store: Store;
  readonly answers: AnswerCache;
  readonly pending = new PendingDecisions();
  readonly #newNote: RecordsOptions["newNote"];
  readonly #onTrouble: (message: string) => void;
  readonly #kept = new Map<string, Promise<void>>();
  readonly #isKept = new WeakSet<LoadedDefinition>();
  #unwritten: string[] = [];
  #writing: Promise<void> | undefined;

  constructor(store: Store, { newNote, onWarning: onTrouble }: RecordsOptions) {
    this.store = store;
    this.#newNote = newNote;
    this.answers = new AnswerCache(store.shelf("cache"), onTrouble);
    this.#onTrouble = onTrouble;
  }

  get log(): Ledger {
    return this.store.log;
  }

  /** Resolves once the records are kept for good, all in one step; gives the limit that kept them out, if one did. */
  async append(...drafts: readonly [RecordDraft, ...RecordDraft[]]): Promise<Limit | undefined> {
    const [first, ...others] = drafts;
    try {
      for (const { loaded } of drafts) {
        if (this.#isKept.has(loaded)) continue;
        await this.#keepDefinition(loaded);
        this.#isKept.add(loaded);
      }
      const appended = await this.store.log.append(toEntry(first), ...others.map(toEntry));
      return "refused" in appended ? appended.refused : undefined;
    } finally {
      for (const { result } of drafts) this.pending.remove(result.record_id ?? "");
    }
  }

  /** Lets other processes know of an answer; those of one moment are written together. */
  publish(key: string): Promise<void> {
    this.#unwritten.push(key);
    this.#writing ??= soon().then(async () => {
      const keys = this.#unwritten;
      this.#unwritten = [];
      this.#writing = undefined;
      await this.answers.persist(keys).catch((error: unknown) => {
        this.#onTrouble(`the answer could not be cached: ${(error as Error).message}`);
      });
    });
    return this.#writing;
  }

  /** Removes the oldest records; the log says which, and what was asked for. */
  prune(prunable: Prunable, asked: JsonObject): Promise<void> {
    const noteOf = (details: JsonObject): string =>
      noteRecordBody({ ...this.#newNote(), note: "pruned", details: { ...details, ...asked } });
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

const toEntry = ({ result, metadata: about, loaded, counts, limits }: RecordDraft): Entry => ({
  body: decisionRecordBody(result, about, loaded.definition.logging),
  counts,
  limits,
});

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A decision that is made and about to be recorded. */
interface PendingDecision {
  readonly record_id: string;
  readonly decision_id: string;
  readonly entities: readonly Entity[];
  readonly sources: readonly string[];
  readonly labels: readonly string[];
  readonly targets: readonly string[];
}

interface NumberedDecision {
  readonly decision: PendingDecision;
  /** Counts on, so that newer ones come first. */
  readonly number: number;
}

/** The decisions of this process that the log does not have yet: those of one batch are recorded together. */
class PendingDecisions {
  readonly #byId = new Map<string, PendingDecision>();
  readonly #byEntity = new Map<string, Map<string, NumberedDecision>>();
  #added = 0;
  #turn: Promise<unknown> = Promise.resolve();

  add(decision: PendingDecision): void {
    const counted = { decision, number: this.#added++ };
    this.#byId.set(decision.record_id, decision);
    for (const key of entityKeys(decision)) {
      const known = this.#byEntity.get(key);
      if (known === undefined) this.#byEntity.set(key, new Map([[decision.record_id, counted]]));
      else known.set(decision.record_id, counted);
    }
  }

  remove(recordId: string): void {
    const decision = this.#byId.get(recordId);
    if (decision === undefined) return;
    this.#byId.delete(recordId);
    for (const key of entityKeys(decision)) {
      const known = this.#byEntity.get(key);
      known?.delete(recordId);
      if (known?.size === 0) this.#byEntity.delete(key);
    }
  }

  /** Nobody goes on before those who asked earlier: so they are recorded in the order in which they know each other. */
  afterEarlier<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const turn = Promise.allSettled([this.#turn, answer]).then(() => answer);
    this.#turn = turn;
    return turn;
  }

  /** Those that share an entity, newest first, as if they stood behind the end of the log. */
  neighbours(decisionId: string, entities: readonly Entity[]): readonly Neighbour[] {
    if (this.#byId.size === 0) return [];
    const shared = new Map<NumberedDecision, number>();
    for (const key of entityKeys({ decision_id: decisionId, entities })) {
      for (const each of this.#byEntity.get(key)?.values() ?? [])
        shared.set(each, (shared.get(each) ?? 0) + 1);
    }
    return [...shared]
      .sort(([a], [b]) => b.number - a.number)
      .map(([{ decision, number }, count]) => toNeighbour(decision, count, firstPendingSeq + number));
  }
}

const firstPendingSeq = 2 ** 52;

const entityKeys = ({
  decision_id,
  entities,
}: Pick<PendingDecision, "decision_id" | "entities">): readonly string[] =>
  entities.map(({ type, id }) => JSON.stringify([decision_id, type, id]));

function toNeighbour(decision: PendingDecision, shared: number, seq: number): Neighbour {
  const { record_id, decision_id, entities, sources, labels, targets } = decision;
  return {
    seq,
    shared,
    entities: entities.length,
    sources,
    labels,
    read() {
      // As much of the record as anybody asks for.
      const record = {
        kind: "decision",
        record_id,
        decision_id,
        selected_targets: targets,
        lineage: { entities },
      };
      return Promise.resolve(record as unknown as LogRecord);
    },
  };
}
