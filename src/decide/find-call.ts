import { paramsSetBy, policyFacts } from "../evaluate/policy/policy-facts.js";
import { mergeParams } from "../evaluate/policy/policy-outcome.js";
import { DecisionError } from "../errors.js";
import type { Json, JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Found, Ledger } from "../model/store.js";
import type { Session } from "../record/counters.js";
import { callCounter, callResultCounter, isCallCounter, resultCounter } from "../record/counters.js";
import { recordsOfCheck } from "../record/find-records.js";
import { orgOfCaller } from "../record/record-keys.js";
import { maskParams, paramsDigest } from "./check.js";

/** The call that a result is about. */
export interface CallReference {
  readonly tool: string;
  readonly session_id: string | undefined;
  /** The organisation of the session. */
  readonly org: string | undefined;
  /** The decision that allowed it; undefined: the newest allowed call of the session without a result. */
  readonly decision: DecisionRecord | undefined;
}

/** The params of a reported call, without masked values. */
export interface ReportedParams {
  readonly tool: string;
  readonly params: Json;
  /** Counts the calls of the session with these params; absent without a session. */
  readonly counter?: string;
}

/** The record of a policy decision about a call. */
type CallRecord = Extract<DecisionRecord, { readonly type: "policy" }>;

/** A call that a check allowed, and that has no result yet. */
export interface OpenCall extends CheckedCall {
  readonly checkId: string;
}

interface CheckedCall {
  readonly first: CallRecord;
  /** The decisions of the check. */
  readonly decisions: readonly CallRecord[];
  /** Its call counters: that of the tool, then those of its params as requested and as changed. */
  readonly counters: readonly string[];
}

/** Why a result is linked to no call. */
export interface NoCall {
  readonly unlinked: string;
}

interface FindCallOptions {
  readonly reported: ReportedParams | undefined;
  /** The JSON pointers of the values that are not recorded. */
  readonly masks: readonly string[];
  readonly log: Ledger;
}

/** Finds the call that a result belongs to. */
export async function findCall(
  request: CallReference,
  session: Session | undefined,
  options: FindCallOptions,
): Promise<OpenCall | NoCall> {
  const { tool, session_id: id = "", decision } = request;
  const { reported, log } = options;
  if (session === undefined) {
    if (decision === undefined) throw new Error("a result without a session names the decision");
    return findCallWithoutSession(decision, request, options);
  }
  const counter = reported?.counter ?? callCounter(session, tool);
  if (decision !== undefined) return findNamedCall(decision, { request, counter, log });
  const open = await findOpenCall({ request, counter, log });
  const params = reported === undefined ? "" : " with these params";
  return open ?? { unlinked: `no open call of \`${tool}\`${params} was allowed in session \`${id}\`` };
}

interface CallSearch {
  readonly request: CallReference;
  /** The counter of the calls that the result may belong to. */
  readonly counter: string;
  readonly log: Ledger;
}

/** A call without a session is found by its record only, and its result is no evidence for other calls. */
async function findCallWithoutSession(
  decided: DecisionRecord,
  request: CallReference,
  { reported, masks, log }: FindCallOptions,
): Promise<OpenCall | NoCall> {
  const record = assertSameCall(decided, request);
  const { check_id: checkId } = record;
  const call = await checkedCall(record, log);
  assertAllowed(record, call);
  const unlinked = unlinkedFrom(record);
  if (checkId === undefined) return unlinked("is not that of a check, or was recorded by an earlier version");
  if (orgOfCaller(record) !== request.org) return unlinked("belongs to a caller outside of the organisation");
  if (reported !== undefined && !digestsOf(call, masks).includes(paramsDigest(reported.params)))
    return unlinked("is about a call with other params");
  if (await hasResult(checkId, log)) return unlinked("is about a call that has a result already");
  return { ...call, checkId };
}

/** The digests of the params of a call, as requested and as changed. */
function digestsOf({ decisions, first, counters }: CheckedCall, masks: readonly string[]): readonly string[] {
  const requested = decisions.flatMap(({ context }) => (context === undefined ? [] : [context]));
  const changed = contextsOf({ decisions, counters }, undefined);
  const digests = [...requested, ...changed].map((context) =>
    paramsDigest(maskParams(context["params"] ?? null, masks)),
  );
  return [...digests, first.lineage.params_digest ?? ""];
}

