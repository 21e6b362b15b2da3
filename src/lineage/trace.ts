import type { Branch, Proposal, RecordSummary, NamedRecord, RecordedLineage } from "./record-summary.js";
import { branchesOf, proposalOf, summarizeRecord, recordedLineage } from "./record-summary.js";
import type { Lineage, Precedent } from "../model/lineage.js";
import type { DecisionRecord, LogRecord } from "../model/record.js";
import type { Ledger, RecordKey } from "../model/store.js";
import { recordsOfCheck } from "../record/find-records.js";

/** What a record rested on, and what rests on it. */
export interface LineageTrace {
  readonly record: RecordSummary;
  readonly restedOn: Omit<RecordedLineage, "precedents"> & Omit<Upstream, "complete">;
  readonly ledTo: {
    readonly branches: readonly Branch[];
    readonly proposed: Proposal | null;
    readonly steps: readonly LineageStep[];
  };
  /** The other decisions about the same call. */
  readonly sameCheck: readonly RecordSummary[];
  /** False: there is more than was looked at. */
  readonly complete: boolean;
  readonly damaged: boolean;
}

/** Undefined where the record is about the log alone. */
export async function traceRecord(
  record: LogRecord,
  log: LineageLog,
  limit: number,
): Promise<LineageTrace | undefined> {
  const summary = summarizeRecord(record);
  if (summary === undefined) return undefined;
  const lineage = recordedLineage(record);
  const { complete: isTop, ...upstream } = await findUpstream(summary, lineage, { log, limit });
  const { record_id } = summary;
  const { steps, complete: isBottom, damaged } = await findDownstream({ record_id }, log, limit);
  return {
    record: summary,
    restedOn: { ...lineage, ...upstream },
    ledTo: {
      branches: summary.kind === "decision" ? branchesOf(summary) : [],
      proposed: proposalOf(record),
      steps,
    },
    sameCheck: record.kind === "decision" ? await otherRecordsOfCheck(record, log, limit) : [],
    complete: isTop && isBottom,
    damaged,
  };
}

async function otherRecordsOfCheck(
  record: DecisionRecord,
  log: LineageLog,
  limit: number,
): Promise<readonly RecordSummary[]> {
  const all = await recordsOfCheck(record, log, limit);
  return all.filter(({ seq }) => seq !== record.seq).flatMap((each) => summarizeRecord(each) ?? []);
}

/** The records that a record rests on. */
interface Upstream {
  /** Those of its artifacts that are records. */
  readonly artifact_records: readonly RecordSummary[];
  /** The decisions that allowed a call. */
  readonly allowed_by: readonly NamedRecord[];
  /** On whose behalf it was made, nearest first; of a call, on whose behalf it was allowed. */
  readonly parents: readonly NamedRecord[];
  /** Where its answer is from. */
  readonly cached_from: NamedRecord | null;
  readonly precedents: readonly TracedPrecedent[];
  /** False: there are more than were looked at. */
  readonly complete: boolean;
}

export interface TracedPrecedent extends Precedent {
  readonly record: NamedRecord;
}

/** The records that a record names, and those that these name as their parents: `limit` of each at most. */
async function findUpstream(
  record: RecordSummary,
  { artifacts, precedents }: Pick<Lineage, "artifacts" | "precedents">,
  { log, limit }: { readonly log: LineageLog; readonly limit: number },
): Promise<Upstream> {
  const find = (ids: readonly string[]): Promise<readonly NamedRecord[]> =>
    findNamedRecords(ids.slice(0, limit), log);
  const allowing = record.kind === "tool_result" ? record.decision_records : [];
  const made = artifacts.filter((each) => fullIdPattern.test(each));
  const allowed_by = await find(allowing);
  const { parents, complete } = await findParents([record, ...allowed_by], log, limit);
  const origin = record.kind === "decision" ? record.cached_from : undefined;
  const older = await find(precedents.map(({ record_id }) => record_id));
  return {
    artifact_records: (await find(made)).filter((each) => each.kind !== "missing"),
    allowed_by,
    parents,
    cached_from: origin === undefined ? null : await findNamedRecord(origin, log),
    precedents: precedents.flatMap((each, index) => {
      const found = older[index];
      return found === undefined ? [] : [{ ...each, record: found }];
    }),
    complete: complete && [allowing, made, precedents].every(({ length }) => length <= limit),
  };
}

