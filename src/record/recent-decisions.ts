import type { Entity } from "../model/lineage.js";
import type { LogLine, Neighbour } from "../model/store.js";
import { isSame } from "./record-keys.js";

/** A decision that is made and about to be recorded. */
export interface RecentDecision {
  readonly record_id: string;
  readonly decision_id: string;
  readonly entities: readonly Entity[];
  readonly sources: readonly string[];
  readonly labels: readonly string[];
}

/** The decisions of this process that the log does not have yet: those of one batch are recorded together. */
export class RecentDecisions {
  readonly #byDecision = new Map<string, Map<string, RecentDecision>>();

  add(decision: RecentDecision): void {
    const { decision_id: id, record_id } = decision;
    const known = this.#byDecision.get(id);
    if (known === undefined) this.#byDecision.set(id, new Map([[record_id, decision]]));
    else known.set(record_id, decision);
  }

  remove(decisionId: string, recordId: string): void {
    const known = this.#byDecision.get(decisionId);
    known?.delete(recordId);
    if (known?.size === 0) this.#byDecision.delete(decisionId);
  }

  /** Those that share an entity, newest first, as if they stood behind the end of the log. */
  neighbours(decisionId: string, entities: readonly Entity[]): readonly Neighbour[] {
    const known = [...(this.#byDecision.get(decisionId)?.values() ?? [])];
    return known
      .map((decision, index) =>
        neighbourOf(decision, entities, Number.MAX_SAFE_INTEGER - known.length + index),
      )
      .filter(({ shared }) => shared > 0)
      .reverse();
  }
}

function neighbourOf(decision: RecentDecision, entities: readonly Entity[], seq: number): Neighbour {
  const { sources, labels } = decision;
  const shared = entities.filter((each) => decision.entities.some((other) => isSame(each, other))).length;
  // As much of the record as anybody asks for.
  const record = {
    kind: "decision",
    record_id: decision.record_id,
    decision_id: decision.decision_id,
    lineage: { entities: decision.entities },
  } as unknown as LogLine["record"];
  return {
    seq,
    shared,
    entities: decision.entities.length,
    sources,
    labels,
    read: () => Promise.resolve({ text: "", record, intact: true }),
  };
}
