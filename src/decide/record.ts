import type { Deliberated } from "./deliberate.js";
import { windowStart } from "./gather.js";
import { DecisionError } from "../errors.js";
import type { DetailedPolicyOutcome } from "../evaluate/policy/policy-outcome.js";
import type { PolicyNeeds } from "../evaluate/policy/policy-facts.js";
import type { Count, Limit } from "../model/store.js";
import { allowedCallCounter, callCounter, overrideUseCounter } from "../record/counters.js";
import { microsecondsOf } from "../record/timestamp.js";
import type { Records } from "../record/records.js";

/** Whoever is refused looks again; that often nobody can have been faster by chance. */
const maxAttempts = 1000;

/**
 * Deliberates and remembers in turns until both fit: what was counted meanwhile by others may have used up
 * what this decision rests on.
 */
export async function retryOnLostRace<Decided>(
  deliberate: () => Promise<{ readonly decided: Decided; readonly made: readonly Deliberated[] }>,
  records: Records | undefined,
): Promise<Decided> {
  for (let tries = 0; tries < maxAttempts; tries++) {
    const { decided, made } = await deliberate();
    if (await appendDrafts(made, records)) return decided;
  }
  throw new DecisionError("store_busy", "what the decision rests on was used up by others time and again", {
    hint: "try again",
  });
}

async function appendDrafts(made: readonly Deliberated[], records: Records | undefined): Promise<boolean> {
  const [first, ...others] = made.flatMap(({ draft }) => draft ?? []);
  try {
    const refused = first === undefined ? undefined : await records?.append(first, ...others);
    if (refused !== undefined) return false;
  } catch (error) {
    for (const key of newKeysOf(made)) records?.answers.delete(key);
    throw error;
  }
  for (const key of newKeysOf(made)) await records?.publish(key);
  return true;
}

/** The keys of answers that were not in the cache before. */
const newKeysOf = (made: readonly Deliberated[]): readonly string[] =>
  made.flatMap(({ answered: { cacheKey, cached } }) => (cacheKey === undefined || cached ? [] : [cacheKey]));

/** What grows with a call that is allowed, and what must still hold when it is recorded. */
export interface Counting {
  readonly counts: readonly Count[];
  readonly limits: readonly Limit[];
}

interface Call {
  readonly decisionId: string;
  readonly session: string | undefined;
  readonly at: string;
  readonly needs: PolicyNeeds | undefined;
}

/** Uses of overrides and calls of the session: only what was finally allowed is counted. */
export function countCall(deliberation: DetailedPolicyOutcome, call: Call): Counting {
  const parts = [...usesOf(deliberation, call), ...callsOf(deliberation, call)];
  const { session } = call;
  return {
    counts: [
      ...parts.map(({ count }) => count),
      ...(session === undefined ? [] : [callCounter(session, deliberation.tool)]),
    ],
    limits: parts.flatMap(({ limit }) => limit ?? []),
  };
}

interface Counted {
  readonly count: Count;
  readonly limit?: Limit;
}

function usesOf({ overrides }: DetailedPolicyOutcome, { decisionId, needs }: Call): readonly Counted[] {
  return overrides.map(({ name }) => {
    const counter = overrideUseCounter({ decision: decisionId, policy: name });
    const most = needs?.uses.find(({ override }) => override === name)?.most;
    return { count: counter, ...(most !== undefined && { limit: { counter, most } }) };
  });
}

/** A call that an override let pass counts too, but is not held back by the count. */
function callsOf(
  { calls }: DetailedPolicyOutcome,
  { decisionId, session, at, needs }: Call,
): readonly Counted[] {
  if (session === undefined) return [];
  return calls.flatMap(({ policy, limited }) => {
    const need = needs?.calls.find((each) => each.policy === policy);
    if (need === undefined) return [];
    const counter = allowedCallCounter({ decision: decisionId, policy }, session);
    const after = windowStart(need.per, at);
    const count = after === undefined ? counter : { counter, keep: need.most, at: microsecondsOf(at) };
    const limit = { counter, most: need.most, ...(after !== undefined && { after }) };
    return [{ count, ...(limited && { limit }) }];
  });
}
