import type { Library } from "../definition/library.js";
import { matchesTool, policiesFor } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import { withParams } from "../evaluate/policy/with-params.js";
import { equal, isObject } from "../expression/equal.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import { readCounter, resultCounter, resultWithCounter, successCounter } from "../record/counter-names.js";
import { masked } from "../record/mask.js";
import { toolResultBody } from "../record/record-body.js";
import type { Records } from "../record/records.js";
import { bind } from "./bind.js";
import { preparedOnce } from "./deliberate.js";
import type { CallRecord } from "./find-call.js";
import { decisionsOn, isOfNewest } from "./find-call.js";
import type { Clock } from "./gather.js";
import { paramsDigest } from "./params-digest.js";
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

export interface ToolResult extends Omit<ToolResultRecord, "seq" | "prev_hash" | "hash" | "counted"> {
  /** What whoever tells it should know; no part of the record. */
  readonly warnings: readonly string[];
}

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
  refuseNameless(request);
  const digest = await digestOf(request, world.definitions);
  const decisions = await decisionsOn({ ...request, digest }, log);
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
    ...(digest !== undefined && decisions.length > 0 ? [resultWithCounter(session, tool, digest)] : []),
    ...(ok ? [successCounter(session, tool)] : []),
    ...(ok ? await readsOf(contextsOf(request, decisions), session, world.definitions) : []),
  ];
  await log.append({ body: toolResultBody(result), counts });
  return { kind: "tool_result", ...result, warnings: first === undefined ? [unasked(request)] : [] };
}

const unasked = ({ tool, session_id }: ToolResultRequest): string =>
  `no open call of \`${tool}\` was allowed in session \`${session_id}\``;

function refuseNameless({ tool, session_id, ok }: ToolResultRequest): void {
  const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
  if (isText(tool) && isText(session_id) && typeof (ok as unknown) === "boolean") return;
  throw new DecisionError(
    "input_invalid",
    "a result names the tool and the session by a text, and whether it is ok",
  );
}

/** What tells the call from others that are on their way; undefined where nobody says what it was called with. */
async function digestOf(
  { tool, params }: ToolResultRequest,
  definitions: Library,
): Promise<string | undefined> {
  if (params === undefined || definitions.brokenPolicies.length > 0) return undefined;
  const asked = await Promise.all(policiesFor(tool, definitions).map((id) => definitions.lookUp(id)));
  return paramsDigest(bind(params), asked);
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
  const policies = definitions.summaries.filter(({ tools }) => tools !== undefined);
  const prepared = await Promise.all(
    policies.map(async ({ id }) => preparedOnce(await definitions.lookUp(id))),
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
