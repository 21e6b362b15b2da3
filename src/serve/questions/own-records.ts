import { DecisionError } from "../../errors.js";
import { isObject } from "../../expression/equal.js";
import type { Json } from "../../model/json.js";
import type { DecisionRecord, LogRecord } from "../../model/record.js";
import type { LogLine } from "../../model/store.js";
import { keptDefinition } from "../../record/kept-definition.js";
import type { IsSeen } from "../../record/record-reference.js";
import { findRecord } from "../../record/record-reference.js";
import type { Records } from "../../record/records.js";
import { isWholeRecord } from "../../record/whole-record.js";
import type { Asker } from "../question.js";
import { foreign, isOwn, refuseForeignOrg } from "./own-org.js";

/** The record that is meant, unless it is another organisation's; `latest` is the latest of those that may be seen. */
export async function ownRecord(id: string, asker: Asker): Promise<LogLine> {
  const { records } = asker.world;
  if (asker.caller?.org_id === undefined) return findRecord(id, records);
  if (id.toLowerCase() === "latest") return latestOwn(asker);
  const found = await findRecord(id, records, idsSeenBy(asker));
  if (found.record.kind === "tool_result") await refuseForeignSession(found.record, asker);
  else refuseForeignOrg(await orgOfRecord(found.record, records), asker);
  return found;
}

async function latestOwn(asker: Asker): Promise<LogLine> {
  for await (const line of ownRecords({ kind: "decision", reverse: true }, asker)) return line;
  throw new DecisionError("record_not_found", "no record is `latest`", {
    hint: "nothing has been recorded yet for the organisation that the `org_id` of the token names",
  });
}

/** Those of the records that fit which whoever asks may see. */
export async function* ownRecords(
  query: Parameters<Records["log"]["select"]>[0],
  asker: Asker,
): AsyncGenerator<LogLine> {
  const maySee = recordsSeenBy(asker);
  for await (const line of asker.world.records.log.select(query)) {
    if (maySee === undefined || (await maySee(line.record))) yield line;
  }
}

/** Tells which records whoever asks may see; undefined: all of them. */
export function recordsSeenBy({
  world: { records },
  caller,
}: Asker): ((record: LogRecord) => Promise<boolean>) | undefined {
  const org = caller?.org_id;
  if (org === undefined) return undefined;
  const sessions = new Map<string | undefined, boolean>();
  return (record) => isOwnRecord(record, org, { records, sessions });
}

/** The same by their ids; one that is no longer there may have been anybody's. */
export function idsSeenBy(asker: Asker): IsSeen | undefined {
  const maySee = recordsSeenBy(asker);
  if (maySee === undefined) return undefined;
  const { log } = asker.world.records;
  const look = async (id: string): Promise<boolean> => {
    const found = await log.find({ beginning: id });
    return "record" in found && found.record.record_id === id && (await maySee(found.record));
  };
  const known = new Map<string, Promise<boolean>>();
  return (id) => {
    const looking = known.get(id) ?? look(id);
    known.set(id, looking);
    return looking;
  };
}

/** What is told of a session, or asked in it, may decide what it is allowed later. */
export async function refuseForeignSession(
  { session_id: session }: { readonly session_id?: string },
  { world, caller }: Asker,
): Promise<void> {
  if (caller?.org_id === undefined || (await isOwnSession(session, caller.org_id, world.records))) return;
  throw foreign(`the token is not for the session \`${session ?? ""}\`, which is another organisation's`);
}

interface Known {
  readonly records: Records;
  /** Whether sessions are own ones, as far as it was looked at. */
  readonly sessions: Map<string | undefined, boolean>;
}

async function isOwnRecord(record: LogRecord, org: string, { records, sessions }: Known): Promise<boolean> {
  if (record.kind !== "tool_result") return isOwn(await orgOfRecord(record, records), org);
  const { session_id: session } = record;
  const known = sessions.get(session) ?? (await isOwnSession(session, org, records));
  sessions.set(session, known);
  return known;
}

/** A session in which nobody asked for an organisation is everybody's; in one of several, each of them may go on. */
async function isOwnSession(session: string | undefined, org: string, records: Records): Promise<boolean> {
  if (session === undefined) return true;
  let isOthers = false;
  for await (const { record } of records.log.related({ session_id: session })) {
    if (record.kind !== "decision" || !isWholeRecord(record)) continue;
    const owner = await orgOfRecord(record, records);
    if (owner === org) return true;
    isOthers ||= owner !== undefined;
  }
  return !isOthers;
}

/**
 * Whose a record is: that of a gate by the definition that it was made with, where one that is lost belongs to nobody;
 * any other by who asked. Undefined: it belongs to no organisation.
 */
async function orgOfRecord(record: LogRecord, { store }: Records): Promise<string | undefined> {
  if (record.kind !== "decision") return undefined;
  if (!isWholeRecord(record)) return "";
  if (record.type !== "gate") return callerOrg(record);
  const definition = await keptDefinition(record.definition_hash, store);
  return definition?.type === "gate" ? definition.action.org : "";
}

function callerOrg({ facts }: DecisionRecord): string | undefined {
  const caller: Json = facts["authenticated_caller"] ?? null;
  const org = isObject(caller) ? caller["org_id"] : undefined;
  return typeof org === "string" ? org : undefined;
}
