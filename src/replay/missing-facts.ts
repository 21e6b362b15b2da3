import { fetchesOf } from "../definition/fetches.js";
import { matchesTool } from "../definition/tool-match.js";
import type { PolicyNeeds, ReadNeed } from "../evaluate/policy/policy-facts.js";
import { policyFacts } from "../evaluate/policy/policy-facts.js";
import { isObject } from "../expression/equal.js";
import { guardrailsOf } from "../guard/guard.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Ready, Unkept } from "./kept-decisions.js";

/**
 * Which facts a definition needs that a record does not hold; undefined: none. Only another definition than
 * the one that the record was `made` with can need more, or need them counted in another way.
 */
export function missingFacts(ready: Ready, record: DecisionRecord, made: Ready | Unkept): string | undefined {
  if (ready === made) return undefined;
  const { loaded, prepared } = ready;
  const then = "missing" in made ? undefined : made.prepared.needs;
  const missing = [
    ...(loaded.definition_hash === record.definition_hash
      ? []
      : neededByPolicies(prepared.needs, record, then)),
    ...neededByGuardrails(loaded, record),
    ...fetched(loaded, record),
  ];
  return missing.length === 0 ? undefined : `it holds no facts on ${missing.join(", ")}`;
}

function neededByPolicies(
  needs: PolicyNeeds | undefined,
  { facts, context, session_id: session }: DecisionRecord,
  then: PolicyNeeds | undefined,
): readonly string[] {
  if (needs === undefined) return [];
  const { succeeded = {}, calls = {}, uses = {}, read = {} } = policyFacts(facts);
  const limited = needs.uses.filter(({ most }) => most !== undefined).map(({ override }) => override);
  const unknownUses = without(uses, limited);
  // Without a session nothing is found out, then as now.
  if (session === undefined) return unknownUses;
  const isCounted = ({ policy, per }: PolicyNeeds["calls"][number]): boolean =>
    Object.hasOwn(calls, policy) && then?.calls.find((each) => each.policy === policy)?.per === per;
  // Whether something was read before matters only to what writes.
  const written = needs.reads.filter(({ write_tools }) => isOneOf(write_tools, context?.["tool"]));
  const isRead = (need: ReadNeed): boolean =>
    Object.hasOwn(read, need.policy) && (then?.reads ?? []).some((each) => isSameReading(each, need));
  return [
    ...without(succeeded, needs.requires),
    ...needs.calls.filter((need) => !isCounted(need)).map(({ policy }) => policy),
    ...written.filter((need) => !isRead(need)).map(({ policy }) => policy),
    ...unknownUses,
  ];
}

const isOneOf = (tools: readonly string[], tool: Json | undefined): boolean =>
  typeof tool === "string" && tools.some((each) => matchesTool(each, tool));

const isSameReading = (a: ReadNeed, b: ReadNeed): boolean =>
  a.policy === b.policy &&
  a.path.text === b.path.text &&
  JSON.stringify(a.read_tools) === JSON.stringify(b.read_tools);

const without = (known: object, names: readonly string[]): readonly string[] =>
  names.filter((name) => !Object.hasOwn(known, name));

/** Data that it would have fetched in another way, or not at all, are not known. */
function fetched({ definition }: LoadedDefinition, { facts }: DecisionRecord): readonly string[] {
  const known = isObject(facts["fetched"]) ? facts["fetched"] : {};
  const missing = fetchesOf(definition).filter(({ key }) => !Object.hasOwn(known, key));
  return [...new Set(missing.map(({ endpoint }) => `the data of \`${endpoint}\``))];
}

function neededByGuardrails(loaded: LoadedDefinition, { facts }: DecisionRecord): readonly string[] {
  const isWatched = guardrailsOf(loaded).some(({ type }) => type === "distribution_drift");
  const isNeeded = isWatched && loaded.definition.type === "weighted";
  return isNeeded && !Object.hasOwn(facts, "distribution") ? ["the distribution"] : [];
}
