import type { Lineage, Precedent } from "../model/lineage.js";
import type { LineageLog } from "./downstream.js";
import type { NamedRecord, RecordSummary } from "./record-summary.js";
import { summaryOf } from "./record-summary.js";

/** The records that a record rests on. */
export interface Upstream {
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
export async function upstreamOf(
  record: RecordSummary,
  { artifacts, precedents }: Pick<Lineage, "artifacts" | "precedents">,
  { log, limit }: { readonly log: LineageLog; readonly limit: number },
): Promise<Upstream> {
  const find = (ids: readonly string[]): Promise<readonly NamedRecord[]> =>
    recordsCalled(ids.slice(0, limit), log);
  const allowing = record.kind === "tool_result" ? record.decision_records : [];
  const made = artifacts.filter((each) => wholeId.test(each));
  const allowed_by = await find(allowing);
  const { parents, complete } = await parentsOf([record, ...allowed_by], log, limit);
  const origin = record.kind === "decision" ? record.cached_from : undefined;
  const older = await find(precedents.map(({ record_id }) => record_id));
  return {
    artifact_records: (await find(made)).filter((each) => each.kind !== "missing"),
    allowed_by,
    parents,
    cached_from: origin === undefined ? null : await recordCalled(origin, log),
    precedents: precedents.flatMap((each, index) => {
      const found = older[index];
      return found === undefined ? [] : [{ ...each, record: found }];
    }),
    complete: complete && [allowing, made, precedents].every(({ length }) => length <= limit),
  };
}

/** A parent of all, and its parents; nobody is the parent of himself. */
async function parentsOf(
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
    const parent = await recordCalled(next, log);
    parents.push(parent);
    next = parentIdOf(parent);
  }
  return { parents, complete: true };
}

const parentIdOf = (record: NamedRecord): string | undefined =>
  record.kind === "missing" ? undefined : record.parent_record_id;

async function recordsCalled(ids: readonly string[], log: LineageLog): Promise<readonly NamedRecord[]> {
  const found: NamedRecord[] = [];
  for (const id of ids) found.push(await recordCalled(id, log));
  return found;
}

const wholeId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Callers name what they like as a parent, a beginning of many ids among it. */
async function recordCalled(id: string, log: LineageLog): Promise<NamedRecord> {
  const missing: NamedRecord = { kind: "missing", record_id: id };
  if (!wholeId.test(id)) return missing;
  const found = await log.find({ beginning: id });
  return ("record" in found ? summaryOf(found.record) : undefined) ?? missing;
}
