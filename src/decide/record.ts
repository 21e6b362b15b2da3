import { observersOf } from "../definition/loaded-definition.js";
import { DecisionError } from "../errors.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import type { CountedLimit } from "../evaluate/limits.js";
import type { PolicyFacts } from "../evaluate/policy/policy-facts.js";
import type { OverrideApplication } from "../model/lineage.js";
import type { AuthenticatedCaller, Provenance } from "../model/record.js";
import type { Appended, Count, Limit } from "../model/store.js";
import { overrideUseCounter, sessionDecisionCounter, sessionOf } from "../record/counters.js";
import type { RecordDraft, Records } from "../record/records.js";
import { microsecondsOf } from "../record/timestamp.js";
import type { Bound } from "./bind.js";
import type { Decision } from "./decide.js";
import type { Described } from "./describe.js";
import type { Answer } from "./evaluate-cached.js";
import type { ReadyDefinition } from "./find.js";
import { limitCounter, windowStart } from "./gather.js";
import type { Masked } from "./mask.js";
import type { ObservedSession } from "./observe.js";
import type { World } from "./request.js";

/** The decisions of one call, and the answer that the caller gets if they can be recorded. */
interface Attempt<Answered> {
  readonly answer: Answered;
  readonly decisions: readonly Decision[];
}

/** 1,000 lost races in a row cannot be chance. */
const maxAttempts = 1000;

/** The part of a request that recording depends on. */
interface RecordRequest {
  readonly dry_run?: boolean;
  readonly session_id?: string;
  readonly caller?: AuthenticatedCaller | undefined;
}

/**
 * Records the decisions of one call together, then runs the observers of the session. Another process may meanwhile have
 * used up a limit that a decision relies on; the decision is then made again with fresh facts.
 */
export async function recordWithRetry<Answered>(
  request: RecordRequest,
  world: World,
  attempt: () => Promise<Attempt<Answered>>,
): Promise<Answered> {
  const records = request.dry_run === true ? undefined : world.records;
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    const { answer, decisions } = await attempt();
    if (records === undefined) return answer;
    const observed = observedDrafts(decisions, request);
    const appended = await record(decisions, observed.drafts, records);
    if (appended === undefined) return answer;
    if ("refused" in appended) continue;
    if (observed.session !== undefined) {
      const { observe } = await import("./observe.js");
      await observe({ ...observed, seq: appended.seq, session: observed.session }, { ...world, records });
    }
    return answer;
  }
  throw new DecisionError("store_busy", "other processes used up a limit of this decision every time", {
    hint: "try again",
  });
}

/** The records to append, and the session whose observers run after them; undefined: none runs. */
interface ObservedDrafts {
  readonly drafts: readonly RecordDraft[];
  readonly session: ObservedSession | undefined;
}

/** Counts the decisions of a session that has observers. */
function observedDrafts(
  decisions: readonly Decision[],
  { session_id: id, caller }: RecordRequest,
): ObservedDrafts {
  const drafts = decisions.flatMap(({ draft }) => draft ?? []);
  const [first] = drafts;
  if (first === undefined || id === undefined || observersOf(first.loaded).length === 0)
    return { drafts, session: undefined };
  const org = caller?.org_id;
  const counter = sessionDecisionCounter(sessionOf({ session_id: id, caller }));
  return {
    drafts: drafts.map((draft) => ({ ...draft, counts: [...draft.counts, counter] })),
    session: { id, org, counter, observers: observersOf(first.loaded) },
  };
}

/** Appends the records in one atomic step. Returns undefined where there is nothing to record. */
async function record(
  decisions: readonly Decision[],
  [first, ...others]: readonly RecordDraft[],
  records: Records,
): Promise<Appended | undefined> {
  const newKeys = decisions.flatMap(({ newCacheKey }) => newCacheKey ?? []);
  let appended: Appended | undefined;
  try {
    appended = first && (await records.append(first, ...others));
  } catch (error) {
    for (const key of newKeys) records.answers.delete(key);
    throw error;
  }
  if (appended === undefined || !("refused" in appended))
    for (const key of newKeys) await records.publish(key);
  return appended;
}

interface DraftParts {
  readonly request: Provenance;
  readonly bound: Bound;
  readonly answer: Answer;
  readonly masked: Masked;
  readonly counted: CallCounts;
  readonly described: Described;
}

