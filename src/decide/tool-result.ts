import type { Library } from "../definition/library.js";
import { matchesGlob, findValidPolicies } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import { paramsSetBy, policyFacts } from "../evaluate/policy/policy-facts.js";
import { mergeParams } from "../evaluate/policy/policy-outcome.js";
import type { Json, JsonObject } from "../model/json.js";
import type { AuthenticatedCaller, DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { Found, Ledger } from "../model/store.js";
import type { Session } from "../record/counters.js";
import {
  callCounter,
  callResultCounter,
  isCallCounter,
  pathReadCounter,
  resultCounter,
  successCounter,
  sessionOf,
} from "../record/counters.js";
import { maskMarker } from "../record/mask.js";
import { toolResultRecordBody } from "../record/record-json.js";
import { orgOfCaller } from "../record/record-keys.js";
import { recordsOfCheck } from "../record/find-records.js";
import { bindContext } from "./bind.js";
import { maskParams, paramsDigest } from "./check.js";
import { prepareOnce } from "./find.js";
import { filePathOf } from "./gather.js";
import type { World } from "./request.js";

/** The reported result of a tool call. */
export interface ToolResultRequest {
  readonly tool: string;
  readonly session_id: string;
  readonly ok: boolean;
  /** The decision that allowed it; absent: the newest allowed call of the session without a result. */
  readonly decision?: DecisionRecord;
  /** The params of the call; absent: any. */
  readonly params?: unknown;
  /** The authenticated reporter. */
  readonly caller?: AuthenticatedCaller | undefined;
}

interface ToolResultWorld extends Pick<World, "clock" | "newId" | "records"> {
  readonly definitions: Library;
}

export interface ToolResult extends Omit<ToolResultRecord, "seq" | "prev_hash" | "hash" | "counted"> {
  readonly linked: boolean;
  /** For the caller; not part of the record. */
  readonly warnings: readonly string[];
}

/**
 * Records the result of a call. Later calls of the session may require it, but only if it is linked to a check that
 * allowed the call; other results are recorded as not linked, and count for nothing.
 */
export async function recordToolResult(
  request: ToolResultRequest,
  world: ToolResultWorld,
): Promise<ToolResult> {
  const { tool, session_id, ok } = request;
  if (world.records === undefined) {
    throw new DecisionError("store_failed", "cannot record a tool result without a store");
  }
  const { log } = world.records;
  assertResultNamed(request);
  const org = orgOfSession(request);
  const session = sessionOf({ session_id, caller: { org_id: org } });
  const reported = await reportedParams(request, session, world.definitions);
  const call = await findCall(request, session, reported, log);
  const timestamp = world.clock();
  const result = {
    record_id: world.newId(timestamp),
    timestamp,
    tool,
    ok,
    ...("unlinked" in call ? { decision_records: [] } : linkTo(call)),
    linked: !("unlinked" in call),
    session_id,
    ...(org !== undefined && { org_id: org }),
  };
  const body = toolResultRecordBody(result);
  if ("unlinked" in call) {
    await log.append({ body });
    const warning = `${call.unlinked}; the result is recorded, but does not count`;
    return { kind: "tool_result", ...result, warnings: [warning] };
  }
  const counter = callResultCounter(call.checkId);
  const counts = [
    counter,
    ...call.counters.map(resultCounter),
    ...(ok ? [successCounter(session, tool)] : []),
    ...(ok ? await readsOf(contextsOf(call, reported), session, world.definitions) : []),
  ];
  const appended = await log.append({ body, counts, limits: [{ counter, most: 1 }] });
  // Another process reported a result of this call in the meantime.
  if ("refused" in appended) return recordToolResult(request, world);
  return { kind: "tool_result", ...result, warnings: [] };
}

/** A caller without an organisation may report a call of any: the decision that it names says which. */
const orgOfSession = ({ caller, decision }: ToolResultRequest): string | undefined =>
  caller?.org_id ?? (decision && orgOfCaller(decision));

const linkTo = ({
  decisions,
  first,
  checkId,
}: OpenCall): Pick<ToolResultRecord, "decision_records" | "parent_record_id" | "check_id"> => ({
  decision_records: decisions.map(({ record_id }) => record_id),
  parent_record_id: first.record_id,
  check_id: checkId,
});

function assertResultNamed({ tool, session_id, ok }: ToolResultRequest): void {
  const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
  if (isText(tool) && isText(session_id) && typeof (ok as unknown) === "boolean") return;
  throw new DecisionError(
    "input_invalid",
    "`tool` and `session_id` must be non-empty strings, and `ok` must be a boolean",
  );
}

/** The params of a reported call, without masked values. */
interface ReportedParams {
  readonly tool: string;
  readonly params: Json;
  /** Counts the calls with these params. */
  readonly counter: string;
}

/** Returns the params that identify the call among other open calls; undefined where they are not given. */
async function reportedParams(
  { tool, params }: ToolResultRequest,
  session: Session,
  definitions: Library,
): Promise<ReportedParams | undefined> {
  // Throws while masks may be missing: the counters of read files contain their paths.
  const masks = definitions.sharedMasks();
  if (params === undefined) return undefined;
  const policies = await Promise.all(
    findValidPolicies(tool, definitions).map((id) => definitions.findForInspection(id)),
  );
  const masked = maskParams(bindContext(params), policies, masks);
  return { tool, params: masked, counter: callCounter(session, tool, paramsDigest(masked)) };
}

/**
 * The contexts of the call, with its params as the checks returned them. The reported params are used where they are
 * these very params: a record may leave them out.
 */
function contextsOf(
  { decisions, counters }: OpenCall,
  reported: ReportedParams | undefined,
): readonly JsonObject[] {
  const recorded = decisions.flatMap(({ context, facts }) => {
    if (context === undefined) return [];
    const set = paramsSetBy(policyFacts(facts).recheck?.changes ?? []);
    return [{ ...context, params: mergeParams(context["params"] ?? null, set) }];
  });
  if (reported === undefined || reported.counter !== counters.at(-1)) return recorded;
  return [...recorded, { tool: reported.tool, params: reported.params }];
}

/** The counters of the paths that the call has read, for policies with `read_before_write`. */
async function readsOf(
  contexts: readonly JsonObject[],
  session: Session,
  definitions: Library,
): Promise<readonly string[]> {
  const tool = contexts[0]?.["tool"];
  const policies = definitions.summaries.filter(({ tools }) => tools !== undefined);
  const prepared = await Promise.all(
    policies.map(async ({ id }) => (await prepareOnce(await definitions.findForInspection(id))).prepared),
  );
  return prepared.flatMap(({ needs, definition, masks }) => {
    const readNeeds = (needs?.reads ?? []).filter(
      ({ read_tools }) => typeof tool === "string" && read_tools.some((glob) => matchesGlob(glob, tool)),
    );
    return readNeeds.flatMap((need) => {
      const paths = contexts.map((context) =>
        filePathOf(need, { masks }, { context, input: undefined, facts: {}, system: {} }),
      );
      const path = paths.find((each) => typeof each === "string" && !each.includes(maskMarker));
      if (typeof path !== "string") return [];
      return [pathReadCounter({ decision: definition.id, policy: need.policy }, session, path)];
    });
  });
}

/** The record of a policy decision about a call. */
type CallRecord = Extract<DecisionRecord, { readonly type: "policy" }>;

/** A call that a check allowed, and that has no result yet. */
interface OpenCall extends CheckedCall {
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
interface NoCall {
  readonly unlinked: string;
}

/** Finds the call that a result belongs to. */
async function findCall(
  request: ToolResultRequest,
  session: Session,
  reported: ReportedParams | undefined,
  log: Ledger,
): Promise<OpenCall | NoCall> {
  const { tool, session_id: id, decision } = request;
  const counter = reported?.counter ?? callCounter(session, tool);
  if (decision !== undefined) return findNamedCall(decision, { request, counter, log });
  const open = await findOpenCall({ request, counter, log });
  const params = reported === undefined ? "" : " with these params";
  return open ?? { unlinked: `no open call of \`${tool}\`${params} was allowed in session \`${id}\`` };
}

interface CallSearch {
  readonly request: ToolResultRequest;
  /** The counter of the calls that the result may belong to. */
  readonly counter: string;
  readonly log: Ledger;
}

async function findNamedCall(
  decided: DecisionRecord,
  { request, counter, log }: CallSearch,
): Promise<OpenCall | NoCall> {
  const record = assertSameCall(decided, request);
  const call = await checkedCall(record, log);
  if (!call.decisions.every(({ allowed }) => allowed))
    throw wrongRecord(record, "belongs to a call that was denied");
  const unlinked = (why: string): NoCall => ({ unlinked: `record \`${record.record_id}\` ${why}` });
  const { check_id: checkId } = record;
  // A policy that was evaluated by its id is only one of those for the tool.
  if (checkId === undefined || call.counters.length === 0)
    return unlinked("is not that of a check, or was recorded by an earlier version");
  if (orgOfCaller(record) !== orgOfSession(request)) return unlinked("belongs to another session");
  if (!call.counters.includes(counter)) return unlinked("is about a call with other params");
  if (await hasResult(checkId, log)) return unlinked("is about a call that has a result already");
  return { ...call, checkId };
}

/** Finds the newest allowed call of the tool in the session (with these params, where given) that has no result yet. */
async function findOpenCall(search: CallSearch): Promise<OpenCall | undefined> {
  const { request, counter, log } = search;
  const [called, answered] = await Promise.all([log.counter(counter), log.counter(resultCounter(counter))]);
  if (answered.count >= called.count) return undefined;
  const newest = await openCallAt(await log.find({ seq: called.seq }), search);
  if (newest !== undefined) return newest;
  for await (const line of log.related({ session_id: request.session_id })) {
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

function assertSameCall(decided: DecisionRecord, { tool, session_id }: ToolResultRequest): CallRecord {
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
