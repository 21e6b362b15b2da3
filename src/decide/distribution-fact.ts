import type { DistributionFact } from "../guard/distribution-drift.js";
import { guardrailsOf } from "../guard/guard.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Ledger } from "../model/store.js";
import { distributionOf } from "../record/distribution.js";
import { microsecondsOf } from "../record/moment.js";

/** Whether it must be known how a decision was taken so far. */
export const needsDistribution = (loaded: LoadedDefinition): boolean =>
  loaded.definition.type === "weighted" &&
  guardrailsOf(loaded).some(({ type }) => type === "distribution_drift");

interface Known {
  readonly fact: Promise<DistributionFact>;
  readonly at: number;
  uses: number;
  mostUses: number;
}

const known = new WeakMap<Ledger, Map<string, Known>>();

/** So many decisions later, or a second, the split may be another one: the fewer there were, the sooner. */
const mostUses = (sample: number | null): number => Math.max(100, (sample ?? 0) / 20);
const longest = 1_000_000;

/** How a weighted decision was taken so far; where nothing is recorded, not at all. Those who ask at once share one look. */
export async function distributionFact(
  loaded: LoadedDefinition,
  log: Ledger | undefined,
  timestamp: string,
): Promise<DistributionFact> {
  if (log === undefined) return { sample: 0, p_value: null };
  const at = microsecondsOf(timestamp);
  const facts = known.get(log) ?? new Map<string, Known>();
  known.set(log, facts);
  const last = facts.get(loaded.definition_hash);
  if (last !== undefined && last.uses < last.mostUses && at - last.at < longest) {
    last.uses++;
    return last.fact;
  }
  const found = { fact: findOut(loaded, log), at, uses: 1, mostUses: Infinity };
  facts.set(loaded.definition_hash, found);
  found.fact.then(
    ({ sample }) => (found.mostUses = found.uses + mostUses(sample)),
    () => facts.delete(loaded.definition_hash),
  );
  return found.fact;
}

async function findOut(loaded: LoadedDefinition, log: Ledger): Promise<DistributionFact> {
  const { id } = loaded.definition;
  const { distinct_inputs, check } = distributionOf(id, await log.tally(id, {}), loaded);
  if (check === null) return { sample: distinct_inputs, p_value: null };
  return { sample: check.sample, p_value: check.p_value };
}
