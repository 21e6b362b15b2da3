import type { Library } from "../definition/library.js";
import { matchesGlob, findPolicies } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import { mergeParams } from "../evaluate/policy/policy-outcome.js";
import { equal, isObject } from "../expression/equal.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { Ledger } from "../model/store.js";
import {
  pathReadCounter,
  resultCounter,
  resultWithParamsCounter,
  successCounter,
  callCounter,
  callWithParamsCounter,
} from "../record/counters.js";
import { maskMarker } from "../record/mask.js";
import { toolResultRecordBody } from "../record/record-json.js";
import { recordsOfCheck } from "../record/find-records.js";
import { bindContext } from "./bind.js";
import { paramsDigest } from "./check.js";
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
  /** The params of the call, where its record does not show them. */
  readonly params?: unknown;
}

interface ToolResultWorld extends Pick<World, "clock" | "newId" | "records"> {
  readonly definitions: Library;
}

export interface ToolResult extends Omit<ToolResultRecord, "seq" | "prev_hash" | "hash" | "counted"> {
  /** For the caller; not part of the record. */
  readonly warnings: readonly string[];
}

/** Records the result of a call, linked to the decisions that allowed it. Later calls of the session may require it. */
export async function recordToolResult(
  request: ToolResultRequest,
  world: ToolResultWorld,
): Promise<ToolResult> {
  const { tool, session_id: session, ok } = request;
  if (world.records === undefined) {
    throw new DecisionError("store_failed", "cannot record a tool result without a store");
  }
  const { log } = world.records;
  assertResultNamed(request);
  const digest = await digestOf(request, world.definitions);
  const decisions = await findAllowedCall({ ...request, digest }, log);
  const timestamp = world.clock();
  const [first] = decisions;
  const result = {
    record_id: world.newId(timestamp),
    timestamp,
    tool,
    ok,
    decision_records: decisions.map(({ record_id }) => record_id),
    session_id: session,
    ...(first !== undefined && { parent_record_id: first.record_id }),
    ...(first?.check_id !== undefined && { check_id: first.check_id }),
  };
  const counts = [
    ...((await isNewestCall(request, decisions, log)) ? [resultCounter(session, tool)] : []),
    ...(digest !== undefined && decisions.length > 0 ? [resultWithParamsCounter(session, tool, digest)] : []),
    ...(ok ? [successCounter(session, tool)] : []),
    ...(ok ? await readsOf(contextsOf(request, decisions), session, world.definitions) : []),
  ];
  await log.append({ body: toolResultRecordBody(result), counts });
  return { kind: "tool_result", ...result, warnings: first === undefined ? [noOpenCall(request)] : [] };
}

const noOpenCall = ({ tool, session_id }: ToolResultRequest): string =>
  `no open call of \`${tool}\` was allowed in session \`${session_id}\``;

function assertResultNamed({ tool, session_id, ok }: ToolResultRequest): void {
  const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
  if (isText(tool) && isText(session_id) && typeof (ok as unknown) === "boolean") return;
  throw new DecisionError(
    "input_invalid",
    "`tool` and `session_id` must be non-empty strings, and `ok` must be a boolean",
  );
}

/** The digest that identifies the call among other open calls; undefined where the params are not given. */
async function digestOf(
  { tool, params }: ToolResultRequest,
  definitions: Library,
): Promise<string | undefined> {
  if (params === undefined || definitions.brokenPolicies.length > 0) return undefined;
  const policies = await Promise.all(
    findPolicies(tool, definitions).map((id) => definitions.findForInspection(id)),
  );
  return paramsDigest(bindContext(params), policies);
}

/** The contexts of the call: as the caller reports it, else from each record with its overrides applied. */
function contextsOf(
  { tool, params }: ToolResultRequest,
  decisions: readonly CallRecord[],
): readonly JsonObject[] {
  const recorded = decisions.map(({ context }) => context).filter((each) => each !== undefined);
  if (params !== undefined) return [bindContext({ ...recorded[0], tool, params })];
  const set = decisions.reduce<JsonObject>((all, each) => ({ ...all, ...changedParams(each) }), {});
  return recorded.map((context) => ({ ...context, params: mergeParams(context["params"] ?? null, set) }));
}

