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
import { isWellFormedRecord, isText, validItems, hasShape } from "../../record/well-formed.js";
import type { Invocation } from "./operation.js";

/**
 * Throws if the caller may not access an organisation. A token with `org_id` is valid for the gates of that
 * organisation, and for decisions that belong to no organisation.
 */
export function assertOwnOrg(org: string | undefined, { caller }: Pick<Invocation, "caller">): void {
  if (!isOwnOrg(org, caller?.org_id))
    throw forbiddenOrg(`the token is not valid for the organisation \`${org ?? ""}\``);
}

export const isOwnOrg = (org: string | undefined, callerOrg: string | undefined): boolean =>
  callerOrg === undefined || org === undefined || org === callerOrg;

/** Returns the organisation of a gate; undefined: the decision belongs to no organisation. */
export const orgOfDecision = (id: string, { summaries }: Pick<Library, "summaries">): string | undefined =>
  summaries.find((each) => each.id === id)?.action?.org;

const forbiddenOrg = (message: string): DecisionError =>
  new DecisionError("forbidden", message, {
    hint: "use a token for this organisation; the claim `org_id` of the token names another one",
  });

/** Finds a record that the caller may see. `latest` is the latest of those. */
export async function findOwnRecord(id: string, invocation: Invocation): Promise<LogLine> {
  const { records } = invocation.world;
  if (invocation.caller?.org_id === undefined) return findRecord(id, records);
  if (id.toLowerCase() === "latest") return findLatestOwnRecord(invocation);
  const found = await findRecord(id, records, recordIdVisibility(invocation));
  if (found.record.kind === "tool_result") await assertOwnSession(found.record, invocation);
  else assertOwnOrg(await orgOfRecord(found.record, records), invocation);
  return found;
}

async function findLatestOwnRecord(invocation: Invocation): Promise<LogLine> {
  for await (const line of selectOwnRecords({ kind: "decision", reverse: true }, invocation)) return line;
  throw new DecisionError("record_not_found", "there is no latest record", {
    hint: "no records yet for the organisation of the token",
  });
}

/** Selects the matching records that the caller may see. */
export async function* selectOwnRecords(
  query: Parameters<Records["log"]["select"]>[0],
  invocation: Invocation,
): AsyncGenerator<LogLine> {
  const maySee = recordVisibility(invocation);
  for await (const line of invocation.world.records.log.select(query)) {
    if (maySee === undefined || (await maySee(line.record))) yield line;
  }
}

/** Returns a function that checks whether the caller may see a record; undefined: the caller may see all. */
export function recordVisibility({
  world: { records },
  caller,
}: Invocation): ((record: LogRecord) => Promise<boolean>) | undefined {
  const org = caller?.org_id;
  if (org === undefined) return undefined;
  const sessions = new Map<string | undefined, boolean>();
  return (record) => isOwnRecord(record, org, { records, sessions });
}

/** Like `recordVisibility`, by record id. A record that no longer exists is not visible. */
function recordIdVisibility(invocation: Invocation): IsVisible | undefined {
  const maySee = recordVisibility(invocation);
  if (maySee === undefined) return undefined;
  const { log } = invocation.world.records;
  const isVisible = async (id: string): Promise<boolean> => {
    const found = await log.find({ beginning: id });
    return "record" in found && found.record.record_id === id && (await maySee(found.record));
  };
  const checks = new Map<string, Promise<boolean>>();
  return (id) => {
    const check = checks.get(id) ?? isVisible(id);
    checks.set(id, check);
    return check;
  };
}

/** Throws if a session belongs to another organisation: its records decide what later calls are allowed to do. */
export async function assertOwnSession(
  { session_id: session }: { readonly session_id?: string },
  { world, caller }: Invocation,
): Promise<void> {
  if (caller?.org_id === undefined || (await isOwnSession(session, caller.org_id, world.records))) return;
  throw forbiddenOrg(
    `the token is not valid for the session \`${session ?? ""}\`, which belongs to another organisation`,
  );
}

interface SessionLookup {
  readonly records: Records;
  /** The sessions checked so far: whether the caller may see them. */
  readonly sessions: Map<string | undefined, boolean>;
}

async function isOwnRecord(
  record: LogRecord,
  org: string,
  { records, sessions }: SessionLookup,
): Promise<boolean> {
  if (record.kind !== "tool_result") return isOwnOrg(await orgOfRecord(record, records), org);
  const { session_id: session } = record;
  const isOwn = sessions.get(session) ?? (await isOwnSession(session, org, records));
  sessions.set(session, isOwn);
  return isOwn;
}

