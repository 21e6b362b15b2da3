import type { Library } from "../definition/library.js";
import { matchesTool } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { Ledger } from "../model/store.js";
import { callCounter, readCounter, resultCounter, successCounter } from "../record/counter-names.js";
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
  const decided = request.decision ?? (await openCall(tool, session, log));
  if (decided !== undefined) refuseForeign(decided, request);
  const decisions = decided === undefined ? [] : await sameCheck(decided, log);
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
  const context = contextOf(request, first);
  const reads = ok && context !== undefined ? await readsOf(context, session, world.definitions) : [];
  const counts = [resultCounter(session, tool), ...(ok ? [successCounter(session, tool)] : []), ...reads];
  await log.append({ body: toolResultBody(result), counts });
  return { kind: "tool_result", ...result };
}

/** The newest allowed call of the tool in the session, unless its result is known already. */
async function openCall(tool: string, session: string, log: Ledger): Promise<DecisionRecord | undefined> {
  const { seq } = await log.counter(callCounter(session, tool));
  const answered = await log.counter(resultCounter(session, tool));
  if (seq === 0 || answered.seq > seq) return undefined;
  const found = await log.find({ seq });
  return "record" in found && found.record.kind === "decision" ? found.record : undefined;
}

function refuseForeign(decided: DecisionRecord, { tool, session_id }: ToolResultRequest): void {
  const wrong =
    decided.type !== "policy"
      ? "is no decision about a call"
      : decided.tool !== tool
        ? `is about \`${decided.tool}\`, not about \`${tool}\``
        : decided.session_id !== session_id
          ? "is of another session"
          : undefined;
  if (wrong === undefined) return;
  throw new DecisionError("usage", `record \`${decided.record_id}\` ${wrong}`, {
    hint: "name the record of the check that allowed this call",
  });
}

/** The records of one check stand one behind the other. */
async function sameCheck(decided: DecisionRecord, log: Ledger): Promise<readonly DecisionRecord[]> {
  if (decided.check_id === undefined) return [decided];
  const before = await neighbours(decided, -1, log);
  return [...before.reverse(), decided, ...(await neighbours(decided, 1, log))];
}

async function neighbours(decided: DecisionRecord, step: 1 | -1, log: Ledger): Promise<DecisionRecord[]> {
  const found: DecisionRecord[] = [];
  for (let seq = decided.seq + step; seq > 0; seq += step) {
    const line = await log.find({ seq });
    if (!("record" in line) || line.record.kind !== "decision") break;
    if (line.record.check_id !== decided.check_id) break;
    found.push(line.record);
  }
  return found;
}

/** What the tool was called with: as the caller says, else as the record does. */
function contextOf({ tool, params }: ToolResultRequest, decided?: DecisionRecord): JsonObject | undefined {
  if (params !== undefined) return bind({ ...decided?.context, tool, params });
  return decided?.context;
}

/** What the call has read, as far as any policy wants to know of it. */
async function readsOf(
  context: JsonObject,
  session: string,
  definitions: Library,
): Promise<readonly string[]> {
  const { tool } = context;
  const policies = definitions.summaries.filter((summary) => summary.tool !== undefined);
  const loaded = await Promise.all(policies.map(({ id }) => definitions.find(id)));
  return loaded.flatMap((each) => {
    const { needs, definition } = preparedOnce(each);
    const wanted = (needs?.reads ?? []).filter(
      ({ read_tools }) => typeof tool === "string" && read_tools.some((glob) => matchesTool(glob, tool)),
    );
    return wanted.flatMap((need) => {
      const path = pathOf(need, definition, { context, input: undefined, facts: {}, system: {} });
      if (typeof path !== "string") return [];
      return [readCounter({ decision: definition.id, policy: need.policy }, session, path)];
    });
  });
}
