import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { Ledger, LogLine } from "../model/store.js";
import { isWholeRecord } from "./whole-record.js";

/** What was recorded on behalf of a session, oldest first. */
export interface SessionRecords {
  readonly decisions: readonly Kept<DecisionRecord>[];
  readonly results: readonly Kept<ToolResultRecord>[];
  /** How many lines are no whole records any more; they are left out. */
  readonly damaged: number;
}

export interface Kept<Record> {
  readonly record: Record;
  /** Whether its line is what was written. */
  readonly intact: boolean;
}

export function recordsOfSession(session: string, log: Pick<Ledger, "related">): Promise<SessionRecords> {
  return sorted(log.related({ session_id: session }));
}

/** How the calls went that a decision allowed. */
export async function resultsOf(
  recordId: string,
  log: Pick<Ledger, "related">,
): Promise<readonly ToolResultRecord[]> {
  const { results } = await sorted(log.related({ refers_to: recordId }));
  return results.map(({ record }) => record);
}

/** The lines come newest first. */
async function sorted(lines: AsyncIterable<LogLine>): Promise<SessionRecords> {
  const decisions: Kept<DecisionRecord>[] = [];
  const results: Kept<ToolResultRecord>[] = [];
  let damaged = 0;
  for await (const { record, intact } of lines) {
    if (!isWholeRecord(record)) damaged++;
    else if (record.kind === "decision") decisions.push({ record, intact });
    else if (record.kind === "tool_result") results.push({ record, intact });
  }
  return { decisions: decisions.reverse(), results: results.reverse(), damaged };
}
