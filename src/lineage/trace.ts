import type { Branch, Proposal, RecordSummary, NamedRecord, RecordedLineage } from "./record-summary.js";
import { branchesOf, proposalOf, summarizeRecord, recordedLineage } from "./record-summary.js";
import type { Lineage, Precedent } from "../model/lineage.js";
import type { DecisionRecord, LogRecord } from "../model/record.js";
import type { Ledger, RecordKey } from "../model/store.js";
import { recordsOfCheck } from "../record/find-records.js";

/** A record with what it depends on and what depends on it. */
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
  /** False: the limit was reached, so there may be more. */
  readonly complete: boolean;
  readonly damaged: boolean;
}

/** Traces a record; undefined for a damaged record or a note about the log. */
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

/** The records that a record depends on. */
interface Upstream {
  /** Its artifacts that are records. */
  readonly artifact_records: readonly RecordSummary[];
  /** The decisions that allowed a call. */
  readonly allowed_by: readonly NamedRecord[];
  /** Its parent, the parent's parent and so on; for a tool result, those of the decision that allowed the call. */
  readonly parents: readonly NamedRecord[];
  /** The record whose cached answer it used. */
  readonly cached_from: NamedRecord | null;
  readonly precedents: readonly TracedPrecedent[];
  /** False: the limit was reached, so there may be more. */
  readonly complete: boolean;
}

export interface TracedPrecedent extends Precedent {
  readonly record: NamedRecord;
}

/** Finds the records that a record refers to, and their parents: at most `limit` of each. */
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

/** Follows the first parent of these records; stops at a cycle. */
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

/** Accepts full ids only: a caller may have given any text as a parent, such as a prefix of many ids. */
async function findNamedRecord(id: string, log: LineageLog): Promise<NamedRecord> {
  const missing: NamedRecord = { kind: "missing", record_id: id };
  if (!fullIdPattern.test(id)) return missing;
  const found = await log.find({ beginning: id });
  return ("record" in found ? summarizeRecord(found.record) : undefined) ?? missing;
}

/** The part of a log that a lineage reads. */
export type LineageLog = Pick<Ledger, "find" | "related">;

/** How a record depends on an earlier one. */
type Relation =
  /** It was made as part of another decision. */
  | "child"
  /** It is the result of a call that was allowed. */
  | "result"
  /** It has it as an artifact. */
  | "input_of"
  /** It used its cached answer. */
  | "cached_answer";

/** The start of a search downstream. */
export type LineageOrigin = { readonly artifact: string } | { readonly record_id: string };

/** One step downstream: a record, and what it depends on. */
export interface LineageStep {
  readonly from: LineageOrigin;
  readonly relation: Relation;
  readonly record: RecordSummary;
}

export interface Downstream {
  /** Nearest first. A record that depends on several of the records found has a step from each. */
  readonly steps: readonly LineageStep[];
  /** False: the limit was reached, so there may be more. */
  readonly complete: boolean;
  /** Whether damaged records were left out. */
  readonly damaged: boolean;
}

/** Finds all records that depend on an artifact or a record, directly or indirectly: at most `limit`. */
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

/** Bounds the lines read: a popular cached answer may have very many uses. */
const maxLinesRead = (limit: number): number => 1000 + 10 * limit;

/** Reads related records, up to a total number of lines. */
class RelatedReader {
  damaged = false;
  /** Whether the limit was reached. */
  isCut = false;
  readonly #log: LineageLog;
  #left: number;

  constructor(log: LineageLog, most: number) {
    this.#log = log;
    this.#left = most;
  }

  /** Returns steps by rank of their relation, the newest first; uses as an artifact are limited to `most`. */
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

/** The records that depend on an artifact. */
export interface Impact extends Downstream {
  readonly artifact: string;
}

/**
 * Finds the decisions that have the artifact as an input, and what depends on those. The targets of decisions are
 * not followed as artifacts of the same name: many decisions lead to a target, but it is not made from them.
 */
export async function findImpact(artifact: string, log: LineageLog, limit: number): Promise<Impact> {
  return { artifact, ...(await findDownstream({ artifact }, log, limit)) };
}
