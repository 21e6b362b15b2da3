import type { Entity } from "../model/lineage.js";
import type { LogRecord } from "../model/record.js";
import type { Neighbour } from "../model/store.js";

/** A decision that is made and about to be recorded. */
export interface RecentDecision {
  readonly record_id: string;
  readonly decision_id: string;
  readonly entities: readonly Entity[];
  readonly sources: readonly string[];
  readonly labels: readonly string[];
  readonly targets: readonly string[];
}

interface Counted {
  readonly decision: RecentDecision;
  /** Counts on, so that newer ones come first. */
  readonly number: number;
}

/** The decisions of this process that the log does not have yet: those of one batch are recorded together. */
export class RecentDecisions {
  readonly #byId = new Map<string, RecentDecision>();
  readonly #byEntity = new Map<string, Map<string, Counted>>();
  #added = 0;
  #turn: Promise<unknown> = Promise.resolve();

  add(decision: RecentDecision): void {
    const counted = { decision, number: this.#added++ };
    this.#byId.set(decision.record_id, decision);
    for (const key of keysOf(decision)) {
      const known = this.#byEntity.get(key);
      if (known === undefined) this.#byEntity.set(key, new Map([[decision.record_id, counted]]));
      else known.set(decision.record_id, counted);
    }
  }

  remove(recordId: string): void {
    const decision = this.#byId.get(recordId);
    if (decision === undefined) return;
    this.#byId.delete(recordId);
    for (const key of keysOf(decision)) {
      const known = this.#byEntity.get(key);
      known?.delete(recordId);
      if (known?.size === 0) this.#byEntity.delete(key);
    }
  }

  /** Nobody goes on before those who asked earlier: so they are recorded in the order in which they know each other. */
  inTurn<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const turn = Promise.allSettled([this.#turn, answer]).then(() => answer);
    this.#turn = turn;
    return turn;
  }

  /** Those that share an entity, newest first, as if they stood behind the end of the log. */
  neighbours(decisionId: string, entities: readonly Entity[]): readonly Neighbour[] {
    if (this.#byId.size === 0) return [];
    const shared = new Map<Counted, number>();
    for (const key of keysOf({ decision_id: decisionId, entities })) {
      for (const each of this.#byEntity.get(key)?.values() ?? [])
        shared.set(each, (shared.get(each) ?? 0) + 1);
    }
    return [...shared]
      .sort(([a], [b]) => b.number - a.number)
      .map(([{ decision, number }, count]) => neighbourOf(decision, count, afterAll + number));
  }
}

const afterAll = 2 ** 52;

const keysOf = ({
  decision_id,
  entities,
}: Pick<RecentDecision, "decision_id" | "entities">): readonly string[] =>
  entities.map(({ type, id }) => JSON.stringify([decision_id, type, id]));

function neighbourOf(decision: RecentDecision, shared: number, seq: number): Neighbour {
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
