import type { Records } from "./records.js";
import { isWellFormedRecord } from "./well-formed.js";
import { DecisionError } from "../errors.js";
import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { Found, Ledger, LogLine } from "../model/store.js";
import { nearest } from "../text.js";

const latest = "latest";
const minPrefixLength = 4;

/** Whether the caller may see the record with this id. */
export type IsVisible = (id: string) => Promise<boolean>;

/**
 * Finds a record by its id, a unique prefix of its id, its sequence number, or `latest`. With `isVisible`, the
 * error for a record that is not found reveals neither the size of the log nor records of others.
 */
export async function findRecord(
  text: string,
  { log }: Pick<Records, "log">,
  isVisible?: IsVisible,
): Promise<LogLine> {
  const found = await lookUp(text.toLowerCase(), log);
  if ("candidates" in found) throw await notFoundError(text, found.candidates, { log, isVisible });
  if (isWellFormedRecord(found.record)) return found;
  throw new DecisionError("log_damaged", `record \`${text}\` is damaged`, {
    hint: "check the log with `agent-33 decision verify`",
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
  // Sequence numbers have no leading zeros; current ids start with one.
  return text.startsWith("0") ? await firstFound(byBeginning, bySeq) : await firstFound(bySeq, byBeginning);
}

async function firstFound(first: () => Promise<Found>, second: () => Promise<Found>): Promise<Found> {
  const found = await first();
  return "candidates" in found && found.candidates.length === 0 ? await second() : found;
}

interface LookupContext {
  readonly log: Ledger;
  readonly isVisible: IsVisible | undefined;
}

async function notFoundError(
  text: string,
  candidates: readonly string[],
  { log, isVisible }: LookupContext,
): Promise<DecisionError> {
  if (candidates.length === 0) {
    return new DecisionError("record_not_found", `record \`${text}\` not found`, {
      hint: isVisible === undefined ? await notFoundHint(text, log) : referenceFormHint(text),
    });
  }
  const message = `\`${text}\` matches more than one record`;
  const visible = isVisible === undefined ? candidates : await visibleIds(candidates, isVisible);
  if (visible.length === 0)
    return new DecisionError("record_not_found", message, { hint: "use more characters of the id" });
  return new DecisionError("record_not_found", message, {
    hint: `use more characters of the id: ${visible.map((id) => `\`${id}\``).join(", ")}`,
    details: { candidates: visible },
  });
}

async function visibleIds(ids: readonly string[], isVisible: IsVisible): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const id of ids) if (await isVisible(id)) seen.push(id);
  return seen;
}

async function notFoundHint(text: string, log: Ledger): Promise<string> {
  const { size } = await log.state();
  if (size === 0) return "no records yet";
  if (!/^\d{1,7}$/.test(text) || Number(text) === 0) return referenceFormHint(text);
  return Number(text) > size
    ? `the last record has number ${size}`
    : "it may have been pruned or damaged; check with `agent-33 decision verify`";
}

/** Explains the forms of a reference, without reading the log. */
function referenceFormHint(text: string): string {
  if (/^0{1,7}$/.test(text)) return "the first record has number 1";
  if (nearest(text, [latest]) !== undefined) return `did you mean \`${latest}\`?`;
  if (/^[0-9a-f-]+$/i.test(text) && text.length < minPrefixLength) {
    return `use at least ${minPrefixLength} characters of the id`;
  }
  return "use a record's id, a prefix of it, its number, or `latest`; list records with `agent-33 decision log`";
}

/** Finds the record of a decision; throws a usage error for other records. */
export async function findDecision(
  text: string,
  records: Pick<Records, "log">,
  hint: string,
): Promise<DecisionRecord> {
  return assertDecision(text, await findRecord(text, records), hint);
}

export function assertDecision(text: string, { record }: LogLine, hint: string): DecisionRecord {
  if (record.kind === "decision") return record;
  throw new DecisionError("usage", `record \`${text}\` is not a decision`, { hint });
}

/** The hint for a tool result that refers to a wrong record. */
export const allowedCallHint = "use the record of the check that allowed this call";

/** The records of a session, oldest first. */
export interface SessionRecords {
  readonly decisions: readonly StoredRecord<DecisionRecord>[];
  readonly results: readonly StoredRecord<ToolResultRecord>[];
  /** How many records were left out because they are damaged. */
  readonly damaged: number;
}

export interface StoredRecord<Record> {
  readonly record: Record;
  /** Whether its line is unchanged. */
  readonly intact: boolean;
}

export function recordsOfSession(session: string, log: Pick<Ledger, "related">): Promise<SessionRecords> {
  return groupByKind(log.related({ session_id: session }));
}

/** Finds the results of the calls that a decision allowed. */
export async function toolResultsOf(
  recordId: string,
  log: Pick<Ledger, "related">,
): Promise<readonly ToolResultRecord[]> {
  const { results } = await groupByKind(log.related({ refers_to: recordId }));
  return results.map(({ record }) => record);
}

/** Expects the lines newest first. */
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

/** Finds the records of all decisions about one call, in order; the records of one check are adjacent. */
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
