import type { PolicyFacts } from "./policy-facts.js";
import { policyFacts } from "./policy-facts.js";
import { matchesGlob } from "../../definition/tool-match.js";
import { canonicalJson } from "../../digest/canonical-json.js";
import { deepFreeze } from "../../digest/freeze-json.js";
import { sha256Hex } from "../../digest/sha256.js";
import { Failure, typeName } from "../../expression/failure.js";
import { parseInstant } from "../../expression/instant.js";
import type { Template } from "../../expression/template.js";
import { compileInput, compileText, compileCondition } from "../../expression/template.js";
import type { BasePolicy, Policy, PolicyCondition } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { LineageCondition } from "../../model/lineage.js";
import type { NamedCondition } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";

/** What is known of a policy before it is asked. */
export interface PolicyIdentity {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the policy as it is written. */
  readonly hash: string;
}

export const identityOf = (policy: Policy): PolicyIdentity => ({
  name: policy.name,
  version: policy.version ?? "0.0.0",
  hash: sha256Hex(canonicalJson(policy as unknown as Json)),
});

export interface PreparedBasePolicy {
  readonly identity: PolicyIdentity;
  readonly policy: BasePolicy;
  readonly window: EffectivePeriod;
  readonly reads: readonly string[];
  evaluate(tool: string, scope: Scope): BaseVerdict;
}

export type BaseVerdict = Denial | Allowance;

export interface Denial extends CommonVerdict {
  readonly allows: false;
  readonly reason: string;
}

interface Allowance extends CommonVerdict {
  readonly allows: true;
  /** Where it says why. */
  readonly reason: string | undefined;
}

interface CommonVerdict {
  readonly identity: PolicyIdentity;
  readonly conditions: readonly NamedCondition[];
  /** The same for the lineage: with what each of them reads. */
  readonly lineage: readonly LineageCondition[];
  /** Whether the count of calls was among what held; undefined: it counts none. */
  readonly withinCalls: boolean | undefined;
}

export function prepareBasePolicy(policy: BasePolicy): PreparedBasePolicy {
  const identity = identityOf(policy);
  const conditions = (policy.conditions ?? []).map(preparePolicyCondition);
  const allowReason = policy.reason === undefined ? undefined : compileText(policy.reason);
  const denyReason = policy.deny_reason === undefined ? undefined : compileText(policy.deny_reason);
  const templates = [allowReason, denyReason].filter((each) => each !== undefined);
  const isStateful = hasBuiltIns(policy);
  const { read_before_write: rule } = policy;
  const pathReads = rule === undefined ? none : compileInput(rule.path).reads;
  const allHolding = createAllowance(identity, conditions);
  return {
    identity,
    policy,
    window: effectivePeriod(policy),
    reads: [...conditions.map(({ condition }) => condition), ...templates].flatMap(({ reads }) => reads),
    evaluate(tool, scope) {
      const told: NamedCondition[] = [];
      const lineage: LineageCondition[] = [];
      let usual: string | undefined;
      for (const condition of conditions) {
        const asked = evaluateCondition(condition, scope);
        told.push(asked.told);
        lineage.push(asked.lineage);
        usual ??= asked.denial;
      }
      if (usual === undefined && !isStateful && allowReason === undefined) return allHolding;
      const builtIns = isStateful ? evaluateBuiltIns(policy, tool, policyFacts(scope.facts)) : none;
      for (const each of builtIns) {
        told.push(withoutDenial(each));
        lineage.push(asLineage(each, pathReads));
        if (!each.result) usual ??= each.denial;
      }
      const withinCalls = builtIns.find(({ name }) => name === "max_calls")?.result;
      const common = { identity, conditions: told, lineage, withinCalls };
      if (usual === undefined) return { ...common, allows: true, reason: allowReason?.render(scope) };
      return { ...common, allows: false, reason: denyReason?.render(scope) ?? usual };
    },
  };
}

const none: readonly never[] = Object.freeze([]);

/** What is said where everything holds, time and again. */
function createAllowance(
  identity: PolicyIdentity,
  conditions: readonly PreparedPolicyCondition[],
): BaseVerdict {
  return deepFreeze({
    identity,
    allows: true,
    reason: undefined,
    conditions: conditions.map(({ holds }) => holds.told),
    lineage: conditions.map(({ holds }) => holds.lineage),
    withinCalls: undefined,
  });
}

const withoutDenial = ({ name, expression, result, error }: BuiltInResult): NamedCondition => ({
  name,
  expression,
  result,
  ...(error !== undefined && { error }),
});

/** They ask what the store knows; only one of them also reads the context. */
const asLineage = (
  { name, expression, result }: BuiltInResult,
  pathReads: readonly string[],
): LineageCondition => ({
  name,
  expression,
  result,
  inputs_used: name === "read_before_write" ? pathReads : none,
});

/** What came of a condition, as the details and as the lineage tell it. */
interface ConditionOutcome {
  readonly told: NamedCondition;
  readonly lineage: LineageCondition;
  /** What is said where nobody has written what to say; undefined: it holds. */
  readonly denial: string | undefined;
}

