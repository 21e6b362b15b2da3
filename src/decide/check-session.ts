import { effectivePeriod } from "../evaluate/policy/base-policy.js";
import { limitSpan } from "../evaluate/limits.js";
import { DecisionError } from "../errors.js";
import { parseInstant } from "../expression/instant.js";
import { matchesGlob } from "../definition/tool-match.js";
import type { BasePolicy, Policy } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Found, Ledger, Limit } from "../model/store.js";
import { sessionOf, sessionStateCounter } from "../record/counters.js";
import { maskMarker } from "../record/mask.js";
import { orgOfCaller } from "../record/record-keys.js";
import { bindContext } from "./bind.js";
import type { CheckRequest } from "./check.js";
import type { Decision } from "./decide.js";
import type { ReadyDefinition } from "./find.js";
import type { Clock } from "./request.js";

/** Throws if a call has no session, and a policy that is in effect depends on earlier calls of the session. */
export function assertSessionIfNeeded(
  { tool, session_id }: Pick<CheckRequest, "tool" | "session_id">,
  policies: readonly ReadyDefinition[],
  clock: Clock,
): void {
  if (session_id !== undefined) return;
  const at = clock();
  for (const { loaded } of policies) {
    const { definition } = loaded;
    const listed = definition.type === "policy" ? (definition.policies ?? []) : [];
    const needing = listed.find((policy) => isInEffect(policy, at) && needsSession(policy, tool));
    if (needing === undefined) continue;
    throw new DecisionError("usage", `policy \`${needing.name}\` of \`${definition.id}\` needs a session`, {
      hint: "name the run of the agent with `session_id`; on the command line, add --session-id ID",
      details: { decision_id: definition.id, policy: needing.name },
    });
  }
}

const isInEffect = (policy: Policy, at: string): boolean =>
  effectivePeriod(policy)(parseInstant(at)) === undefined;

/** Overrides depend on no session. */
const needsSession = (policy: Policy, tool: string): boolean =>
  policy.overrides === undefined && dependsOnSession(policy, tool);

const dependsOnSession = (
  { requires = [], read_before_write: rule, max_calls, max_sum }: BasePolicy,
  tool: string,
): boolean =>
  requires.length > 0 ||
  rule?.write_tools.some((glob) => matchesGlob(glob, tool)) === true ||
  (max_calls !== undefined && limitSpan(max_calls).per === "session") ||
  max_sum?.per === "session";

/** The context of a call, with the state of its session. */
export interface CallContext {
  readonly context: JsonObject;
  /** The record of the earlier call of the session that sent the state. */
  readonly keptIn?: string;
  /** The counter of the calls that sent a state, if this is one of them. */
  readonly sent?: string;
  /** Refuses the record if another call has sent a state in the meantime. */
  readonly limit?: Limit;
}

/**
 * Adds the state of the session to the context of a call that does not send it: that of the last call that did. A state
 * that cannot be restored is an error if a policy may read it, because a policy could allow by not knowing it.
 */
export async function withSessionState(
  context: JsonObject,
  request: CheckRequest,
  policies: readonly ReadyDefinition[],
  log: Ledger | undefined,
): Promise<CallContext> {
  const session = sessionOf(request);
  if (session === undefined || log === undefined) return { context };
  const counter = sessionStateCounter(session);
  if (Object.hasOwn(context, "session")) return { context, sent: counter };
  const { count, seq } = await log.counter(counter);
  const limit: Limit = { counter, most: count + 1 };
  if (count === 0) return { context, limit };
  const found = stateIn(await log.find({ seq }), request);
  if ("record_id" in found) {
    const { record_id, state } = found;
    return { context: bindContext({ ...context, session: state }), keptIn: record_id, limit };
  }
  if (!policies.some(mayReadSession)) return { context, limit };
  throw new DecisionError(
    "usage",
    `the state of session \`${request.session_id ?? ""}\` was not kept: ${found.missing}`,
    { hint: "send `session` with this call" },
  );
}

type StoredState = { readonly record_id: string; readonly state: Json } | { readonly missing: string };

function stateIn(line: Found, request: CheckRequest): StoredState {
  if (!("record" in line)) return { missing: "its record is no longer in the log" };
  const { record, intact } = line;
  if (!intact || record.kind !== "decision" || !isOfSession(record, request))
    return { missing: "its record was changed" };
  const state = record.context?.["session"];
  if (state === undefined) return { missing: "the inputs of that call were not logged" };
  if (hasMask(state)) return { missing: "it contains masked values" };
  return { record_id: record.record_id, state };
}

const isOfSession = (record: DecisionRecord, { session_id, caller }: CheckRequest): boolean =>
  record.session_id === session_id && orgOfCaller(record) === caller?.org_id;

const hasMask = (state: Json): boolean => JSON.stringify(state).includes(maskMarker);

/** Returns false only if no answer can depend on the state of the session. */
function mayReadSession({ prepared, fetchRounds }: ReadyDefinition): boolean {
  const { conditionReads, needs } = prepared;
  const paths = [...conditionReads, ...(needs?.reads ?? []).flatMap(({ path }) => path.reads)];
  return fetchRounds.length > 0 || paths.some((path) => mayBeSession.test(path));
}

/** `input` and `context` may stand for the whole context. */
const mayBeSession = /^(?:session|context|input)?(?:\.|$)/;

/** Counts the record that later calls restore the state from: if possible, one that has all of it. */
export function countSessionState(
  decisions: readonly Decision[],
  { sent, limit }: CallContext,
): readonly Decision[] {
  const recorded = decisions.filter(({ draft }) => draft !== undefined);
  const counted = recorded.find(hasWholeState) ?? recorded[0];
  return decisions.map((decision) => {
    const { draft } = decision;
    if (draft === undefined || decision !== counted) return decision;
    const counts = sent === undefined ? draft.counts : [...draft.counts, sent];
    const limits = limit === undefined ? draft.limits : [...draft.limits, limit];
    return { ...decision, draft: { ...draft, counts, limits } };
  });
}

const hasWholeState = ({ draft, masked }: Decision): boolean =>
  draft?.loaded.definition.logging?.include_inputs !== false &&
  !hasMask(masked.scope.context["session"] ?? null);