/** A parent of all, and its parents; nobody is the parent of himself. */
async function findParents(
  children: readonly NamedRecord[],
  log: LineageLog,
  limit: number,
): Promise<Pick<Upstream, "parents" | "complete">> {
  const seen = new Set(children.map(({ record_id }) => record_id));
  const parents: NamedRecord[] = [];
  let next = children.map(parentIdOf).find((id) => id !== undefined && !seen.has(id));
  while (next !== undefined && !seen.has(next)) {
    if (parents.length >= limit) return { parents, complete: false };
    seen.add(next);
    const parent = await findNamedRecord(next, log);
    parents.push(parent);
    next = parentIdOf(parent);
  }
  return { parents, complete: true };
}

const parentIdOf = (record: NamedRecord): string | undefined =>
  record.kind === "missing" ? undefined : record.parent_record_id;

async function findNamedRecords(ids: readonly string[], log: LineageLog): Promise<readonly NamedRecord[]> {
  const found: NamedRecord[] = [];
  for (const id of ids) found.push(await findNamedRecord(id, log));
  return found;
}

const fullIdPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Callers name what they like as a parent, a beginning of many ids among it. */
async function findNamedRecord(id: string, log: LineageLog): Promise<NamedRecord> {
  const missing: NamedRecord = { kind: "missing", record_id: id };
  if (!fullIdPattern.test(id)) return missing;
  const found = await log.find({ beginning: id });
  return ("record" in found ? summarizeRecord(found.record) : undefined) ?? missing;
}

/** What a lineage needs to know of a log: single records, and those that name something. */
export type LineageLog = Pick<Ledger, "find" | "related">;

/** How a record rests on what came before it. */
type Relation =
  /** It was made on behalf of another decision. */
  | "child"
  /** It tells how a call went that was allowed. */
  | "result"
  /** It had something as one of its artifacts. */
  | "input_of"
  /** Its answer was taken from the cache. */
  | "cached_answer";

/** What others rest on. */
export type LineageOrigin = { readonly artifact: string } | { readonly record_id: string };

/** One step down: a record, and what it rests on. */
export interface LineageStep {
  readonly from: LineageOrigin;
  readonly relation: Relation;
  readonly record: RecordSummary;
}

export interface Downstream {
  /** Nearest first. A record that rests on several of those that were reached has a step from each. */
  readonly steps: readonly LineageStep[];
  /** False: there is more than was looked at. */
  readonly complete: boolean;
  /** Whether records were left out as they are no whole ones any more. */
  readonly damaged: boolean;
}

/** All that rests on an artifact or a record, at once or in the end; each record is followed once, `limit` of them at most. */
export async function findDownstream(
  origin: LineageOrigin,
  log: LineageLog,
  limit: number,
): Promise<Downstream> {
  const reader = new RelatedReader(log, maxLinesRead(limit));
  const steps: LineageStep[] = [];
  const reached = new Set("record_id" in origin ? [origin.record_id] : []);
  const most = reached.size + limit;
  const ahead: LineageOrigin[] = [origin];
  let complete = true;
  for (const from of ahead) {
    const found = await reader.stepsFrom(from, most + 1);
    const fresh = new Set(found.map(({ record }) => record.record_id).filter((id) => !reached.has(id)));
    if (fresh.size > most - reached.size) complete = false;
    for (const id of [...fresh].slice(0, most - reached.size)) reached.add(id);
    for (const step of found.filter(({ record }) => reached.has(record.record_id)).sort(byRankAndSeq)) {
      steps.push(step);
      const { record_id } = step.record;
      if (fresh.delete(record_id)) ahead.push({ record_id });
    }
  }
  return { steps, complete: complete && !reader.isCut, damaged: reader.damaged };
}

/** Many a line may have to be passed over: of a popular answer, each time that it was taken from the cache. */
const maxLinesRead = (limit: number): number => 1000 + 10 * limit;

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
  async stepsFrom(from: LineageOrigin, most: number): Promise<readonly LineageStep[]> {
    if ("artifact" in from) return await this.#related(from, from, most);
    const naming = await this.#related({ refers_to: from.record_id }, from, Infinity);
    const using = await this.#related({ artifact: from.record_id }, from, most);
    return [...naming, ...using].sort((a, b) => relationRanks[a.relation] - relationRanks[b.relation]);
  }

  async #related(key: RecordKey, from: LineageOrigin, most: number): Promise<readonly LineageStep[]> {
    const found: LineageStep[] = [];
    const limit = Math.min(most, this.#left);
    let read = 0;
    for await (const { record } of limit === 0 ? [] : this.#log.related(key, { limit })) {
      read++;
      const summary = summarizeRecord(record);
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

const relationRanks: Readonly<Record<Relation, number>> = {
  child: 0,
  result: 1,
  input_of: 2,
  cached_answer: 3,
};

const byRankAndSeq = (a: LineageStep, b: LineageStep): number =>
  relationRanks[a.relation] - relationRanks[b.relation] || a.record.seq - b.record.seq;