/** Builds the record to append; undefined where nothing is recorded. */
export function draftRecord({ loaded }: ReadyDefinition, parts: DraftParts): RecordDraft | undefined {
  const { request, bound, answer, masked, counted, described } = parts;
  const { result, lineage } = described;
  if (lineage === undefined || bound.recordId === undefined) return undefined;
  const metadata = {
    lineage,
    provenance: request,
    context: masked.scope.context,
    facts: masked.scope.facts,
    feedback: bound.feedback,
    cacheKey: answer.cacheKey,
    cachedFrom: answer.cachedFrom,
    answerDigest: answer.digest,
  };
  return { result, metadata, loaded, counts: counted.counts, limits: counted.limits };
}

/** The counters that grow with an allowed call, and the limits that must still hold when it is recorded. */
export interface CallCounts {
  readonly counts: readonly Count[];
  readonly limits: readonly Limit[];
}

const noCounts: CallCounts = { counts: [], limits: [] };

/** Counts uses of overrides and limits. Only calls that were finally allowed count. */
export function countCall(
  { prepared }: ReadyDefinition,
  { outcome }: Evaluated,
  bound: Bound,
  facts: PolicyFacts,
): CallCounts {
  if (bound.recordId === undefined) return noCounts;
  switch (outcome?.type) {
    case "gate":
      return outcome.status === "GREEN"
        ? toCallCounts(countLimits(outcome.counted, prepared, bound))
        : noCounts;
    case "policy":
      return outcome.allowed
        ? toCallCounts([
            ...outcome.overrides.flatMap((each) => countUse(each, prepared, bound, facts)),
            ...countLimits(outcome.counted, prepared, bound),
          ])
        : noCounts;
    case "scored":
    case undefined:
      return noCounts;
  }
}

interface Counted {
  readonly count: Count;
  readonly limit?: Limit;
}

const toCallCounts = (counted: readonly Counted[]): CallCounts => ({
  counts: counted.map(({ count }) => count),
  limits: counted.flatMap(({ limit }) => limit ?? []),
});

/** Counts a use of an override, for the organisation of the caller if there is one. */
function countUse(
  { name: policy, decision }: OverrideApplication,
  { definition, needs }: Prepared,
  { org }: Bound,
  { shared_uses }: PolicyFacts,
): readonly Counted[] {
  const reference = { decision: decision ?? definition.id, policy };
  const most = needs?.uses.find(({ override }) => override === policy)?.most;
  const shared = overrideUseCounter(reference);
  if (org === undefined)
    return [{ count: shared, ...(most !== undefined && { limit: { counter: shared, most } }) }];
  const own = overrideUseCounter(reference, "org", org);
  const all = { count: overrideUseCounter(reference, "orgs") };
  if (most === undefined) return [{ count: own }, all];
  const known = shared_uses?.[policy] ?? 0;
  return [
    { count: own, limit: { counter: own, most: most - known } },
    // The uses that all organisations share must be as many as were known.
    { ...all, limit: { counter: shared, most: known + 1 } },
  ];
}

/** Counts the call for each `max_calls` and `max_sum`. A call allowed by an override counts, but is not limited. */
function countLimits(
  counted: readonly CountedLimit[],
  { definition, needs }: Prepared,
  { scope, session, at }: Bound,
): readonly Counted[] {
  return counted.flatMap(({ name, owner, limited, amount }): readonly Counted[] => {
    const limit = needs?.limits.find((each) => each.name === name && each.owner === owner);
    const counter = limit && limitCounter(limit, definition, scope, session);
    if (limit === undefined || counter === undefined) return [];
    const { most, window } = limit;
    const after = windowStart(limit, at);
    const bound = { counter, most, ...(after !== undefined && { after }) };
    const time = microsecondsOf(at);
    if (name === "max_calls") {
      const count = window === undefined ? counter : { counter, keep: most, at: time };
      return [{ count, ...(limited && { limit: bound }) }];
    }
    if (amount === undefined) return [];
    const count = { counter, add: amount, ...(window !== undefined && { at: time, window }) };
    return [{ count, ...(limited && { limit: { ...bound, add: amount } }) }];
  });
}