/** It answers with one of two, time and again. */
interface PreparedPolicyCondition {
  readonly condition: Template;
  readonly holds: ConditionOutcome;
  readonly fails: ConditionOutcome;
}

function preparePolicyCondition({ name, expression }: PolicyCondition): PreparedPolicyCondition {
  const condition = compileCondition(expression);
  const outcome = (result: boolean): ConditionOutcome =>
    deepFreeze({
      told: { name, expression, result },
      lineage: { name, expression, result, inputs_used: condition.reads },
      denial: result ? undefined : `\`${name}\` does not hold: ${expression}`,
    });
  return { condition, holds: outcome(true), fails: outcome(false) };
}

/** Only `true` holds. */
function evaluateCondition(
  { condition, holds, fails }: PreparedPolicyCondition,
  scope: Scope,
): ConditionOutcome {
  const value = condition.evaluate(scope);
  if (value === true) return holds;
  if (value === false) return fails;
  const error =
    value instanceof Failure
      ? value.message
      : `a condition must be true or false, this one is ${typeName(value)}`;
  const denial = `\`${fails.told.name}\` could not be evaluated: ${error}`;
  return { told: { ...fails.told, error }, lineage: fails.lineage, denial };
}

/** A condition that no expression could ask, with what to say where it does not hold. */
interface BuiltInResult extends NamedCondition {
  readonly denial: string;
}

const hasBuiltIns = ({ requires, read_before_write, max_calls }: BasePolicy): boolean =>
  requires !== undefined || read_before_write !== undefined || max_calls !== undefined;

/** What the policy asks of the session so far. */
export function evaluateBuiltIns(
  policy: BasePolicy,
  tool: string,
  facts: PolicyFacts,
): readonly BuiltInResult[] {
  return [
    ...checkRequires(policy, facts),
    ...checkReadBeforeWrite(policy, tool, facts),
    ...checkMaxCalls(policy, facts),
  ];
}

const noSessionMessage = "no session is known, or none is recorded, so it cannot be told what happened in it";

function checkRequires({ requires = [] }: BasePolicy, { succeeded }: PolicyFacts): readonly BuiltInResult[] {
  return requires.map((tool) => {
    const common = { name: "requires", expression: `\`${tool}\` has succeeded in the session` };
    if (succeeded === undefined) return unknownResult(common);
    const result = (succeeded[tool] ?? 0) > 0;
    return { ...common, result, denial: `\`${tool}\` must succeed in the session first` };
  });
}

function checkReadBeforeWrite(
  { name, read_before_write: rule }: BasePolicy,
  tool: string,
  { read }: PolicyFacts,
): readonly BuiltInResult[] {
  if (rule?.write_tools.some((each) => matchesGlob(each, tool)) !== true) return [];
  const common = { name: "read_before_write", expression: `\`${rule.path}\` was read in the session` };
  const known = read?.[name];
  if (known === undefined) return [unknownResult(common)];
  if ("error" in known) return [unknownResult(common, known.error)];
  const readers = rule.read_tools.map((each) => `\`${each}\``).join(" or ");
  return [{ ...common, result: known.read, denial: `\`${known.path}\` must be read with ${readers} first` }];
}

function checkMaxCalls(
  { name, max_calls: most }: BasePolicy,
  { calls }: PolicyFacts,
): readonly BuiltInResult[] {
  if (most === undefined) return [];
  const span = most.per === "session" ? "session" : `last ${most.per} of the session`;
  const expression = `fewer than ${most.count} calls in the ${span}`;
  const common = { name: "max_calls", expression };
  const made = calls?.[name];
  if (made === undefined) return [unknownResult(common)];
  const denial = `${made} of ${most.count} calls were made in the ${span}`;
  return [{ ...common, result: made < most.count, denial }];
}

/** Fails closed: what cannot be known does not hold. */
const unknownResult = (
  common: Pick<NamedCondition, "name" | "expression">,
  error = noSessionMessage,
): BuiltInResult => ({
  ...common,
  result: false,
  error,
  denial: error,
});

/** Why a policy is not in effect at a time (in milliseconds; undefined: nobody knows it); undefined: it is. */
type EffectivePeriod = (at: number | undefined) => string | undefined;

export function effectivePeriod({ effective_from, expires_at }: Policy): EffectivePeriod {
  const isAlways = effective_from === undefined && expires_at === undefined;
  const from = parseBound(effective_from, -Infinity);
  const until = parseBound(expires_at, Infinity);
  return (at) => {
    if (isAlways) return undefined;
    if (at === undefined) return "the time of the request is not known";
    if (at < from.at) return `not in effect before ${from.text}`;
    return at < until.at ? undefined : `expired on ${until.text}`;
  };
}

/** What is no time is a bound that nothing keeps: the definition is refused before it comes to that. */
function parseBound(
  text: string | undefined,
  otherwise: number,
): { readonly at: number; readonly text: string } {
  if (text === undefined) return { at: otherwise, text: "" };
  return { at: parseInstant(text) ?? -otherwise, text };
}
