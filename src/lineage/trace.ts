import type { DecisionRecord, LogRecord } from "../model/record.js";
import { sameCheck } from "../record/same-check.js";
import type { Branch, Proposal } from "./branches.js";
import { branchesOf, proposalOf } from "./branches.js";
import type { LineageLog, Step } from "./downstream.js";
import { downstreamOf } from "./downstream.js";
import type { RecordSummary } from "./record-summary.js";
import { summaryOf } from "./record-summary.js";
import type { RecordedLineage } from "./recorded-lineage.js";
import { recordedLineage } from "./recorded-lineage.js";
import type { Upstream } from "./upstream.js";
import { upstreamOf } from "./upstream.js";

/** What a record rested on, and what rests on it. */
export interface Trace {
  readonly record: RecordSummary;
  readonly restedOn: Omit<RecordedLineage, "precedents"> & Omit<Upstream, "complete">;
  readonly ledTo: {
    readonly branches: readonly Branch[];
    readonly proposed: Proposal | null;
    readonly steps: readonly Step[];
  };
  /** The other decisions about the same call. */
  readonly sameCheck: readonly RecordSummary[];
  /** False: there is more than was looked at. */
  readonly complete: boolean;
  readonly damaged: boolean;
}

/** Undefined where the record is about the log alone. */
export async function traceOf(record: LogRecord, log: LineageLog, limit: number): Promise<Trace | undefined> {
  const summary = summaryOf(record);
  if (summary === undefined) return undefined;
  const lineage = recordedLineage(record);
  const { complete: isTop, ...upstream } = await upstreamOf(summary, lineage, { log, limit });
  const { record_id } = summary;
  const { steps, complete: isBottom, damaged } = await downstreamOf({ record_id }, log, limit);
  return {
    record: summary,
    restedOn: { ...lineage, ...upstream },
    ledTo: {
      branches: summary.kind === "decision" ? branchesOf(summary) : [],
      proposed: proposalOf(record),
      steps,
    },
    sameCheck: record.kind === "decision" ? await others(record, log, limit) : [],
    complete: isTop && isBottom,
    damaged,
  };
}

async function others(
  record: DecisionRecord,
  log: LineageLog,
  limit: number,
): Promise<readonly RecordSummary[]> {
  const all = await sameCheck(record, log, limit);
  return all.filter(({ seq }) => seq !== record.seq).flatMap((each) => summaryOf(each) ?? []);
}