async function findNamedCall(
  decided: DecisionRecord,
  { request, counter, log }: CallSearch,
): Promise<OpenCall | NoCall> {
  const record = assertSameCall(decided, request);
  const call = await checkedCall(record, log);
  assertAllowed(record, call);
  const unlinked = unlinkedFrom(record);
  const { check_id: checkId } = record;
  // A policy that was evaluated by its id is only one of those for the tool.
  if (checkId === undefined || call.counters.length === 0)
    return unlinked("is not that of a check, or was recorded by an earlier version");
  if (orgOfCaller(record) !== request.org) return unlinked("belongs to another session");
  if (!call.counters.includes(counter)) return unlinked("is about a call with other params");
  if (await hasResult(checkId, log)) return unlinked("is about a call that has a result already");
  return { ...call, checkId };
}

function assertAllowed(record: CallRecord, { decisions }: CheckedCall): void {
  if (!decisions.every(({ allowed }) => allowed))
    throw wrongRecord(record, "belongs to a call that was denied");
}

const unlinkedFrom =
  ({ record_id }: CallRecord) =>
  (why: string): NoCall => ({ unlinked: `record \`${record_id}\` ${why}` });

/** Finds the newest allowed call of the tool in the session (with these params, where given) that has no result yet. */
async function findOpenCall(search: CallSearch): Promise<OpenCall | undefined> {
  const { request, counter, log } = search;
  const [called, answered] = await Promise.all([log.counter(counter), log.counter(resultCounter(counter))]);
  if (answered.count >= called.count) return undefined;
  const newest = await openCallAt(await log.find({ seq: called.seq }), search);
  if (newest !== undefined) return newest;
  for await (const line of log.related({ session_id: request.session_id ?? "" })) {
    const found = await openCallAt(line, search);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the open call whose first record this is. */
async function openCallAt(line: Found, { counter, log }: CallSearch): Promise<OpenCall | undefined> {
  if (!("record" in line) || !line.intact) return undefined;
  const { record } = line;
  if (record.kind !== "decision" || !isCall(record) || record.check_id === undefined) return undefined;
  if (record.counted?.includes(counter) !== true) return undefined;
  if (await hasResult(record.check_id, log)) return undefined;
  return { ...(await checkedCall(record, log)), checkId: record.check_id };
}

async function checkedCall(record: CallRecord, log: Ledger): Promise<CheckedCall> {
  const decisions = (await recordsOfCheck(record, log)).filter(isCall);
  const counters = decisions.flatMap(({ counted = [] }) => counted.filter(isCallCounter));
  return { first: decisions[0] ?? record, decisions, counters };
}

const hasResult = async (checkId: string, log: Ledger): Promise<boolean> =>
  (await log.counter(callResultCounter(checkId))).count > 0;

function assertSameCall(decided: DecisionRecord, { tool, session_id }: CallReference): CallRecord {
  if (!isCall(decided)) throw wrongRecord(decided, "is not a decision about a tool call");
  if (decided.tool !== tool)
    throw wrongRecord(decided, `is about \`${decided.tool}\`, not about \`${tool}\``);
  if (decided.session_id !== session_id) throw wrongRecord(decided, "belongs to another session");
  return decided;
}

const wrongRecord = ({ record_id }: DecisionRecord, why: string): DecisionError =>
  new DecisionError("usage", `record \`${record_id}\` ${why}`, {
    hint: "name the record of the check that allowed this call",
  });

const isCall = (record: DecisionRecord): record is CallRecord => record.type === "policy";

/**
 * The contexts of the call, with its params as the checks returned them. The reported params are used where they are
 * these very params: a record may leave them out.
 */
export function contextsOf(
  { decisions, counters }: Pick<CheckedCall, "decisions" | "counters">,
  reported: ReportedParams | undefined,
): readonly JsonObject[] {
  const recorded = decisions.flatMap(({ context, facts }) => {
    if (context === undefined) return [];
    const set = paramsSetBy(policyFacts(facts).recheck?.changes ?? []);
    return [{ ...context, params: mergeParams(context["params"] ?? null, set) }];
  });
  if (reported?.counter === undefined || reported.counter !== counters.at(-1)) return recorded;
  return [...recorded, { tool: reported.tool, params: reported.params }];
}
