import type { KeptRecord } from "./kept-records.js";
import type { Heard } from "./raw-connection.js";
import type { Asked } from "./request-mix.js";

/** Whether the server is there, was told to end, or was killed. */
export type Phase = "serving" | "ending" | "killed";

/** One request, and what came of it. */
export interface Exchange {
  readonly name: string;
  readonly correlationId: string;
  readonly outcome: number | "cut";
  /** The records that the answer names. */
  readonly records: readonly string[];
  readonly phase: Phase;
  /** What is wrong with the answer by itself. */
  readonly fault?: string;
}

const busy = [429, 503];

/** Keeps of an answer what is needed later: there will be many. */
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

/** What is wrong with the log, by what was answered. */
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
    // Whoever is killed between keeping and telling has decided unheard; whoever is told to end has not.
    if (outcome === "cut" && phase === "killed") continue;
    if (isSame(records, found)) continue;
    faults.push(`${name} (${outcome}) named [${records.join()}], and the log holds [${found.join()}]`);
  }
  for (const [correlation, ids] of known) faults.push(`nobody asked for ${ids.join()} (${correlation})`);
  if (isSame(others, byCommand)) return faults;
  return [...faults, `the command told of ${byCommand.length} records, and the log holds ${others.length}`];
}

/** Twice the same is not the same as once. */
const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  String(some.toSorted()) === String(others.toSorted());
