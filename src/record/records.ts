import { isVisibleTo } from "../definition/organisation.js";
import { AnswerCache } from "./answer-cache.js";
import type { RecordMetadata } from "./record-json.js";
import { decisionRecordBody, noteRecordBody } from "./record-json.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Entity } from "../model/lineage.js";
import type { LogRecord } from "../model/record.js";
import type { Result } from "../model/result.js";
import type {
  Appended,
  Count,
  Entry,
  Ledger,
  Limit,
  LogPlace,
  Neighbour,
  NeighbourSubject,
  NeighbourTraits,
  Prunable,
  Store,
} from "../model/store.js";

interface RecordsOptions {
  /** Returns the id and timestamp for a new note. */
  readonly newNote: () => { readonly record_id: string; readonly timestamp: string };
  /** Receives failures that do not affect a decision. */
  readonly onWarning: (message: string) => void;
}

/** A decision to be recorded. */
export interface RecordDraft {
  readonly result: Result;
  readonly metadata: RecordMetadata;
  readonly loaded: LoadedDefinition;
  readonly counts: readonly Count[];
  readonly limits: readonly Limit[];
}

/** Records decisions, with their definitions and cached answers. */
export class Records {
  readonly store: Store;
  readonly answers: AnswerCache;
  readonly pending = new PendingDecisions();
  readonly #newNote: RecordsOptions["newNote"];
  /** Receives failures that do not affect a decision. */
  readonly onWarning: (message: string) => void;
  readonly #stored = new Map<string, Promise<void>>();
  readonly #isStored = new WeakSet<LoadedDefinition>();
  #unwritten: string[] = [];
  #writing: Promise<void> | undefined;

  constructor(store: Store, { newNote, onWarning }: RecordsOptions) {
    this.store = store;
    this.#newNote = newNote;
    this.answers = new AnswerCache(store, onWarning);
    this.onWarning = onWarning;
  }

  get log(): Ledger {
    return this.store.log;
  }

  /** Appends records atomically; resolves when they are durable. A limit that was reached refuses all. */
  async append(...drafts: readonly [RecordDraft, ...RecordDraft[]]): Promise<Appended> {
    const [first, ...others] = drafts;
    try {
      for (const { loaded } of drafts) {
        if (this.#isStored.has(loaded)) continue;
        await this.#storeDefinition(loaded);
        this.#isStored.add(loaded);
      }
      const appended = await this.store.log.append(toEntry(first), ...others.map(toEntry));
      if ("refused" in appended) return appended;
      for (const [index, draft] of drafts.entries()) this.#setPlace(draft, appended.places[index]);
      return appended;
    } finally {
      for (const { result } of drafts) this.pending.remove(result.record_id ?? "");
    }
  }

  /** Says where the record of a new cached answer is. */
  #setPlace({ result, metadata }: RecordDraft, place: LogPlace | undefined): void {
    if (metadata.answerDigest === undefined || metadata.cacheKey === undefined || place === undefined) return;
    this.answers.setPlace(metadata.cacheKey, result.record_id ?? "", place);
  }

  /** Writes a cached answer for other processes; answers of one event loop turn are written together. */
  publish(key: string): Promise<void> {
    this.#unwritten.push(key);
    this.#writing ??= soon().then(async () => {
      const keys = this.#unwritten;
      this.#unwritten = [];
      this.#writing = undefined;
      await this.answers.persist(keys).catch((error: unknown) => {
        this.onWarning(`cannot cache the answer: ${(error as Error).message}`);
      });
    });
    return this.#writing;
  }

  /** Removes the oldest records and appends a note that says which, and what was requested. */
  prune(prunable: Prunable, request: JsonObject): Promise<void> {
    const noteOf = (details: JsonObject): string =>
      noteRecordBody({ ...this.#newNote(), note: "pruned", details: { ...details, ...request } });
    return this.store.log.prune(prunable, noteOf);
  }

  /** Stores the definition and its environment by their hashes, so that records can be replayed after the file changed. */
  #storeDefinition(loaded: LoadedDefinition): Promise<void> {
    const { definition, definition_hash, environment, environment_hash } = loaded;
    const name = `${definition_hash} ${environment_hash}`;
    let stored = this.#stored.get(name);
    if (stored === undefined) {
      stored = Promise.all([
        this.#put("definitions", definition_hash, definition as unknown as Json),
        this.#put("environments", environment_hash, environment),
      ]).then(() => undefined);
      this.#stored.set(name, stored);
      stored.catch(() => this.#stored.delete(name));
    }
    return stored;
  }

  async #put(name: "definitions" | "environments", key: string, value: Json): Promise<void> {
    const shelf = this.store.shelf(name);
    if ((await shelf.get(key)) === undefined) await shelf.put([{ key, value }]);
  }
}

