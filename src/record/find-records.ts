import type { Records } from "./records.js";
import { isWellFormedRecord } from "./well-formed.js";
import { idTimeRange } from "./record-id.js";
import { DecisionError } from "../errors.js";
import type { AssessmentRecord, DecisionRecord, LogRecord, ToolResultRecord } from "../model/record.js";
import type { Found, Ledger, LogLine, Reference } from "../model/store.js";
import { nearest } from "../text.js";

const latest = "latest";
const minPrefixLength = 4;

/** Whether the caller may see a record. */
export type MaySee = (record: LogRecord) => Promise<boolean>;

/**
 * Finds a record by its id, a unique prefix of its id, its sequence number, or `latest`. With `maySee`, other records do
 * not exist: they make no prefix ambiguous, and the error is the same as for a record that was never written.
 */
export async function findRecord(
  text: string,
  { log }: Pick<Records, "log">,
  maySee?: MaySee,
): Promise<LogLine> {
  const find =
    maySee === undefined ? (reference: Reference) => log.find(reference) : visibleFinder(log, maySee);
  const found = await lookUp(text.toLowerCase(), find);
  if ("candidates" in found) {
    const { candidates } = found;
    if (candidates.length > 0) throw ambiguousPrefix(text, candidates);
    const hint = maySee === undefined ? await notFoundHint(text, log) : referenceFormHint(text);
    throw new DecisionError("record_not_found", `record \`${text}\` not found`, { hint });
  }
  if (isWellFormedRecord(found.record)) return found;
  throw new DecisionError("log_damaged", `record \`${text}\` is damaged`, {
    hint: "check the log with `agent-33 decision verify`",
  });
}

type Find = (reference: Reference) => Promise<Found>;

const none: Found = { candidates: [] };

async function lookUp(text: string, find: Find): Promise<Found> {
  if (text === latest) return await find({ latest: true });
  const isBeginning = /^[0-9a-f-]+$/.test(text) && text.length >= minPrefixLength;
  if (!/^\d+$/.test(text)) return isBeginning ? await find({ beginning: text }) : none;
  const seq = Number(text);
  const isCountable = Number.isSafeInteger(seq) && seq >= 1;
  const bySeq = (): Promise<Found> => (isCountable ? find({ seq }) : Promise.resolve(none));
  if (!isBeginning) return await bySeq();
  const byBeginning = (): Promise<Found> => find({ beginning: text });
  // Sequence numbers have no leading zeros; current ids start with one.
  return text.startsWith("0") ? await firstFound(byBeginning, bySeq) : await firstFound(bySeq, byBeginning);
}

async function firstFound(first: () => Promise<Found>, second: () => Promise<Found>): Promise<Found> {
  const found = await first();
  return "candidates" in found && found.candidates.length === 0 ? await second() : found;
}

/** The most candidates shown for an ambiguous prefix. */
const maxCandidates = 5;

/** Returns a function that finds records as the log does, among those that the caller may see. */
function visibleFinder(log: Ledger, maySee: MaySee): Find {
  const firstVisible = async (lines: AsyncIterable<LogLine>, count: number): Promise<readonly LogLine[]> => {
    const visible: LogLine[] = [];
    for await (const line of lines) {
      if (visible.length >= count) break;
      if (await maySee(line.record)) visible.push(line);
    }
    return visible;
  };
  return async (reference) => {
    if ("latest" in reference) {
      const [newest] = await firstVisible(log.select({ kind: "decision", reverse: true }), 1);
      return newest ?? none;
    }
    const found = await log.find(reference);
    if ("record" in found) return (await maySee(found.record)) ? found : none;
    if (found.candidates.length === 0 || !("beginning" in reference)) return none;
    // The log names the newest candidates only, which may all be invisible.
    const visible = await firstVisible(withPrefix(reference.beginning, log), maxCandidates);
    const [only] = visible;
    return visible.length === 1 && only !== undefined
      ? only
      : { candidates: visible.map(({ record }) => record.record_id) };
  };
}

async function* withPrefix(prefix: string, log: Ledger): AsyncGenerator<LogLine> {
  const [first, last] = idTimeRange(prefix);
  for await (const line of log.select({ since: first * 1000, until: last * 1000 + 999, reverse: true }))
    if (line.record.record_id.startsWith(prefix)) yield line;
}

const ambiguousPrefix = (text: string, candidates: readonly string[]): DecisionError =>
  new DecisionError("record_not_found", `\`${text}\` matches more than one record`, {
    hint: `use more characters of the id: ${candidates.map((id) => `\`${id}\``).join(", ")}`,
    details: { candidates },
  });

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
  if (text.toLowerCase() === latest) return "no records yet";
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
  readonly assessments: readonly StoredRecord<AssessmentRecord>[];
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
  const assessments: StoredRecord<AssessmentRecord>[] = [];
  let damaged = 0;
  for await (const { record, intact } of lines) {
    if (!isWellFormedRecord(record)) damaged++;
    else if (record.kind === "decision") decisions.push({ record, intact });
    else if (record.kind === "tool_result") results.push({ record, intact });
    else if (record.kind === "assessment") assessments.push({ record, intact });
  }
  return {
    decisions: decisions.reverse(),
    results: results.reverse(),
    assessments: assessments.reverse(),
    damaged,
  };
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
