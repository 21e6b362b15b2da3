import type { PolicyFacts } from "./policy-facts.js";
import { policyFacts } from "./policy-facts.js";
import type { CountedLimit, PreparedLimit } from "../limits.js";
import { prepareLimits } from "../limits.js";
import { matchesGlob } from "../../definition/tool-match.js";
import { canonicalJson } from "../../digest/canonical-json.js";
import { deepFreeze } from "../../digest/freeze-json.js";
import { sha256Hex } from "../../digest/sha256.js";
import { parseInstant } from "../../expression/instant.js";
import { pathText } from "../../expression/syntax.js";
import type { Template } from "../../expression/template.js";
import { compileCondition, compileInput, compileText, evaluateCondition } from "../../expression/template.js";
import type { BasePolicy, Policy, PolicyCondition } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { LineageCondition } from "../../model/lineage.js";
import type { NamedCondition } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";

/** Identifies a version of a policy. */
export interface PolicyIdentity {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the policy's document. */
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
  readonly limits: readonly PreparedLimit[];
  evaluate(tool: string, scope: Scope): BaseVerdict;
}

export type BaseVerdict = Denial | Allowance;

export interface Denial extends CommonVerdict {
  readonly allows: false;
  readonly reason: string;
  /** The overrides that changed the params, where the policy denies only the changed params. */
  readonly changedBy?: readonly string[];
}

interface Allowance extends CommonVerdict {
  readonly allows: true;
  /** Only if the policy has one. */
  readonly reason: string | undefined;
}

interface CommonVerdict {
  readonly identity: PolicyIdentity;
  readonly conditions: readonly NamedCondition[];
  /** The conditions for the lineage, with the paths that each of them reads. */
  readonly lineage: readonly LineageCondition[];
  /** The limits of the policy, which count the call if it is finally allowed. */
  readonly counted: readonly CountedLimit[];
}

/** `masks` are the masked parts of the context. */
export function prepareBasePolicy(policy: BasePolicy, masks: readonly string[] = []): PreparedBasePolicy {
  const identity = identityOf(policy);
  const conditions = (policy.conditions ?? []).map((each) => preparePolicyCondition(each, policy.name));
  const allowReason = policy.reason === undefined ? undefined : compileText(policy.reason);
  const denyReason = policy.deny_reason === undefined ? undefined : compileText(policy.deny_reason);
  const templates = [allowReason, denyReason].filter((each) => each !== undefined);
  const limits = prepareLimits(policy, { owner: policy.name, masks });
  const builtIns = prepareBuiltIns(policy);
  const isStateful = builtIns.length > 0 || limits.length > 0;
  const allHolding = createAllowance(identity, conditions);
  return {
    identity,
    policy,
    window: effectivePeriod(policy),
    reads: [...conditions.map(({ condition }) => condition), ...templates, ...limits].flatMap(
      ({ reads }) => reads,
    ),
    limits,
    evaluate(tool, scope) {
      const details: NamedCondition[] = [];
      const lineage: LineageCondition[] = [];
      let defaultReason: string | undefined;
      for (const condition of conditions) {
        const outcome = evaluatePolicyCondition(condition, scope);
        details.push(outcome.detail);
        lineage.push(outcome.lineage);
        defaultReason ??= outcome.denial;
      }
      if (defaultReason === undefined && !isStateful && allowReason === undefined) return allHolding;
      const addResult = (result: BuiltInResult, inputs: readonly string[]): void => {
        details.push(withoutDenial(result));
        lineage.push(asLineage(result, policy.name, inputs));
        if (!result.result) defaultReason ??= result.denial;
      };
      const facts = policyFacts(scope.facts);
      for (const { evaluate, inputs } of builtIns) {
        const result = evaluate(tool, facts);
        if (result !== undefined) addResult(result, inputs);
      }
      const counted = limits.map((limit) => {
        const result = limit.evaluate(scope);
        addResult(result, limit.inputs);
        return result.counted;
      });
      const common = { identity, conditions: details, lineage, counted };
      if (defaultReason === undefined) return { ...common, allows: true, reason: allowReason?.render(scope) };
      return { ...common, allows: false, reason: denyReason?.render(scope) ?? defaultReason };
    },
  };
}

const none: readonly never[] = Object.freeze([]);

/** Creates the verdict that is shared by all evaluations in which every condition holds. */
function createAllowance(
  identity: PolicyIdentity,
  conditions: readonly PreparedPolicyCondition[],
): BaseVerdict {
  return deepFreeze({
    identity,
    allows: true,
    reason: undefined,
    conditions: conditions.map(({ holds }) => holds.detail),
    lineage: conditions.map(({ holds }) => holds.lineage),
    counted: none,
  });
}

const withoutDenial = ({ name, expression, result, error }: BuiltInResult): NamedCondition => ({
  name,
  expression,
  result,
  ...(error !== undefined && { error }),
});

const asLineage = (
  { name, expression, result }: BuiltInResult,
  policy: string,
  inputs_used: readonly string[],
): LineageCondition => ({ policy, name, expression, result, inputs_used });

