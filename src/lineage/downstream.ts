import type { Ledger, RecordKey } from "../model/store.js";
import type { RecordSummary } from "./record-summary.js";
import { summaryOf } from "./record-summary.js";

/** What a lineage needs to know of a log: single records, and those that name something. */
export type LineageLog = Pick<Ledger, "find" | "related">;

/** How a record rests on what came before it. */
export type Relation =
  /** It was made on behalf of another decision. */
  | "child"
  /** It tells how a call went that was allowed. */
  | "result"
  /** It had something as one of its artifacts. */
  | "input_of"
  /** Its answer was taken from the cache. */
  | "cached_answer";

/** What others rest on. */
export type Origin = { readonly artifact: string } | { readonly record_id: string };

/** One step down: a record, and what it rests on. */
export interface Step {
  readonly from: Origin;
  readonly relation: Relation;
  readonly record: RecordSummary;
}

export interface Downstream {
  /** Nearest first. A record that rests on several of those that were reached has a step from each. */
  readonly steps: readonly Step[];
  /** False: there is more than was looked at. */
  readonly complete: boolean;
  /** Whether records were left out as they are no whole ones any more. */
  readonly damaged: boolean;
}

/** All that rests on an artifact or a record, at once or in the end; each record is followed once, `limit` of them at most. */
export async function downstreamOf(origin: Origin, log: LineageLog, limit: number): Promise<Downstream> {
  const reader = new RelatedReader(log, mostRead(limit));
  const steps: Step[] = [];
  const reached = new Set("record_id" in origin ? [origin.record_id] : []);
  const most = reached.size + limit;
  const ahead: Origin[] = [origin];
  let complete = true;
  for (const from of ahead) {
    const found = await reader.stepsFrom(from, most + 1);
    const fresh = new Set(found.map(({ record }) => record.record_id).filter((id) => !reached.has(id)));
    if (fresh.size > most - reached.size) complete = false;
    for (const id of [...fresh].slice(0, most - reached.size)) reached.add(id);
    for (const step of found.filter(({ record }) => reached.has(record.record_id)).sort(inOrder)) {
      steps.push(step);
      const { record_id } = step.record;
      if (fresh.delete(record_id)) ahead.push({ record_id });
    }
  }
  return { steps, complete: complete && !reader.isCut, damaged: reader.damaged };
}

/** Many a line may have to be passed over: of a popular answer, each time that it was taken from the cache. */
const mostRead = (limit: number): number => 1000 + 10 * limit;

/** Asks the log for related records, for so many lines in all. */
class RelatedReader {
  damaged = false;
  /** Whether there may be more than was read. */
  isCut = false;
  readonly #log: LineageLog;
  #left: number;

  constructor(log: LineageLog, most: number) {
    this.#log = log;
    this.#left = most;
  }

  /** The most important first; of those, the newest. Of the less important, `most` are enough. */
  async stepsFrom(from: Origin, most: number): Promise<readonly Step[]> {
    if ("artifact" in from) return await this.#related(from, from, most);
    const naming = await this.#related({ refers_to: from.record_id }, from, Infinity);
    const using = await this.#related({ artifact: from.record_id }, from, most);
    return [...naming, ...using].sort((a, b) => ranks[a.relation] - ranks[b.relation]);
  }

  async #related(key: RecordKey, from: Origin, most: number): Promise<readonly Step[]> {
    const found: Step[] = [];
    const limit = Math.min(most, this.#left);
    let read = 0;
    for await (const { record } of limit === 0 ? [] : this.#log.related(key, { limit })) {
      read++;
      const summary = summaryOf(record);
      if (summary === undefined) this.damaged = true;
      else found.push({ from, relation: relationOf(summary, key), record: summary });
    }
    this.#left -= read;
    if (read === limit) this.isCut = true;
    return found;
  }
}

function relationOf(record: RecordSummary, key: RecordKey): Relation {
  if ("artifact" in key) return "input_of";
  if (record.kind === "tool_result") return "result";
  return "refers_to" in key && record.parent_record_id === key.refers_to ? "child" : "cached_answer";
}

const ranks: Readonly<Record<Relation, number>> = { child: 0, result: 1, input_of: 2, cached_answer: 3 };

const inOrder = (a: Step, b: Step): number =>
  ranks[a.relation] - ranks[b.relation] || a.record.seq - b.record.seq;
