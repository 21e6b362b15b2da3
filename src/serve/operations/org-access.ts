import type { Library } from "../../definition/library.js";
import { DecisionError } from "../../errors.js";
import { isObject } from "../../expression/equal.js";
import type { Json } from "../../model/json.js";
import type { Precedent } from "../../model/lineage.js";
import type { DecisionRecord, LogRecord } from "../../model/record.js";
import type { LogLine } from "../../model/store.js";
import { findStoredDefinition } from "../../record/stored-definition.js";
import type { IsVisible } from "../../record/find-records.js";
import { findRecord } from "../../record/find-records.js";
import type { Records } from "../../record/records.js";
import { isWellFormedRecord, isMapping, isText, validItems, hasShape } from "../../record/well-formed.js";
import type { Invocation } from "./operation.js";

/** A token that names an organisation is good for its gates, and for what belongs to none. */
export function assertOwnOrg(org: string | undefined, { caller }: Pick<Invocation, "caller">): void {
  if (!isOwnOrg(org, caller?.org_id))
    throw forbiddenOrg(`the token is not for the organisation \`${org ?? ""}\``);
}

export const isOwnOrg = (org: string | undefined, bound: string | undefined): boolean =>
  bound === undefined || org === undefined || org === bound;

/** Whose gate a decision is; undefined: it belongs to no organisation. */
export const orgOfDecision = (id: string, { summaries }: Pick<Library, "summaries">): string | undefined =>
  summaries.find((each) => each.id === id)?.action?.org;

const forbiddenOrg = (message: string): DecisionError =>
  new DecisionError("forbidden", message, {
    hint: "it may only ask for the organisation that its `org_id` names",
  });

/** The record that is meant, unless it is another organisation's; `latest` is the latest of those that may be seen. */
export async function findOwnRecord(id: string, asker: Invocation): Promise<LogLine> {
  const { records } = asker.world;
  if (asker.caller?.org_id === undefined) return findRecord(id, records);
  if (id.toLowerCase() === "latest") return findLatestOwnRecord(asker);
  const found = await findRecord(id, records, recordIdVisibility(asker));
  if (found.record.kind === "tool_result") await assertOwnSession(found.record, asker);
  else assertOwnOrg(await orgOfRecord(found.record, records), asker);
  return found;
}

async function findLatestOwnRecord(asker: Invocation): Promise<LogLine> {
  for await (const line of selectOwnRecords({ kind: "decision", reverse: true }, asker)) return line;
  throw new DecisionError("record_not_found", "no record is `latest`", {
    hint: "nothing has been recorded yet for the organisation that the `org_id` of the token names",
  });
}

/** Those of the records that fit which whoever asks may see. */
export async function* selectOwnRecords(
  query: Parameters<Records["log"]["select"]>[0],
  asker: Invocation,
): AsyncGenerator<LogLine> {
  const maySee = recordVisibility(asker);
  for await (const line of asker.world.records.log.select(query)) {
    if (maySee === undefined || (await maySee(line.record))) yield line;
  }
}

/** Tells which records whoever asks may see; undefined: all of them. */
export function recordVisibility({
  world: { records },
  caller,
}: Invocation): ((record: LogRecord) => Promise<boolean>) | undefined {
  const org = caller?.org_id;
  if (org === undefined) return undefined;
  const sessions = new Map<string | undefined, boolean>();
  return (record) => isOwnRecord(record, org, { records, sessions });
}

