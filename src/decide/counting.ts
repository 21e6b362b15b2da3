import type { Deliberation } from "../evaluate/policy/deliberation.js";
import type { PolicyNeeds } from "../evaluate/policy/policy-facts.js";
import type { Count, Limit } from "../model/store.js";
import { allowedCounter, callCounter, useCounter } from "../record/counter-names.js";
import { microsecondsOf } from "../record/moment.js";
import { windowStart } from "./policy-facts.js";

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
export function countingOf(deliberation: Deliberation, call: Call): Counting {
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

function usesOf({ overrides }: Deliberation, { decisionId, needs }: Call): readonly Counted[] {
  return overrides.map(({ name }) => {
    const counter = useCounter({ decision: decisionId, policy: name });
    const most = needs?.uses.find(({ override }) => override === name)?.most;
    return { count: counter, ...(most !== undefined && { limit: { counter, most } }) };
  });
}

/** A call that an override let pass counts too, but is not held back by the count. */
function callsOf({ calls }: Deliberation, { decisionId, session, at, needs }: Call): readonly Counted[] {
  if (session === undefined) return [];
  return calls.flatMap(({ policy, limited }) => {
    const need = needs?.calls.find((each) => each.policy === policy);
    if (need === undefined) return [];
    const counter = allowedCounter({ decision: decisionId, policy }, session);
    const after = windowStart(need.per, at);
    const count = after === undefined ? counter : { counter, keep: need.most, at: microsecondsOf(at) };
    const limit = { counter, most: need.most, ...(after !== undefined && { after }) };
    return [{ count, ...(limited && { limit }) }];
  });
}
