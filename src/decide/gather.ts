import type { Bound } from "./bind.js";
import { bindFeedback } from "./bind.js";
import type { Enriched } from "./enrich.js";
import type { FactSource } from "./fact-source.js";
import { factsOfLog } from "./fact-source.js";
import type { ReadyDefinition } from "./find.js";
import type { CallState, DecisionRequest, World } from "./request.js";
import { maskTexts } from "./mask.js";
import { mayReadAny } from "../definition/definition-reads.js";
import { matchesGlob } from "../definition/tool-match.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { InvalidEvaluatorError } from "../errors.js";
import { isObject } from "../expression/equal.js";
import type { Prepared } from "../evaluate/evaluate.js";
import type { VoteFact } from "../evaluate/scored/evaluator.js";
import type { PreparedLimit } from "../evaluate/limits.js";
import type {
  OverrideNeed,
  ParamsChange,
  PolicyFacts,
  ReadFact,
  ReadNeed,
  RecheckFacts,
} from "../evaluate/policy/policy-facts.js";
import { paramsSetBy } from "../evaluate/policy/policy-facts.js";
import { mergeParams } from "../evaluate/policy/policy-outcome.js";
import { isUnambiguousPath, normalizePath } from "../expression/file-path.js";
import { guardrailsOf } from "../guard/guard.js";
import type { DistributionFact } from "../guard/run-guardrail.js";
import type { LoadedDefinition, Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { LimitSubject, Session } from "../record/counters.js";
import { allowedCallCounter, allowedSumCounter, callerSubject, sessionOf } from "../record/counters.js";
import { maskedTexts, maskText } from "../record/mask.js";
import { microsecondsOf } from "../record/timestamp.js";

interface GatherOptions {
  readonly request: DecisionRequest;
  readonly world: Pick<World, "records" | "voters" | "facts">;
  readonly call: CallState;
}

/** A decision for which facts are gathered. */
interface Subject extends GatherOptions {
  readonly prepared: Prepared;
  readonly scope: Bound["scope"];
}

/** Adds the facts to the scope, that is everything that is not in the context but may bear on the answer. */
export async function gather(
  { loaded, prepared }: ReadyDefinition,
  { scope, fetched }: Enriched,
  options: GatherOptions,
): Promise<Bound["scope"]> {
  const { authenticated_caller, request_time } = scope.system;
  const facts = deepFreeze({
    ...(authenticated_caller !== undefined && { authenticated_caller }),
    ...(needsPolicyFacts(prepared, options.call) && (await policyFacts({ ...options, prepared, scope }))),
    ...(prepared.customEvaluators !== undefined && {
      votes: await gatherVotes(prepared.customEvaluators, { ...options, prepared, scope }),
    }),
    ...(fetched !== undefined && { fetched }),
    ...(needsDistribution(loaded) && {
      distribution: {
        ...((await sourceOf(options.world)?.distribution(loaded, request_time)) ?? unmeasured),
      },
    }),
  });
  return { ...scope, facts };
}

/** Undefined: there is nothing to gather facts from. */
const sourceOf = ({ facts, records }: Pick<World, "records" | "facts">): FactSource | undefined =>
  facts ?? (records && factsOfLog(records.log));

const unmeasured: DistributionFact = Object.freeze({ sample: 0, p_value: null });

/** Whether there are any facts to gather. */
export const needsFacts = (
  { loaded, prepared, fetchRounds }: ReadyDefinition,
  { caller }: DecisionRequest,
  call: CallState,
): boolean =>
  caller !== undefined ||
  fetchRounds.length > 0 ||
  prepared.customEvaluators !== undefined ||
  needsPolicyFacts(prepared, call) ||
  needsDistribution(loaded);

const needsPolicyFacts = (
  { needs }: Prepared,
  { setParams, fixedParams = false, changes, hasKeptState = false }: CallState,
): boolean =>
  needs !== undefined || setParams !== undefined || fixedParams || changes !== undefined || hasKeptState;

/** The votes of custom evaluators. They are facts, so that a replay does not need the code of the evaluators. */
async function gatherVotes(
  names: readonly string[],
  { prepared, scope, request, world }: Subject,
): Promise<JsonObject> {
  const feedback = bindFeedback(request.feedback) ?? {};
  const secrets = maskedTexts(scope.context, prepared.masks);
  const voters = names.map((name) => {
    const voter = world.voters?.get(name);
    if (voter !== undefined) return voter;
    throw new InvalidEvaluatorError(
      `the evaluator \`${name}\` of \`${prepared.definition.id}\` is not registered`,
      { hint: "a program registers it with the option `evaluators` of `compose`; the command line has none" },
    );
  });
  const votes = await Promise.all(
    voters.map(async (castVote): Promise<VoteFact> => {
      try {
        const vote = await castVote(scope.context, feedback);
        if (vote === undefined) return null;
        const { decision, weight, reason, metadata } = vote;
        return {
          decision,
          weight,
          reason: maskText(reason, secrets),
          metadata: maskTexts(metadata, secrets) as JsonObject,
        };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return { error: maskText(reason, secrets) };
      }
    }),
  );
  return Object.fromEntries(names.map((name, index) => [name, votes[index] ?? null]));
}

/** Facts from the store about a tool call. A fact that cannot be found is absent, and its policy then denies. */
async function policyFacts(subject: Subject): Promise<JsonObject> {
  const { session_id: sessionId } = subject.request;
  const session = sessionOf(subject.request);
  const { setParams, fixedParams = false, changes, hasKeptState = false } = subject.call;
  const facts = {
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(hasKeptState && { session_state: "kept" }),
    ...(session !== undefined && (await sessionFacts(subject, session))),
    ...(await limitFacts(subject, session)),
    ...(await overrideUses(subject)),
    ...(setParams !== undefined && { set_params: setParams }),
    ...(fixedParams && { fixed_params: true }),
    ...(changes !== undefined && { recheck: await recheckFacts(subject, changes) }),
  };
  return deepFreeze(facts as unknown as JsonObject);
}

async function sessionFacts(subject: Subject, session: Session): Promise<object> {
  const { prepared, world } = subject;
  const { needs } = prepared;
  const source = sourceOf(world);
  if (needs === undefined || source === undefined) return {};
  const succeeded = await countEach(needs.requires, async (tool) => [
    tool,
    await source.successes(session, tool),
  ]);
  const read = await readFacts(subject, session);
  return { ...(needs.requires.length > 0 && { succeeded }), ...(read !== undefined && { read }) };
}

/** The calls and sums that count towards limits so far. */
async function limitFacts(
  { prepared, world, scope }: Subject,
  session: Session | undefined,
): Promise<object> {
  const { needs, definition } = prepared;
  const source = sourceOf(world);
  if (source === undefined || !canCount(definition)) return {};
  const facts: { calls?: Record<string, number>; sums?: Record<string, number> } = {};
  for (const limit of needs?.limits ?? []) {
    const name = limitCounter(limit, definition, scope, session);
    if (name === undefined) continue;
    const used = await source.used(limit, name, windowStart(limit, scope.system.request_time));
    if (limit.name === "max_calls") (facts.calls ??= {})[limit.owner] = used;
    else (facts.sums ??= {})[limit.owner] = used;
  }
  return facts;
}

/** The name of the counter of a limit; undefined without a session, caller or organisation to count for. */
export function limitCounter(
  { name, owner, per }: PreparedLimit,
  definition: Definition,
  { system }: Bound["scope"],
  session: Session | undefined,
): string | undefined {
  const subject = limitSubject(per, definition, system["authenticated_caller"], session);
  if (subject === undefined) return undefined;
  const reference = { decision: definition.id, policy: owner };
  return name === "max_calls"
    ? allowedCallCounter(reference, ...subject)
    : allowedSumCounter(reference, ...subject);
}

/** A gate belongs to an organisation; of other decisions it is that of the caller. */
function limitSubject(
  per: PreparedLimit["per"],
  definition: Definition,
  caller: Json | undefined,
  session: Session | undefined,
): LimitSubject | undefined {
  switch (per) {
    case "session":
      return session === undefined ? undefined : [session];
    case "caller":
      return callerSubject(caller);
    case "org": {
      const ofCaller = isObject(caller) ? caller["org_id"] : undefined;
      const org = definition.type === "gate" ? definition.action.org : ofCaller;
      return typeof org === "string" && org !== "" ? ["org", org] : undefined;
    }
  }
}

async function countEach<Item, Value>(
  items: readonly Item[],
  ask: (item: Item) => Promise<readonly [string, Value]>,
): Promise<Readonly<Record<string, Value>>> {
  return Object.fromEntries(await Promise.all(items.map(ask)));
}

/** Calls are counted by their records. */
const canCount = ({ logging }: Definition): boolean => logging?.log_decision !== false;

/** Start of the window in which calls count, in microseconds; undefined: all of them count. */
export const windowStart = ({ window }: PreparedLimit, at: string): number | undefined =>
  window === undefined ? undefined : microsecondsOf(at) - window;

const isWritten = ({ write_tools }: ReadNeed, { context }: Scope): boolean => {
  const { tool } = context;
  return typeof tool === "string" && write_tools.some((each) => matchesGlob(each, tool));
};

/** The paths that the call writes, by policy; undefined where it writes none that must have been read. */
async function readFacts(subject: Subject, session: Session): Promise<PolicyFacts["read"]> {
  const reads = (subject.prepared.needs?.reads ?? []).filter((need) => isWritten(need, subject.scope));
  if (reads.length === 0 || sourceOf(subject.world) === undefined) return undefined;
  return countEach(reads, async (need) => [need.policy, await readFact(need, subject, session)]);
}

/** Facts about the params that overrides changed. */
async function recheckFacts(subject: Subject, changes: readonly ParamsChange[]): Promise<RecheckFacts> {
  const { request, scope } = subject;
  const params = mergeParams(scope.context["params"] ?? null, paramsSetBy(changes));
  const changed = { ...subject, scope: { ...scope, context: { ...scope.context, params } } };
  const session = sessionOf(request);
  const read = session === undefined ? undefined : await readFacts(changed, session);
  return { changes, ...(read !== undefined && { read }), overridden: true };
}

async function readFact(need: ReadNeed, subject: Subject, session: Session): Promise<ReadFact> {
  const { definition } = subject.prepared;
  const path = filePathOf(need, subject.prepared, subject.scope);
  if (typeof path !== "string") return path;
  const policy = { decision: definition.id, policy: need.policy };
  return { path, read: (await sourceOf(subject.world)?.wasRead(policy, session, path)) === true };
}

/** The normalized path of a call, or why it has none. */
export function filePathOf(
  { path }: ReadNeed,
  { masks: pointers }: Pick<Prepared, "masks">,
  scope: Scope,
): string | { readonly error: string } {
  if (mayReadAny(path.reads, pointers)) {
    return { error: `\`${path.text}\` is masked and cannot be recorded` };
  }
  const value = path.evaluate(scope);
  if (typeof value === "string" && isUnambiguousPath(value)) return normalizePath(value);
  return { error: `\`${path.text}\` is not a path` };
}

/**
 * The uses of the overrides that have a limit. A caller of an organisation shares them with that organisation and with
 * callers without one: those include the uses that earlier versions did not count by organisation.
 */
async function overrideUses({ prepared, world, request }: Subject): Promise<object> {
  const { needs, definition } = prepared;
  const source = sourceOf(world);
  const limited = (needs?.uses ?? []).filter(({ most }) => most !== undefined);
  if (source === undefined || limited.length === 0 || !canCount(definition)) return {};
  const org = request.caller?.org_id;
  const count = ({ override, decision = definition.id }: OverrideNeed, by?: string): Promise<number> =>
    source.applications({ decision, policy: override }, by);
  const shared = await countEach(limited, async (need) => [need.override, await count(need)]);
  if (org === undefined) return { uses: shared };
  const uses = await countEach(limited, async (need) => [
    need.override,
    (shared[need.override] ?? 0) + (await count(need, org)),
  ]);
  return { uses, shared_uses: shared };
}

/** Whether a guardrail tests the distribution so far. */
const needsDistribution = (loaded: LoadedDefinition): boolean =>
  loaded.definition.type === "weighted" &&
  guardrailsOf(loaded).some(({ type }) => type === "distribution_drift");