/** The params that an override changed. */
function changedParams({ params, context = {} }: CallRecord): JsonObject {
  if (!isObject(params)) return {};
  const requested = isObject(context["params"]) ? context["params"] : {};
  return Object.fromEntries(
    Object.entries(params).filter(
      ([key, value]) => !Object.hasOwn(requested, key) || !equal(requested[key] ?? null, value),
    ),
  );
}

/** The counters of the paths that the call has read, for policies with `read_before_write`. */
async function readsOf(
  contexts: readonly JsonObject[],
  session: string,
  definitions: Library,
): Promise<readonly string[]> {
  const tool = contexts[0]?.["tool"];
  const policies = definitions.summaries.filter(({ tools }) => tools !== undefined);
  const prepared = await Promise.all(
    policies.map(async ({ id }) => (await prepareOnce(await definitions.findForInspection(id))).prepared),
  );
  return prepared.flatMap(({ needs, definition }) => {
    const readNeeds = (needs?.reads ?? []).filter(
      ({ read_tools }) => typeof tool === "string" && read_tools.some((glob) => matchesGlob(glob, tool)),
    );
    return readNeeds.flatMap((need) => {
      const paths = contexts.map((context) =>
        filePathOf(need, definition, { context, input: undefined, facts: {}, system: {} }),
      );
      const path = paths.find((each) => typeof each === "string" && !each.includes(maskMarker));
      if (typeof path !== "string") return [];
      return [pathReadCounter({ decision: definition.id, policy: need.policy }, session, path)];
    });
  });
}

/** A call whose result is reported. */
interface ReportedCall {
  readonly tool: string;
  readonly session_id: string;
  /** The decision that allowed it, if the caller names one. */
  readonly decision?: DecisionRecord;
  /** The digest of its params, where they are known. */
  readonly digest?: string | undefined;
}

/** The record of a policy decision about a call. */
type CallRecord = Extract<DecisionRecord, { readonly type: "policy" }>;

/** The decisions that allowed the call; empty where no open call is found. */
async function findAllowedCall(request: ReportedCall, log: Ledger): Promise<readonly CallRecord[]> {
  const decided = request.decision ?? (await findOpenCall(request, log));
  if (decided === undefined) return [];
  const call = assertSameCall(decided, request);
  const decisions = (await recordsOfCheck(call, log)).filter(isCall);
  if (decisions.every(({ allowed }) => allowed)) return decisions;
  throw wrongRecord(call, "belongs to a call that was denied");
}

/** Whether the call is the newest one of the tool: the result of an older call leaves the newest open. */
async function isNewestCall(
  { tool, session_id }: Pick<ReportedCall, "tool" | "session_id">,
  decisions: readonly CallRecord[],
  log: Ledger,
): Promise<boolean> {
  const newest = await log.counter(callCounter(session_id, tool));
  return decisions.some(({ seq }) => seq === newest.seq);
}

/** The newest allowed call of the tool in the session (with these params, where known) that has no result yet. */
async function findOpenCall(call: ReportedCall, log: Ledger): Promise<DecisionRecord | undefined> {
  const { tool, session_id: session, digest } = call;
  const names =
    digest === undefined
      ? [callCounter(session, tool), resultCounter(session, tool)]
      : [callWithParamsCounter(session, tool, digest), resultWithParamsCounter(session, tool, digest)];
  const [called, answered] = await Promise.all(names.map((name) => log.counter(name)));
  const seq = called?.seq ?? 0;
  if (seq === 0 || (answered?.seq ?? 0) > seq) return undefined;
  const found = await log.find({ seq });
  return "record" in found && found.record.kind === "decision" ? found.record : undefined;
}

function assertSameCall(decided: DecisionRecord, { tool, session_id }: ReportedCall): CallRecord {
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