/** The outcome of a condition, for the details and for the lineage. */
interface ConditionOutcome {
  readonly detail: NamedCondition;
  readonly lineage: LineageCondition;
  /** The default reason of the denial; undefined if the condition holds. */
  readonly denial: string | undefined;
}

/** A compiled condition with its two shared outcomes. */
interface PreparedPolicyCondition {
  readonly condition: Template;
  readonly holds: ConditionOutcome;
  readonly fails: ConditionOutcome;
}

function preparePolicyCondition(
  { name, expression }: PolicyCondition,
  policy: string,
): PreparedPolicyCondition {
  const condition = compileCondition(expression);
  const outcome = (result: boolean): ConditionOutcome =>
    deepFreeze({
      detail: { name, expression, result },
      lineage: { policy, name, expression, result, inputs_used: condition.inputs },
      denial: result ? undefined : `\`${name}\` does not hold: ${expression}`,
    });
  return { condition, holds: outcome(true), fails: outcome(false) };
}

/** Evaluates a condition; one that cannot be evaluated does not hold. */
function evaluatePolicyCondition(
  { condition, holds, fails }: PreparedPolicyCondition,
  scope: Scope,
): ConditionOutcome {
  const result = evaluateCondition(condition, scope);
  if (typeof result === "boolean") return result ? holds : fails;
  const { message: error } = result;
  const denial = `\`${fails.detail.name}\` could not be evaluated: ${error}`;
  return { detail: { ...fails.detail, error }, lineage: fails.lineage, denial };
}

/** The result of a built-in condition, with the default reason of the denial. */
interface BuiltInResult extends NamedCondition {
  readonly denial: string;
}

/** A built-in condition of a policy, which depends on the facts about the session. */
interface BuiltIn {
  /** The paths that it reads, for the lineage. */
  readonly inputs: readonly string[];
  /** Returns undefined if the condition is not about the tool. */
  readonly evaluate: (tool: string, facts: PolicyFacts) => BuiltInResult | undefined;
}

/** Prepares `requires` and `read_before_write`. */
export function prepareBuiltIns({ name, requires = [], read_before_write }: BasePolicy): readonly BuiltIn[] {
  const required = requires.map(prepareRequired);
  return read_before_write === undefined
    ? required
    : [...required, prepareReadBeforeWrite(name, read_before_write)];
}

const noSessionMessage = "there is no recorded session";

function prepareRequired(required: string): BuiltIn {
  const common = { name: "requires", expression: `\`${required}\` has succeeded in the session` };
  return {
    inputs: [pathText(["facts", "succeeded", required])],
    evaluate(_tool, { succeeded }) {
      if (succeeded === undefined) return unknownResult(common);
      const result = (succeeded[required] ?? 0) > 0;
      return { ...common, result, denial: `\`${required}\` must succeed in the session first` };
    },
  };
}

function prepareReadBeforeWrite(
  policy: string,
  { read_tools, write_tools, path }: NonNullable<BasePolicy["read_before_write"]>,
): BuiltIn {
  const common = { name: "read_before_write", expression: `\`${path}\` was read in the session` };
  const readers = read_tools.map((each) => `\`${each}\``).join(" or ");
  return {
    inputs: [...compileInput(path).inputs, pathText(["facts", "read", policy])],
    evaluate(tool, { read }) {
      if (!write_tools.some((each) => matchesGlob(each, tool))) return undefined;
      const fact = read?.[policy];
      if (fact === undefined) return unknownResult(common);
      if ("error" in fact) return unknownResult(common, fact.error);
      return { ...common, result: fact.read, denial: `\`${fact.path}\` must be read with ${readers} first` };
    },
  };
}

/** Fails closed: a condition without facts does not hold. */
const unknownResult = (
  common: Pick<NamedCondition, "name" | "expression">,
  error = noSessionMessage,
): BuiltInResult => ({
  ...common,
  result: false,
  error,
  denial: error,
});

/** Returns the reason why a policy is not in effect at a time (milliseconds since 1970); undefined if it is. */
type EffectivePeriod = (at: number | undefined) => string | undefined;

export function effectivePeriod({ effective_from, expires_at }: Policy): EffectivePeriod {
  const isAlways = effective_from === undefined && expires_at === undefined;
  const from = parseBound(effective_from, -Infinity);
  const until = parseBound(expires_at, Infinity);
  return (at) => {
    if (isAlways) return undefined;
    if (at === undefined) return "the time of the request is unknown";
    if (at < from.at) return `not in effect before ${from.text}`;
    return at < until.at ? undefined : `expired on ${until.text}`;
  };
}

/** An invalid time excludes everything; definitions with one are rejected earlier. */
function parseBound(
  text: string | undefined,
  otherwise: number,
): { readonly at: number; readonly text: string } {
  if (text === undefined) return { at: otherwise, text: "" };
  return { at: parseInstant(text) ?? -otherwise, text };
}
