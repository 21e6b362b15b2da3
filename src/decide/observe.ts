import { isVisibleTo } from "../definition/organisation.js";
import { assessConsistency } from "../lineage/deviations.js";
import type { Assessment, Severity } from "../model/assessment.js";
import type { Observer } from "../model/definition.js";
import type { DecisionRecord } from "../model/record.js";
import type { Ledger } from "../model/store.js";
import { assessmentRecordBody } from "../record/record-json.js";
import { orgOfCaller } from "../record/record-keys.js";
import type { RecordDraft, Records } from "../record/records.js";
import { isWellFormedRecord } from "../record/well-formed.js";
import type { World } from "./request.js";

/** A session with observers. */
export interface ObservedSession {
  readonly id: string;
  /** The organisation of the session; undefined: it belongs to none. */
  readonly org: string | undefined;
  /** Counts the decisions of the session. */
  readonly counter: string;
  readonly observers: readonly Observer[];
}

/** Decisions of a session that were just recorded together. */
interface RecordedDecisions {
  readonly drafts: readonly RecordDraft[];
  /** The sequence number of the last of them. */
  readonly seq: number;
  readonly session: ObservedSession;
}

const defaults = { every: 5, last: 10, on: "caution" } as const;

/** The deviations that one record lists. */
const maxDeviations = 100;

/**
 * Runs the observers that are due, and records what they find. The decisions are recorded already and stay as they are:
 * an observer that fails is reported as a warning. Only an assessment that cannot be written is an error.
 */
export async function observe(
  recorded: RecordedDecisions,
  world: Pick<World, "clock" | "newId"> & { readonly records: Records },
): Promise<void> {
  const { records } = world;
  for (const assessment of await runDue(recorded, records)) {
    const { suggestions, deviations, ...rest } = assessment;
    const { id: session_id, org } = recorded.session;
    const timestamp = world.clock();
    const body = assessmentRecordBody({
      record_id: world.newId(timestamp),
      timestamp,
      ...rest,
      session_id,
      parent_record_id: recorded.drafts.at(-1)?.result.record_id ?? "",
      ...(org !== undefined && { org_id: org }),
      suggestions,
      deviations: deviations.slice(0, maxDeviations),
      ...(deviations.length > maxDeviations && { deviations_omitted: deviations.length - maxDeviations }),
    });
    await records.log.append({ body });
  }
}

/** Returns the assessments to record, one for each observer that is due and found enough. */
async function runDue(
  recorded: RecordedDecisions,
  { log, onWarning }: Records,
): Promise<readonly Assessment[]> {
  const { session, seq, drafts } = recorded;
  const found: Assessment[] = [];
  try {
    const count = await countedUpTo(seq, session, log);
    const due = session.observers.filter(({ every = defaults.every }) => {
      const runs = (decisions: number): number => Math.floor(decisions / every);
      return runs(count) > runs(count - drafts.length);
    });
    for (const { last = defaults.last, on = defaults.on } of due) {
      const newest = newestDecisions(last, recorded, log);
      const assessment = await assessConsistency(newest, log, {
        isComparable: (earlier) => isPrecedentOf(session, earlier),
      });
      if (severities.indexOf(assessment.severity) >= severities.indexOf(on)) found.push(assessment);
    }
  } catch (error) {
    onWarning(`cannot assess session \`${session.id}\`: ${(error as Error).message}`);
  }
  return found;
}

const severities: readonly Severity[] = ["info", "caution"];

/** Returns how many decisions of the session are recorded up to this one. Others may have been recorded after it. */
async function countedUpTo(seq: number, { id, counter }: ObservedSession, log: Ledger): Promise<number> {
  const { count, seq: newest } = await log.counter(counter);
  if (newest === seq) return count;
  let later = 0;
  for await (const { record } of log.related({ session_id: id })) {
    if (record.seq <= seq) break;
    if (record.seq <= newest && record.kind === "decision" && record.counted?.includes(counter)) later++;
  }
  return count - later;
}

/** Yields the newest decisions of the session up to those that were just recorded, newest first. */
async function* newestDecisions(
  most: number,
  { session, seq }: RecordedDecisions,
  log: Ledger,
): AsyncGenerator<DecisionRecord> {
  let yielded = 0;
  for await (const { record } of log.related({ session_id: session.id })) {
    if (record.seq > seq || record.kind !== "decision" || !isWellFormedRecord(record)) continue;
    if (orgOfCaller(record) !== session.org) continue;
    yield record;
    if (++yielded >= most) return;
  }
}

/** An organisation sees its assessments, so that they must not tell of decisions of others. */
const isPrecedentOf = ({ org }: ObservedSession, earlier: DecisionRecord | undefined): boolean =>
  org === undefined || (earlier !== undefined && isVisibleTo(org, orgOfCaller(earlier)));
