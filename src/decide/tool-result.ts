import type { Library } from "../definition/library.js";
import { matchesTool } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import { withParams } from "../evaluate/policy/with-params.js";
import { equal, isObject } from "../expression/equal.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { Ledger } from "../model/store.js";
import { callCounter, readCounter, resultCounter, successCounter } from "../record/counter-names.js";
import { masked } from "../record/mask.js";
import { toolResultBody } from "../record/record-body.js";
import type { Records } from "../record/records.js";
import { bind } from "./bind.js";
import { preparedOnce } from "./deliberate.js";
import type { Clock } from "./gather.js";
import { pathOf } from "./policy-facts.js";

/** How a call went. */
export interface ToolResultRequest {
  readonly tool: string;
  readonly session_id: string;
  readonly ok: boolean;
  /** The decision that allowed it; absent: the newest of the session that has no result yet. */
  readonly decision?: DecisionRecord;
  /** What it was called with, where no record can tell. */
  readonly params?: unknown;
}

export interface ToolResultWorld {
  readonly definitions: Library;
  readonly clock: Clock;
  readonly newId: (timestamp: string) => string;
  readonly records?: Records | undefined;
}

export type ToolResult = Omit<ToolResultRecord, "seq" | "prev_hash" | "hash" | "counted">;

/** Records how a call went, linked to the decisions that allowed it; later calls of the session may rest on it. */
export async function recordToolResult(
  request: ToolResultRequest,
  world: ToolResultWorld,
): Promise<ToolResult> {
  const { tool, session_id: session, ok } = request;
  if (world.records === undefined) {
    throw new DecisionError("store_failed", "without a store there is nothing to record a result in");
  }
  const { log } = world.records;
  const decisions = await decisionsOn(request, log);
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
    ...((await isOfNewest(request, decisions, log)) ? [resultCounter(session, tool)] : []),
    ...(ok ? [successCounter(session, tool)] : []),
    ...(ok ? await readsOf(contextsOf(request, decisions), session, world.definitions) : []),
  ];
  await log.append({ body: toolResultBody(result), counts });
  return { kind: "tool_result", ...result };
}

type CallRecord = Extract<DecisionRecord, { readonly type: "policy" }>;

/** Those that allowed the call. */
async function decisionsOn(request: ToolResultRequest, log: Ledger): Promise<readonly CallRecord[]> {
  const { tool, session_id: session } = request;
  const decided = request.decision ?? (await openCall(tool, session, log));
  if (decided === undefined) return [];
  const call = ownCall(decided, request);
  const decisions = await sameCheck(call, log);
  if (decisions.every(({ allowed }) => allowed)) return decisions;
  throw foreign(call, "is of a call that was denied");
}

/** The result of an older call leaves the newest one open. */
async function isOfNewest(
  { tool, session_id, decision }: ToolResultRequest,
  decisions: readonly CallRecord[],
  log: Ledger,
): Promise<boolean> {
  if (decision === undefined) return true;
  const newest = await log.counter(callCounter(session_id, tool));
  return decisions.some(({ seq }) => seq === newest.seq);
}

/** The newest allowed call of the tool in the session, unless its result is known already. */
async function openCall(tool: string, session: string, log: Ledger): Promise<DecisionRecord | undefined> {
  const { seq } = await log.counter(callCounter(session, tool));
  const answered = await log.counter(resultCounter(session, tool));
  if (seq === 0 || answered.seq > seq) return undefined;
  const found = await log.find({ seq });
  return "record" in found && found.record.kind === "decision" ? found.record : undefined;
}

function ownCall(decided: DecisionRecord, { tool, session_id }: ToolResultRequest): CallRecord {
  if (decided.type !== "policy") throw foreign(decided, "is no decision about a call");
  if (decided.tool !== tool) throw foreign(decided, `is about \`${decided.tool}\`, not about \`${tool}\``);
  if (decided.session_id !== session_id) throw foreign(decided, "is of another session");
  return decided;
}

const foreign = ({ record_id }: DecisionRecord, why: string): DecisionError =>
  new DecisionError("usage", `record \`${record_id}\` ${why}`, {
    hint: "name the record of the check that allowed this call",
  });

/** The records of one check stand one behind the other. */
async function sameCheck(decided: CallRecord, log: Ledger): Promise<readonly CallRecord[]> {
  if (decided.check_id === undefined) return [decided];
  const before = await neighbours(decided, -1, log);
  return [...before.reverse(), decided, ...(await neighbours(decided, 1, log))];
}

async function neighbours(decided: CallRecord, step: 1 | -1, log: Ledger): Promise<CallRecord[]> {
  const found: CallRecord[] = [];
  for (let seq = decided.seq + step; seq > 0; seq += step) {
    const line = await log.find({ seq });
    if (!("record" in line) || line.record.kind !== "decision") break;
    if (line.record.type !== "policy" || line.record.check_id !== decided.check_id) break;
    found.push(line.record);
  }
  return found;
}

/** What the tool was called with: as the caller says, else as each record shows it, overrides applied. */
function contextsOf(
  { tool, params }: ToolResultRequest,
  decisions: readonly CallRecord[],
): readonly JsonObject[] {
  const recorded = decisions.map(({ context }) => context).filter((each) => each !== undefined);
  if (params !== undefined) return [bind({ ...recorded[0], tool, params })];
  const set = decisions.reduce<JsonObject>((all, each) => ({ ...all, ...setBy(each) }), {});
  return recorded.map((context) => ({ ...context, params: withParams(context["params"] ?? null, set) }));
}

/** The params that differ from those asked about. */
function setBy({ params, context = {} }: CallRecord): JsonObject {
  if (!isObject(params)) return {};
  const asked = isObject(context["params"]) ? context["params"] : {};
  return Object.fromEntries(
    Object.entries(params).filter(
      ([key, value]) => !Object.hasOwn(asked, key) || !equal(asked[key] ?? null, value),
    ),
  );
}

/** What the call has read, as far as any policy wants to know of it. */
async function readsOf(
  contexts: readonly JsonObject[],
  session: string,
  definitions: Library,
): Promise<readonly string[]> {
  const tool = contexts[0]?.["tool"];
  const policies = definitions.summaries.filter((summary) => summary.tool !== undefined);
  const prepared = await Promise.all(
    policies.map(async ({ id }) => preparedOnce(await definitions.find(id))),
  );
  return prepared.flatMap(({ needs, definition }) => {
    const wanted = (needs?.reads ?? []).filter(
      ({ read_tools }) => typeof tool === "string" && read_tools.some((glob) => matchesTool(glob, tool)),
    );
    return wanted.flatMap((need) => {
      const paths = contexts.map((context) =>
        pathOf(need, definition, { context, input: undefined, facts: {}, system: {} }),
      );
      const path = paths.find((each) => typeof each === "string" && !each.includes(masked));
      if (typeof path !== "string") return [];
      return [readCounter({ decision: definition.id, policy: need.policy }, session, path)];
    });
  });
}
