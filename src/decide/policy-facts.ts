import { readsMasked } from "../definition/mask-pointers.js";
import { matchesTool } from "../definition/tool-match.js";
import { deepFreeze } from "../digest/freeze.js";
import { normalPath } from "../evaluate/policy/normal-path.js";
import type { ReadFact, ReadNeed } from "../evaluate/policy/policy-facts.js";
import type { Definition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import { allowedCounter, readCounter, successCounter, useCounter } from "../record/counter-names.js";
import { countedAfter } from "../record/counting.js";
import { microsecondsOf, parseDuration } from "../record/moment.js";
import type { Asked } from "./gather.js";

/** What the store knows that bears on a call. What is not found out stays away, and denies. */
export async function gatherPolicyFacts(asked: Asked): Promise<JsonObject> {
  const sessionId = asked.request.session_id;
  const { setParams, fixedParams = false } = asked.shared;
  const facts = {
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(sessionId !== undefined && (await sessionFacts(asked, sessionId))),
    ...(await useFacts(asked)),
    ...(setParams !== undefined && { set_params: setParams }),
    ...(fixedParams && { fixed_params: true }),
  };
  return deepFreeze(facts as unknown as JsonObject);
}

async function sessionFacts(asked: Asked, session: string): Promise<object> {
  const { prepared, world } = asked;
  const { needs, definition } = prepared;
  const log = world.records?.log;
  if (needs === undefined || log === undefined) return {};
  const succeeded = await counted(needs.requires, async (tool) => [
    tool,
    (await log.counter(successCounter(session, tool))).count,
  ]);
  const reads = needs.reads.filter((need) => isWritten(need, asked.scope));
  const read = await counted(reads, async (need) => [need.policy, await readFact(need, asked, session)]);
  const calls = await counted(needs.calls, async ({ policy, per }) => {
    const counter = await log.counter(allowedCounter({ decision: definition.id, policy }, session));
    return [policy, countedAfter(counter, windowStart(per, asked.scope.system.request_time))];
  });
  return {
    ...(needs.requires.length > 0 && { succeeded }),
    ...(reads.length > 0 && { read }),
    ...(needs.calls.length > 0 && canCount(definition) && { calls }),
  };
}

async function counted<Item, Value>(
  items: readonly Item[],
  ask: (item: Item) => Promise<readonly [string, Value]>,
): Promise<Readonly<Record<string, Value>>> {
  return Object.fromEntries(await Promise.all(items.map(ask)));
}

/** Without records nothing is counted. */
const canCount = ({ logging }: Definition): boolean => logging?.log_decision !== false;

/** From when on calls count, in microseconds; undefined: all of the session. */
export const windowStart = (per: string, at: string): number | undefined =>
  per === "session" ? undefined : microsecondsOf(at) - (parseDuration(per) ?? 0);

const isWritten = ({ write_tools }: ReadNeed, { context }: Scope): boolean => {
  const { tool } = context;
  return typeof tool === "string" && write_tools.some((each) => matchesTool(each, tool));
};

async function readFact(need: ReadNeed, asked: Asked, session: string): Promise<ReadFact> {
  const { definition } = asked.prepared;
  const path = pathOf(need, definition, asked.scope);
  if (typeof path !== "string") return path;
  const name = readCounter({ decision: definition.id, policy: need.policy }, session, path);
  return { path, read: ((await asked.world.records?.log.counter(name))?.count ?? 0) > 0 };
}

/** The path of a call without detours, or why there is none. */
export function pathOf(
  { path }: ReadNeed,
  { logging }: Definition,
  scope: Scope,
): string | { readonly error: string } {
  const pointers = logging?.mask ?? [];
  // `input` may stand for anything.
  if (
    pointers.length > 0 &&
    path.reads.some((each) => /^input\b/.test(each) || readsMasked(each, pointers))
  ) {
    return { error: `\`${path.text}\` is masked, so it cannot be remembered` };
  }
  const value = path.evaluate(scope);
  if (typeof value === "string" && value !== "") return normalPath(value);
  return { error: `\`${path.text}\` is no path` };
}

async function useFacts({ prepared, world }: Asked): Promise<object> {
  const { needs, definition } = prepared;
  const log = world.records?.log;
  const limited = (needs?.uses ?? []).filter(({ most }) => most !== undefined);
  if (log === undefined || limited.length === 0 || !canCount(definition)) return {};
  const uses = await counted(limited, async ({ override }) => {
    const counter = await log.counter(useCounter({ decision: definition.id, policy: override }));
    return [override, counter.count];
  });
  return { uses };
}
