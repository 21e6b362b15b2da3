import { DecisionError } from "../errors.js";
import type { DecisionRecord } from "../model/record.js";
import type { Found, Ledger, LogLine } from "../model/store.js";
import { nearest } from "../nearest.js";
import type { Records } from "./records.js";
import { isWholeRecord } from "./whole-record.js";

const latest = "latest";
const shortestBeginning = 4;

/** The record that is meant: by its id, a unique beginning of one, its sequence number, or `latest`. */
export async function findRecord(text: string, { log }: Pick<Records, "log">): Promise<LogLine> {
  const found = await lookUp(text.toLowerCase(), log);
  if ("candidates" in found) throw await notFound(text, found.candidates, log);
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

async function notFound(text: string, candidates: readonly string[], log: Ledger): Promise<DecisionError> {
  if (candidates.length === 0) {
    return new DecisionError("record_not_found", `no record is \`${text}\``, {
      hint: await hintOn(text, log),
    });
  }
  return new DecisionError("record_not_found", `more than one record begins with \`${text}\``, {
    hint: `write more of it: ${candidates.map((id) => `\`${id}\``).join(", ")}`,
    details: { candidates },
  });
}

async function hintOn(text: string, log: Ledger): Promise<string> {
  const { size } = await log.state();
  if (size === 0) return "nothing has been recorded yet";
  if (/^\d{1,7}$/.test(text)) {
    if (Number(text) === 0) return "the first one is number 1";
    return Number(text) > size
      ? `the last one is number ${size}`
      : "it may have been pruned or damaged; see `agent-33 decision verify`";
  }
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
