import type { PolicyNeeds } from "../evaluate/policy/policy-facts.js";
import { policyFacts } from "../evaluate/policy/policy-facts.js";
import { guardrailsOf } from "../guard/guard.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { DecisionRecord } from "../model/record.js";
import type { Ready } from "./kept-decisions.js";

/** Which facts a definition needs that a record does not hold; undefined: none. Only another definition can need more. */
export function missingFacts({ loaded, prepared }: Ready, record: DecisionRecord): string | undefined {
  if (loaded.definition_hash === record.definition_hash) return undefined;
  const missing = [...neededByPolicies(prepared.needs, record), ...neededByGuardrails(loaded, record)];
  return missing.length === 0 ? undefined : `it holds no facts on ${missing.join(", ")}`;
}

function neededByPolicies(
  needs: PolicyNeeds | undefined,
  { facts, session_id: session }: DecisionRecord,
): readonly string[] {
  if (needs === undefined) return [];
  const { succeeded = {}, calls = {}, uses = {}, read = {} } = policyFacts(facts);
  const limited = needs.uses.filter(({ most }) => most !== undefined).map(({ override }) => override);
  const unknownUses = without(uses, limited);
  // Without a session nothing is found out, then as now.
  if (session === undefined) return unknownUses;
  const policies = (each: readonly { readonly policy: string }[]): readonly string[] =>
    each.map(({ policy }) => policy);
  return [
    ...without(succeeded, needs.requires),
    ...without(calls, policies(needs.calls)),
    ...without(read, policies(needs.reads)),
    ...unknownUses,
  ];
}

const without = (known: object, names: readonly string[]): readonly string[] =>
  names.filter((name) => !Object.hasOwn(known, name));

function neededByGuardrails(loaded: LoadedDefinition, { facts }: DecisionRecord): readonly string[] {
  const isWatched = guardrailsOf(loaded).some(({ type }) => type === "distribution_drift");
  const isNeeded = isWatched && loaded.definition.type === "weighted";
  return isNeeded && !Object.hasOwn(facts, "distribution") ? ["the distribution"] : [];
}
