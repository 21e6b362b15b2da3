import { effectivePeriod } from "../evaluate/policy/base-policy.js";
import { limitSpan } from "../evaluate/limits.js";
import { DecisionError } from "../errors.js";
import { parseInstant } from "../expression/instant.js";
import { matchesGlob } from "../definition/tool-match.js";
import type { BasePolicy, Policy } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { AuthenticatedCaller, DecisionRecord } from "../model/record.js";
import type { Found, Ledger, Limit } from "../model/store.js";
import type { StateOwner } from "../record/counters.js";
import { callerSubject, sessionOf, sessionStateCounter } from "../record/counters.js";
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
  /** Refuse the record if another call has sent a state in the meantime. */
  readonly limits?: readonly Limit[];
}

/**
 * Adds the state of the session to the context of a call that does not send it: that of the last call that did. A caller
 * who may only ask for decisions must not change what those of others rest on, so its state is kept for itself. A state
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
  const owner = stateOwner(request);
  const own = sessionStateCounter(session, ...owner);
  if (Object.hasOwn(context, "session")) return { context, sent: own };
  const counters = owner.length === 0 ? [own] : [own, sessionStateCounter(session)];
  const counted = await Promise.all(counters.map((counter) => log.counter(counter)));
  const limits = counters.map((counter, at): Limit => ({ counter, most: (counted[at]?.count ?? 0) + 1 }));
  const seq = Math.max(...counted.map((each) => each.seq));
  if (seq === 0) return { context, limits };
  const found = stateIn(await log.find({ seq }), request);
  if ("record_id" in found) {
    const { record_id, state } = found;
    return { context: bindContext({ ...context, session: state }), keptIn: record_id, limits };
  }
  if (!policies.some(mayReadSession)) return { context, limits };
  throw new DecisionError(
    "usage",
    `the state of session \`${request.session_id ?? ""}\` was not kept: ${found.missing}`,
    { hint: "send `session` with this call" },
  );
}

/** Returns for whose calls the state that a caller sends is kept. */
function stateOwner({ caller, may_report: mayReport }: CheckRequest): StateOwner {
  // A program can pass an incomplete caller.
  const { scopes = [] }: Partial<AuthenticatedCaller> = caller ?? {};
  if (mayReport ?? (caller === undefined || scopes.includes("report"))) return [];
  return callerSubject(caller) ?? ["unidentified"];
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
  { sent, limits: others = [] }: CallContext,
): readonly Decision[] {
  const recorded = decisions.filter(({ draft }) => draft !== undefined);
  const counted = recorded.find(hasWholeState) ?? recorded[0];
  return decisions.map((decision) => {
    const { draft } = decision;
    if (draft === undefined || decision !== counted) return decision;
    const counts = sent === undefined ? draft.counts : [...draft.counts, sent];
    return { ...decision, draft: { ...draft, counts, limits: [...draft.limits, ...others] } };
  });
}

const hasWholeState = ({ draft, masked }: Decision): boolean =>
  draft?.loaded.definition.logging?.include_inputs !== false &&
  !hasMask(masked.scope.context["session"] ?? null);
