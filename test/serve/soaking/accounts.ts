import type { KeptRecord } from "./kept-records.js";
import type { Heard } from "./raw-connection.js";
import type { Asked } from "./request-mix.js";

/** Whether the server is running, is shutting down, or was killed. */
export type Phase = "serving" | "ending" | "killed";

/** One request and its outcome. */
export interface Exchange {
  readonly name: string;
  readonly correlationId: string;
  readonly outcome: number | "cut";
  /** The record ids in the answer. */
  readonly records: readonly string[];
  readonly phase: Phase;
  /** Problems of the answer itself. */
  readonly fault?: string;
}

const busy = [429, 503];

/** Keeps only what is needed later, because there are many answers. */
export function exchangeOf(
  asked: Asked,
  heard: Exclude<Heard, "refused">,
  { correlationId, phase }: Pick<Exchange, "correlationId" | "phase">,
): Exchange {
  const { name } = asked;
  const base = { name, correlationId, phase, records: [] };
  if (heard === "cut") {
    const fault = `${name} was cut while the server was there`;
    return { ...base, outcome: "cut", ...(phase === "serving" && { fault }) };
  }
  const { status, body } = heard;
  const records = status === 200 ? (asked.recordsOf?.(JSON.parse(body) as never) ?? []) : [];
  const named = records.filter((id) => id !== undefined);
  const isExpected = status === asked.status || busy.includes(status);
  const fault = `${name} was answered with ${status}: ${body}`;
  const isFault = !isExpected || named.length < records.length;
  return { ...base, outcome: status, records: named, ...(isFault && { fault }) };
}

/** Compares the log with the answers and returns the differences. */
export function faultsOfLog(
  exchanges: readonly Exchange[],
  kept: readonly KeptRecord[],
  byCommand: readonly string[],
): readonly string[] {
  const faults: string[] = [];
  const known = new Map<string, string[]>();
  const others: string[] = [];
  for (const { record_id: id, correlation_id: correlation } of kept) {
    const found = correlation === undefined ? others : known.get(correlation);
    if (found !== undefined) found.push(id);
    else if (correlation !== undefined) known.set(correlation, [id]);
  }
  for (const { name, correlationId, outcome, records, phase } of exchanges) {
    const found = known.get(correlationId) ?? [];
    known.delete(correlationId);
    // A kill between recording and answering leaves a record without an answer; a graceful shutdown must not.
    if (outcome === "cut" && phase === "killed") continue;
    if (isSame(records, found)) continue;
    faults.push(`${name} (${outcome}) named [${records.join()}], and the log holds [${found.join()}]`);
  }
  for (const [correlation, ids] of known) faults.push(`no request for ${ids.join()} (${correlation})`);
  if (isSame(others, byCommand)) return faults;
  return [
    ...faults,
    `the command reported ${byCommand.length} records, but the log contains ${others.length}`,
  ];
}

/** Compares as multisets: duplicates count. */
const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  String(some.toSorted()) === String(others.toSorted());
