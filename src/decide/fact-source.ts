import { fromMillionths } from "../evaluate/limits.js";
import type { PreparedLimit } from "../evaluate/limits.js";
import type { DistributionFact } from "../guard/run-guardrail.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Ledger } from "../model/store.js";
import type { PolicyReference, Session } from "../record/counters.js";
import {
  countSince,
  overrideUseCounter,
  pathReadCounter,
  successCounter,
  sumSince,
} from "../record/counters.js";
import { computeDistribution } from "../record/distribution.js";
import { microsecondsOf } from "../record/timestamp.js";

/** Where the facts of a decision come from: the log, or a test. */
export interface FactSource {
  /** How often a tool succeeded in a session. */
  successes(session: Session, tool: string): Promise<number>;
  /** Whether a path was read in a session by the tools that a policy names. */
  wasRead(policy: PolicyReference, session: Session, path: string): Promise<boolean>;
  /** How much of a limit is used since a time in microseconds, or ever: calls, or a sum. */
  used(limit: PreparedLimit, counter: string, after: number | undefined): Promise<number>;
  /** How often an override was applied by callers of an organisation, or by those without one. */
  applications(override: PolicyReference, org?: string): Promise<number>;
  /** The distribution of a weighted decision so far. */
  distribution(loaded: LoadedDefinition, timestamp: string): Promise<DistributionFact>;
}

/** Reads facts from the counters of the log. */
export const factsOfLog = (log: Ledger): FactSource => ({
  successes: async (session, tool) => (await log.counter(successCounter(session, tool))).count,
  wasRead: async (policy, session, path) =>
    (await log.counter(pathReadCounter(policy, session, path))).count > 0,
  async used({ name }, counterName, after) {
    const counter = await log.counter(counterName);
    return name === "max_calls" ? countSince(counter, after) : fromMillionths(sumSince(counter, after));
  },
  applications: async (override, org) =>
    (await log.counter(overrideUseCounter(override, ...(org === undefined ? [] : (["org", org] as const)))))
      .count,
  distribution: (loaded, timestamp) => distributionFact(loaded, log, timestamp),
});

interface RecentFact {
  readonly fact: Promise<DistributionFact>;
  /** When it was measured, in microseconds. */
  readonly at: number;
  uses: number;
  maxUses: number;
}

/**
 * The last measured distribution by log and definition hash: decisions of one batch share a measurement, which
 * would otherwise read the tally for each of them.
 */
const recentFacts = new WeakMap<Ledger, Map<string, RecentFact>>();

/** A measurement serves 5 % of its sample, at least 100 decisions, and at most a second. */
const usesFor = (sample: number | null): number => Math.max(100, (sample ?? 0) / 20);
const maxAge = 1_000_000;

/** The distribution of a weighted decision so far. Concurrent decisions share one measurement. */
async function distributionFact(
  loaded: LoadedDefinition,
  log: Ledger,
  timestamp: string,
): Promise<DistributionFact> {
  const at = microsecondsOf(timestamp);
  const facts = recentFacts.get(log) ?? new Map<string, RecentFact>();
  recentFacts.set(log, facts);
  const last = facts.get(loaded.definition_hash);
  if (last !== undefined && last.uses < last.maxUses && at - last.at < maxAge) {
    last.uses++;
    return last.fact;
  }
  const found = { fact: measureDistribution(loaded, log), at, uses: 1, maxUses: Infinity };
  facts.set(loaded.definition_hash, found);
  found.fact.then(
    ({ sample }) => (found.maxUses = found.uses + usesFor(sample)),
    () => facts.delete(loaded.definition_hash),
  );
  return found.fact;
}

async function measureDistribution(loaded: LoadedDefinition, log: Ledger): Promise<DistributionFact> {
  const { id } = loaded.definition;
  const { distinct_inputs, check } = computeDistribution(id, await log.tally(id, {}), loaded);
  if (check === null) return { sample: distinct_inputs, p_value: null };
  return { sample: check.sample, p_value: check.p_value, e_value: check.e_value };
}
