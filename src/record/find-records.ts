import type { Records } from "./records.js";
import { isWellFormedRecord } from "./well-formed.js";
import { DecisionError } from "../errors.js";
import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { Found, Ledger, LogLine } from "../model/store.js";
import { nearest } from "../text.js";

const latest = "latest";
const minPrefixLength = 4;

/** Whether the record with an id may be seen. */
export type IsVisible = (id: string) => Promise<boolean>;

/**
 * The record that is meant: by its id, a unique beginning of one, its sequence number, or `latest`. Where not all may
 * be seen, and none is meant, it is told neither how many there are nor which of the others it could be.
 */
export async function findRecord(
  text: string,
  { log }: Pick<Records, "log">,
  isSeen?: IsVisible,
): Promise<LogLine> {
  const found = await lookUp(text.toLowerCase(), log);
  if ("candidates" in found) throw await notFoundError(text, found.candidates, { log, isSeen });
  if (isWellFormedRecord(found.record)) return found;
  throw new DecisionError("log_damaged", `the record \`${text}\` is damaged`, {
    hint: "see `agent-33 decision verify`",
  });
}

const none: Found = { candidates: [] };

async function lookUp(text: string, log: Ledger): Promise<Found> {
  if (text === latest) return await log.find({ latest: true });
  const isBeginning = /^[0-9a-f-]+$/.test(text) && text.length >= minPrefixLength;
  if (!/^\d+$/.test(text)) return isBeginning ? await log.find({ beginning: text }) : none;
  const seq = Number(text);
  const isCountable = Number.isSafeInteger(seq) && seq >= 1;
  const bySeq = (): Promise<Found> => (isCountable ? log.find({ seq }) : Promise.resolve(none));
  if (!isBeginning) return await bySeq();
  const byBeginning = (): Promise<Found> => log.find({ beginning: text });
  // Nobody counts with leading zeros; ids of our days begin with one.
  return text.startsWith("0") ? await firstFound(byBeginning, bySeq) : await firstFound(bySeq, byBeginning);
}

async function firstFound(first: () => Promise<Found>, second: () => Promise<Found>): Promise<Found> {
  const found = await first();
  return "candidates" in found && found.candidates.length === 0 ? await second() : found;
}

interface LookupContext {
  readonly log: Ledger;
  readonly isSeen: IsVisible | undefined;
}

async function notFoundError(
  text: string,
  candidates: readonly string[],
  { log, isSeen }: LookupContext,
): Promise<DecisionError> {
  if (candidates.length === 0) {
    return new DecisionError("record_not_found", `no record is \`${text}\``, {
      hint: isSeen === undefined ? await notFoundHint(text, log) : referenceFormHint(text),
    });
  }
  const message = `more than one record begins with \`${text}\``;
  const told = isSeen === undefined ? candidates : await visibleIds(candidates, isSeen);
  if (told.length === 0) return new DecisionError("record_not_found", message, { hint: "write more of it" });
  return new DecisionError("record_not_found", message, {
    hint: `write more of it: ${told.map((id) => `\`${id}\``).join(", ")}`,
    details: { candidates: told },
  });
}

async function visibleIds(ids: readonly string[], isSeen: IsVisible): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const id of ids) if (await isSeen(id)) seen.push(id);
  return seen;
}

async function notFoundHint(text: string, log: Ledger): Promise<string> {
  const { size } = await log.state();
  if (size === 0) return "nothing has been recorded yet";
  if (!/^\d{1,7}$/.test(text) || Number(text) === 0) return referenceFormHint(text);
  return Number(text) > size
    ? `the last one is number ${size}`
    : "it may have been pruned or damaged; see `agent-33 decision verify`";
}

/** As far as it can be said without a look at the log. */
function referenceFormHint(text: string): string {
  if (/^0{1,7}$/.test(text)) return "the first one is number 1";
  if (nearest(text, [latest]) !== undefined) return `did you mean \`${latest}\`?`;
  if (/^[0-9a-f-]+$/i.test(text) && text.length < minPrefixLength) {
    return `the beginning of an id needs ${minPrefixLength} characters at least`;
  }
  return "give a record's id or the beginning of it, its number, or `latest`; see `agent-33 decision log`";
}

/** The same where only a decision will do. */
export async function findDecision(
  text: string,
  records: Pick<Records, "log">,
  hint: string,
): Promise<DecisionRecord> {
  return assertDecision(text, await findRecord(text, records), hint);
}

export function assertDecision(text: string, { record }: LogLine, hint: string): DecisionRecord {
  if (record.kind === "decision") return record;
  throw new DecisionError("usage", `record \`${text}\` is no decision`, { hint });
}

/** Of whoever tells how a call went. */
export const allowedCallHint = "name the record of the check that allowed this call";

/** What was recorded on behalf of a session, oldest first. */
export interface SessionRecords {
  readonly decisions: readonly StoredRecord<DecisionRecord>[];
  readonly results: readonly StoredRecord<ToolResultRecord>[];
  /** How many lines are no whole records any more; they are left out. */
  readonly damaged: number;
}

export interface StoredRecord<Record> {
  readonly record: Record;
  /** Whether its line is what was written. */
  readonly intact: boolean;
}

export function recordsOfSession(session: string, log: Pick<Ledger, "related">): Promise<SessionRecords> {
  return groupByKind(log.related({ session_id: session }));
}

/** How the calls went that a decision allowed. */
export async function toolResultsOf(
  recordId: string,
  log: Pick<Ledger, "related">,
): Promise<readonly ToolResultRecord[]> {
  const { results } = await groupByKind(log.related({ refers_to: recordId }));
  return results.map(({ record }) => record);
}

/** The lines come newest first. */
async function groupByKind(lines: AsyncIterable<LogLine>): Promise<SessionRecords> {
  const decisions: StoredRecord<DecisionRecord>[] = [];
  const results: StoredRecord<ToolResultRecord>[] = [];
  let damaged = 0;
  for await (const { record, intact } of lines) {
    if (!isWellFormedRecord(record)) damaged++;
    else if (record.kind === "decision") decisions.push({ record, intact });
    else if (record.kind === "tool_result") results.push({ record, intact });
  }
  return { decisions: decisions.reverse(), results: results.reverse(), damaged };
}

/** The records of all decisions that were asked about one call, in their order; those of one check stand together. */
export async function recordsOfCheck(
  record: DecisionRecord,
  log: Pick<Ledger, "find">,
  most = Infinity,
): Promise<readonly DecisionRecord[]> {
  if (record.check_id === undefined) return [record];
  const before = await adjacentRecords(record, log, { step: -1, most });
  const after = await adjacentRecords(record, log, { step: 1, most });
  return [...before.reverse(), record, ...after];
}

async function adjacentRecords(
  { seq: start, check_id }: DecisionRecord,
  log: Pick<Ledger, "find">,
  { step, most }: { readonly step: 1 | -1; readonly most: number },
): Promise<DecisionRecord[]> {
  const found: DecisionRecord[] = [];
  for (let seq = start + step; seq > 0 && found.length < most; seq += step) {
    const line = await log.find({ seq });
    if (!("record" in line) || line.record.kind !== "decision") break;
    if (line.record.check_id !== check_id) break;
    found.push(line.record);
  }
  return found;
}