/** The same by their ids; one that is no longer there may have been anybody's. */
function recordIdVisibility(asker: Invocation): IsVisible | undefined {
  const maySee = recordVisibility(asker);
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
export async function assertOwnSession(
  { session_id: session }: { readonly session_id?: string },
  { world, caller }: Invocation,
): Promise<void> {
  if (caller?.org_id === undefined || (await isOwnSession(session, caller.org_id, world.records))) return;
  throw forbiddenOrg(
    `the token is not for the session \`${session ?? ""}\`, which is another organisation's`,
  );
}

interface SessionLookup {
  readonly records: Records;
  /** Whether sessions are own ones, as far as it was looked at. */
  readonly sessions: Map<string | undefined, boolean>;
}

async function isOwnRecord(
  record: LogRecord,
  org: string,
  { records, sessions }: SessionLookup,
): Promise<boolean> {
  if (record.kind !== "tool_result") return isOwnOrg(await orgOfRecord(record, records), org);
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
    if (record.kind !== "decision" || !isWellFormedRecord(record)) continue;
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
  if (!isWellFormedRecord(record)) return "";
  if (record.type !== "gate") return callerOrg(record);
  const definition = await findStoredDefinition(record.definition_hash, store);
  return definition?.type === "gate" ? definition.action.org : "";
}

function callerOrg({ facts }: DecisionRecord): string | undefined {
  const caller: Json = facts["authenticated_caller"] ?? null;
  const org = isObject(caller) ? caller["org_id"] : undefined;
  return typeof org === "string" ? org : undefined;
}

/** Leaves out of records and answers which other records they name, where whoever asks may not see those. */
export function hideForeignReferences(asker: Invocation): <Told extends object>(told: Told) => Promise<Told> {
  const isSeen = recordIdVisibility(asker);
  if (isSeen === undefined) return (told) => Promise.resolve(told);
  return async (told) => withoutForeignPrecedents(await withoutForeignOrigin(told, isSeen), isSeen);
}

/** The record whose answer was taken from the cache. */
async function withoutForeignOrigin<Told extends { readonly cached_from?: unknown }>(
  told: Told,
  isSeen: IsVisible,
): Promise<Told> {
  const { cached_from: origin, ...rest } = told;
  if (origin === undefined || (isText(origin) && (await isSeen(origin)))) return told;
  return rest as Told;
}

async function withoutForeignPrecedents<Told extends { readonly lineage?: unknown }>(
  told: Told,
  isSeen: IsVisible,
): Promise<Told> {
  const { lineage } = told;
  if (!isMapping(lineage)) return told;
  const precedents: Precedent[] = [];
  for (const each of validItems(lineage["precedents"], isPrecedent))
    if (await isSeen(each.record_id)) precedents.push(each);
  return { ...told, lineage: { ...lineage, precedents } };
}

/** A damaged record may hold anything. */
const isPrecedent = hasShape<Precedent>({ record_id: isText });

/** What one organisation asks in a session at the moment. */
interface SessionTurn {
  readonly org: string;
  count: number;
  readonly done: Promise<void>;
  readonly end: () => void;
}

const activeSessions = new WeakMap<Records, Map<string, SessionTurn>>();

/**
 * Does something in a session, unless it is another organisation's. Of several that ask at the same time in one that
 * is nobody's yet, the first has it: the others wait for what it records.
 */
export async function withOwnSession<T>(
  asked: { readonly session_id?: string },
  asker: Invocation,
  work: () => Promise<T>,
): Promise<T> {
  const { session_id: session } = asked;
  const org = asker.caller?.org_id;
  if (org === undefined || session === undefined) return work();
  const entered = await enterSession(session, org, sessionsOf(asker.world.records));
  try {
    await assertOwnSession(asked, asker);
    return await work();
  } finally {
    leaveSession(session, entered, sessionsOf(asker.world.records));
  }
}

function sessionsOf(records: Records): Map<string, SessionTurn> {
  const known = activeSessions.get(records) ?? new Map<string, SessionTurn>();
  activeSessions.set(records, known);
  return known;
}

async function enterSession(
  session: string,
  org: string,
  all: Map<string, SessionTurn>,
): Promise<SessionTurn> {
  let found = all.get(session);
  while (found !== undefined && found.org !== org) {
    await found.done;
    found = all.get(session);
  }
  if (found === undefined) {
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    found = { org, count: 0, done, end };
    all.set(session, found);
  }
  found.count++;
  return found;
}

function leaveSession(session: string, entered: SessionTurn, all: Map<string, SessionTurn>): void {
  if (--entered.count > 0) return;
  all.delete(session);
  entered.end();
}