const toEntry = ({ result, metadata, loaded, counts, limits }: RecordDraft): Entry => ({
  body: decisionRecordBody(result, metadata, loaded.definition.logging),
  counts,
  limits,
});

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A decision that was made and is not in the log yet. */
interface PendingDecision {
  readonly record_id: string;
  readonly subject: NeighbourSubject;
  readonly entities: readonly Entity[];
  readonly traits: NeighbourTraits;
  readonly labels: readonly string[];
  readonly targets: readonly string[];
  /** The organisation that its caller is bound to. */
  readonly org: string | undefined;
}

interface NumberedDecision {
  readonly decision: PendingDecision;
  /** Increases, so that newer decisions come first. */
  readonly number: number;
}

/** The decisions of this process that are not in the log yet: a batch is recorded together. */
class PendingDecisions {
  readonly #byId = new Map<string, PendingDecision>();
  readonly #byEntity = new Map<string, Map<string, NumberedDecision>>();
  #added = 0;
  #turn: Promise<unknown> = Promise.resolve();

  add(decision: PendingDecision): void {
    const counted = { decision, number: this.#added++ };
    this.#byId.set(decision.record_id, decision);
    for (const key of entityKeys(decision)) {
      const sameEntity = this.#byEntity.get(key);
      if (sameEntity === undefined) this.#byEntity.set(key, new Map([[decision.record_id, counted]]));
      else sameEntity.set(decision.record_id, counted);
    }
  }

  remove(recordId: string): void {
    const decision = this.#byId.get(recordId);
    if (decision === undefined) return;
    this.#byId.delete(recordId);
    for (const key of entityKeys(decision)) {
      const sameEntity = this.#byEntity.get(key);
      sameEntity?.delete(recordId);
      if (sameEntity?.size === 0) this.#byEntity.delete(key);
    }
  }

  /** Resolves after all earlier calls, so that decisions are recorded in the order in which they saw each other. */
  afterEarlier<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const turn = Promise.allSettled([this.#turn, answer]).then(() => answer);
    this.#turn = turn;
    return turn;
  }

  /**
   * Returns the decisions that share an entity and that a caller of this organisation may see, newest first, with
   * sequence numbers after the end of the log.
   */
  neighbours(
    subject: NeighbourSubject,
    entities: readonly Entity[],
    org: string | undefined,
  ): readonly Neighbour[] {
    if (this.#byId.size === 0) return [];
    const shared = new Map<NumberedDecision, number>();
    for (const key of entityKeys({ subject, entities })) {
      for (const each of this.#byEntity.get(key)?.values() ?? [])
        shared.set(each, (shared.get(each) ?? 0) + 1);
    }
    return [...shared]
      .filter(([{ decision }]) => isVisibleTo(org, decision.org))
      .sort(([a], [b]) => b.number - a.number)
      .map(([{ decision, number }, count]) => toNeighbour(decision, count, firstPendingSeq + number));
  }
}

const firstPendingSeq = 2 ** 52;

const entityKeys = ({
  subject: { decision_id, tool },
  entities,
}: Pick<PendingDecision, "subject" | "entities">): readonly string[] =>
  entities.map(({ type, id }) => JSON.stringify([decision_id, tool, type, id]));

function toNeighbour(decision: PendingDecision, shared: number, seq: number): Neighbour {
  const { record_id, subject, entities, traits, labels, targets } = decision;
  return {
    seq,
    shared,
    entities: entities.length,
    traits,
    labels,
    read() {
      // The fields that callers use.
      const record = {
        kind: "decision",
        record_id,
        decision_id: subject.decision_id,
        selected_targets: targets,
        lineage: { entities },
      };
      return Promise.resolve(record as unknown as LogRecord);
    },
  };
}
