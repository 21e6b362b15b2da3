import { DecisionError } from "../errors.js";
import type { DecisionRecord } from "../model/record.js";
import type { Found, Ledger, LogLine } from "../model/store.js";
import { nearest } from "../nearest.js";
import type { Records } from "./records.js";
import { isWholeRecord } from "./whole-record.js";

const latest = "latest";
const shortestBeginning = 4;

/** Whether the record with an id may be seen. */
export type IsSeen = (id: string) => Promise<boolean>;

/**
 * The record that is meant: by its id, a unique beginning of one, its sequence number, or `latest`. Where not all may
 * be seen, and none is meant, it is told neither how many there are nor which of the others it could be.
 */
export async function findRecord(
  text: string,
  { log }: Pick<Records, "log">,
  isSeen?: IsSeen,
): Promise<LogLine> {
  const found = await lookUp(text.toLowerCase(), log);
  if ("candidates" in found) throw await notFound(text, found.candidates, { log, isSeen });
  if (isWholeRecord(found.record)) return found;
  throw new DecisionError("log_damaged", `the record \`${text}\` is damaged`, {
    hint: "see `agent-33 decision verify`",
  });
}

const none: Found = { candidates: [] };

async function lookUp(text: string, log: Ledger): Promise<Found> {
  if (text === latest) return await log.find({ latest: true });
  const isBeginning = /^[0-9a-f-]+$/.test(text) && text.length >= shortestBeginning;
  if (!/^\d+$/.test(text)) return isBeginning ? await log.find({ beginning: text }) : none;
  const seq = Number(text);
  const isCountable = Number.isSafeInteger(seq) && seq >= 1;
  const bySeq = (): Promise<Found> => (isCountable ? log.find({ seq }) : Promise.resolve(none));
  if (!isBeginning) return await bySeq();
  const byBeginning = (): Promise<Found> => log.find({ beginning: text });
  // Nobody counts with leading zeros; ids of our days begin with one.
  return text.startsWith("0") ? await either(byBeginning, bySeq) : await either(bySeq, byBeginning);
}

async function either(first: () => Promise<Found>, second: () => Promise<Found>): Promise<Found> {
  const found = await first();
  return "candidates" in found && found.candidates.length === 0 ? await second() : found;
}

interface Telling {
  readonly log: Ledger;
  readonly isSeen: IsSeen | undefined;
}

async function notFound(
  text: string,
  candidates: readonly string[],
  { log, isSeen }: Telling,
): Promise<DecisionError> {
  if (candidates.length === 0) {
    return new DecisionError("record_not_found", `no record is \`${text}\``, {
      hint: isSeen === undefined ? await hintOn(text, log) : hintOnForm(text),
    });
  }
  const message = `more than one record begins with \`${text}\``;
  const told = isSeen === undefined ? candidates : await seenOf(candidates, isSeen);
  if (told.length === 0) return new DecisionError("record_not_found", message, { hint: "write more of it" });
  return new DecisionError("record_not_found", message, {
    hint: `write more of it: ${told.map((id) => `\`${id}\``).join(", ")}`,
    details: { candidates: told },
  });
}

async function seenOf(ids: readonly string[], isSeen: IsSeen): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const id of ids) if (await isSeen(id)) seen.push(id);
  return seen;
}

async function hintOn(text: string, log: Ledger): Promise<string> {
  const { size } = await log.state();
  if (size === 0) return "nothing has been recorded yet";
  if (!/^\d{1,7}$/.test(text) || Number(text) === 0) return hintOnForm(text);
  return Number(text) > size
    ? `the last one is number ${size}`
    : "it may have been pruned or damaged; see `agent-33 decision verify`";
}

/** As far as it can be said without a look at the log. */
function hintOnForm(text: string): string {
  if (/^0{1,7}$/.test(text)) return "the first one is number 1";
  if (nearest(text, [latest]) !== undefined) return `did you mean \`${latest}\`?`;
  if (/^[0-9a-f-]+$/i.test(text) && text.length < shortestBeginning) {
    return `the beginning of an id needs ${shortestBeginning} characters at least`;
  }
  return "give a record's id or the beginning of it, its number, or `latest`; see `agent-33 decision log`";
}

/** The same where only a decision will do. */
export async function findDecision(
  text: string,
  records: Pick<Records, "log">,
  hint: string,
): Promise<DecisionRecord> {
  return asDecision(text, await findRecord(text, records), hint);
}

export function asDecision(text: string, { record }: LogLine, hint: string): DecisionRecord {
  if (record.kind === "decision") return record;
  throw new DecisionError("usage", `record \`${text}\` is no decision`, { hint });
}

/** Of whoever tells how a call went. */
export const hintOnCalls = "name the record of the check that allowed this call";
