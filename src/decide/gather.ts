import type { Shared, World } from "./deliberate.js";
import type { Enriched } from "./enrich.js";
import { needsFetching } from "./enrich.js";
import type { DecisionRequest } from "./request.js";
import { readsMasked } from "../definition/definition-reads.js";
import { matchesGlob } from "../definition/tool-match.js";
import { deepFreeze } from "../digest/freeze-json.js";
import type { Prepared } from "../evaluate/evaluate.js";
import type { ReadFact, ReadNeed } from "../evaluate/policy/policy-facts.js";
import { normalizePath } from "../evaluate/policy/policy-facts.js";
import { guardrailsOf } from "../guard/guard.js";
import type { DistributionFact } from "../guard/run-guardrail.js";
import type { LoadedDefinition, Definition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { Ledger } from "../model/store.js";
import {
  allowedCallCounter,
  pathReadCounter,
  successCounter,
  overrideUseCounter,
  countSince,
} from "../record/counters.js";
import { computeDistribution } from "../record/distribution.js";
import { microsecondsOf, parseDuration } from "../record/timestamp.js";

/** Tells the time, as an ISO 8601 text in UTC with six decimals. */
export type Clock = () => string;

/** Who asks what, and who can be asked about it. */
interface GatherRequest {
  readonly loaded: LoadedDefinition;
  readonly prepared: Prepared;
  readonly scope: Scope & { readonly system: System };
  readonly request: DecisionRequest;
  readonly shared: Shared;
  /** What was fetched before; undefined: nothing is. */
  readonly enriched?: Enriched | undefined;
  readonly world: Pick<World, "records">;
}

/** What the tool itself knows; nobody else can say it. */
export interface System extends JsonObject {
  readonly request_time: string;
  readonly request_id: string;
  /** Absent where nobody has proven who asks. */
  readonly authenticated_caller?: JsonObject;
}

/** Everything that is not in the context but may bear on the answer. */
export async function gather(asked: GatherRequest): Promise<JsonObject> {
  const { loaded, prepared, shared, scope, world, enriched } = asked;
  const { authenticated_caller } = scope.system;
  const facts = deepFreeze({
    ...(authenticated_caller !== undefined && { authenticated_caller }),
    ...(needsPolicyFacts(prepared, shared) && (await gatherPolicyFacts(asked))),
    ...(enriched !== undefined && { fetched: enriched.fetched }),
  });
  if (!needsDistribution(loaded)) return facts;
  const distribution = await distributionFact(loaded, world.records?.log, scope.system.request_time);
  return deepFreeze({ ...facts, distribution: { ...distribution } });
}

/** Whether there is anything to find out. */
export const needsFacts = ({
  loaded,
  prepared,
  shared,
  request,
}: Omit<GatherRequest, "scope" | "world">): boolean =>
  request.caller !== undefined ||
  needsPolicyFacts(prepared, shared) ||
  needsDistribution(loaded) ||
  needsFetching(loaded);

const needsPolicyFacts = ({ needs }: Prepared, { setParams, fixedParams = false }: Shared): boolean =>
  needs !== undefined || setParams !== undefined || fixedParams;

export const noFacts: JsonObject = Object.freeze({});

/** What the store knows that bears on a call. What is not found out stays away, and denies. */
async function gatherPolicyFacts(asked: GatherRequest): Promise<JsonObject> {
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

async function sessionFacts(asked: GatherRequest, session: string): Promise<object> {
  const { prepared, world } = asked;
  const { needs, definition } = prepared;
  const log = world.records?.log;
  if (needs === undefined || log === undefined) return {};
  const succeeded = await countEach(needs.requires, async (tool) => [
    tool,
    (await log.counter(successCounter(session, tool))).count,
  ]);
  const reads = needs.reads.filter((need) => isWritten(need, asked.scope));
  const read = await countEach(reads, async (need) => [need.policy, await readFact(need, asked, session)]);
  const calls = await countEach(needs.calls, async ({ policy, per }) => {
    const counter = await log.counter(allowedCallCounter({ decision: definition.id, policy }, session));
    return [policy, countSince(counter, windowStart(per, asked.scope.system.request_time))];
  });
  return {
    ...(needs.requires.length > 0 && { succeeded }),
    ...(reads.length > 0 && { read }),
    ...(needs.calls.length > 0 && canCount(definition) && { calls }),
  };
}

async function countEach<Item, Value>(
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
  return typeof tool === "string" && write_tools.some((each) => matchesGlob(each, tool));
};

async function readFact(need: ReadNeed, asked: GatherRequest, session: string): Promise<ReadFact> {
  const { definition } = asked.prepared;
  const path = filePathOf(need, definition, asked.scope);
  if (typeof path !== "string") return path;
  const name = pathReadCounter({ decision: definition.id, policy: need.policy }, session, path);
  return { path, read: ((await asked.world.records?.log.counter(name))?.count ?? 0) > 0 };
}

/** The path of a call without detours, or why there is none. */
export function filePathOf(
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
  if (typeof value === "string" && value !== "") return normalizePath(value);
  return { error: `\`${path.text}\` is no path` };
}

async function useFacts({ prepared, world }: GatherRequest): Promise<object> {
  const { needs, definition } = prepared;
  const log = world.records?.log;
  const limited = (needs?.uses ?? []).filter(({ most }) => most !== undefined);
  if (log === undefined || limited.length === 0 || !canCount(definition)) return {};
  const uses = await countEach(limited, async ({ override }) => {
    const counter = await log.counter(overrideUseCounter({ decision: definition.id, policy: override }));
    return [override, counter.count];
  });
  return { uses };
}

/** Whether it must be known how a decision was taken so far. */
const needsDistribution = (loaded: LoadedDefinition): boolean =>
  loaded.definition.type === "weighted" &&
  guardrailsOf(loaded).some(({ type }) => type === "distribution_drift");

interface RecentFact {
  readonly fact: Promise<DistributionFact>;
  readonly at: number;
  uses: number;
  mostUses: number;
}

const recentFacts = new WeakMap<Ledger, Map<string, RecentFact>>();

/** So many decisions later, or a second, the split may be another one: the fewer there were, the sooner. */
const maxUses = (sample: number | null): number => Math.max(100, (sample ?? 0) / 20);
const maxAge = 1_000_000;

/** How a weighted decision was taken so far; where nothing is recorded, not at all. Those who ask at once share one look. */
async function distributionFact(
  loaded: LoadedDefinition,
  log: Ledger | undefined,
  timestamp: string,
): Promise<DistributionFact> {
  if (log === undefined) return { sample: 0, p_value: null };
  const at = microsecondsOf(timestamp);
  const facts = recentFacts.get(log) ?? new Map<string, RecentFact>();
  recentFacts.set(log, facts);
  const last = facts.get(loaded.definition_hash);
  if (last !== undefined && last.uses < last.mostUses && at - last.at < maxAge) {
    last.uses++;
    return last.fact;
  }
  const found = { fact: measureDistribution(loaded, log), at, uses: 1, mostUses: Infinity };
  facts.set(loaded.definition_hash, found);
  found.fact.then(
    ({ sample }) => (found.mostUses = found.uses + maxUses(sample)),
    () => facts.delete(loaded.definition_hash),
  );
  return found.fact;
}

async function measureDistribution(loaded: LoadedDefinition, log: Ledger): Promise<DistributionFact> {
  const { id } = loaded.definition;
  const { distinct_inputs, check } = computeDistribution(id, await log.tally(id, {}), loaded);
  if (check === null) return { sample: distinct_inputs, p_value: null };
  return { sample: check.sample, p_value: check.p_value };
}