/** A session without decisions of an organisation is open to all; one with several is open to each of them. */
async function isOwnSession(session: string | undefined, org: string, records: Records): Promise<boolean> {
  if (session === undefined) return true;
  let hasOtherOwner = false;
  for await (const { record } of records.log.related({ session_id: session })) {
    if (record.kind !== "decision" || !isWellFormedRecord(record)) continue;
    const owner = await orgOfRecord(record, records);
    if (owner === org) return true;
    hasOtherOwner ||= owner !== undefined;
  }
  return !hasOtherOwner;
}

/**
 * Returns the organisation of a record: for a gate from the definition it was made with, for other types from the
 * caller. Undefined: it belongs to no organisation. An empty string matches no organisation: the record is damaged,
 * or its definition is lost.
 */
async function orgOfRecord(record: LogRecord, { store }: Records): Promise<string | undefined> {
  if (record.kind !== "decision") return undefined;
  if (!isWellFormedRecord(record)) return "";
  if (record.type !== "gate") return orgOfCaller(record);
  const definition = await findStoredDefinition(record.definition_hash, store);
  return definition?.type === "gate" ? definition.action.org : "";
}

function orgOfCaller({ facts }: DecisionRecord): string | undefined {
  const caller: Json = facts["authenticated_caller"] ?? null;
  const org = isObject(caller) ? caller["org_id"] : undefined;
  return typeof org === "string" ? org : undefined;
}

/** Removes references to records that the caller may not see from a record or an answer. */
export function hideForeignReferences(invocation: Invocation): <T extends object>(shown: T) => Promise<T> {
  const isVisible = recordIdVisibility(invocation);
  if (isVisible === undefined) return (shown) => Promise.resolve(shown);
  return async (shown) => withoutForeignPrecedents(await withoutForeignOrigin(shown, isVisible), isVisible);
}

/** Removes `cached_from`, the record whose answer was cached. */
async function withoutForeignOrigin<T extends { readonly cached_from?: unknown }>(
  shown: T,
  isVisible: IsVisible,
): Promise<T> {
  const { cached_from: origin, ...rest } = shown;
  if (origin === undefined || (isText(origin) && (await isVisible(origin)))) return shown;
  return rest as T;
}

async function withoutForeignPrecedents<T extends { readonly lineage?: unknown }>(
  shown: T,
  isVisible: IsVisible,
): Promise<T> {
  const { lineage } = shown;
  if (!isObject(lineage)) return shown;
  const precedents: Precedent[] = [];
  for (const each of validItems(lineage["precedents"], isPrecedent))
    if (await isVisible(each.record_id)) precedents.push(each);
  return { ...shown, lineage: { ...lineage, precedents } };
}

/** Checked, because a damaged record may contain anything. */
const isPrecedent = hasShape<Precedent>({ record_id: isText });

/** The running requests of one organisation in a session. */
interface SessionTurn {
  readonly org: string;
  count: number;
  readonly done: Promise<void>;
  readonly end: () => void;
}

/**
 * The running requests of each store by session id. It is a lock rather than a cache: all requests to a store share
 * it, whatever transport they use and however often the definitions are reloaded.
 */
const activeSessions = new WeakMap<Records, Map<string, SessionTurn>>();

/**
 * Runs work in a session that the caller may use. When several organisations enter an unused session at the same time,
 * the first gets it: the others wait until its decision is recorded.
 */
export async function withOwnSession<T>(
  input: { readonly session_id?: string },
  invocation: Invocation,
  work: () => Promise<T>,
): Promise<T> {
  const { session_id: session } = input;
  const org = invocation.caller?.org_id;
  if (org === undefined || session === undefined) return work();
  const entered = await enterSession(session, org, sessionsOf(invocation.world.records));
  try {
    await assertOwnSession(input, invocation);
    return await work();
  } finally {
    leaveSession(session, entered, sessionsOf(invocation.world.records));
  }
}

function sessionsOf(records: Records): Map<string, SessionTurn> {
  const sessions = activeSessions.get(records) ?? new Map<string, SessionTurn>();
  activeSessions.set(records, sessions);
  return sessions;
}

async function enterSession(
  session: string,
  org: string,
  sessions: Map<string, SessionTurn>,
): Promise<SessionTurn> {
  let turn = sessions.get(session);
  while (turn !== undefined && turn.org !== org) {
    await turn.done;
    turn = sessions.get(session);
  }
  if (turn === undefined) {
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    turn = { org, count: 0, done, end };
    sessions.set(session, turn);
  }
  turn.count++;
  return turn;
}

function leaveSession(session: string, entered: SessionTurn, sessions: Map<string, SessionTurn>): void {
  if (--entered.count > 0) return;
  sessions.delete(session);
  entered.end();
}
