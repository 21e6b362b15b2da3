import type { PolicyIdentity } from "./base-policy.js";
import { identityOf, effectivePeriod } from "./base-policy.js";
import { policyFacts } from "./policy-facts.js";
import type { Denial } from "./base-policy.js";
import { isDenialPath, mayReadAny } from "../../definition/definition-reads.js";
import { matchesGlob } from "../../definition/tool-match.js";
import { compileDocument } from "../../expression/document-template.js";
import { equal } from "../../expression/equal.js";
import { Failure } from "../../expression/failure.js";
import { compileCondition, compileText, evaluateCondition } from "../../expression/template.js";
import type { ForeignOverride, OverridePolicy } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";

export interface PreparedOverride {
  readonly identity: PolicyIdentity;
  readonly policy: OverridePolicy;
  /** The policies whose denials it may flip. */
  readonly names: readonly string[];
  /** The decision that declares it; undefined: the one that is made. */
  readonly decision: string | undefined;
  readonly action: NonNullable<OverridePolicy["action"]>;
  readonly reads: readonly string[];
  /** The paths that `when` reads. */
  readonly conditionReads: readonly string[];
  /** The same for the lineage. */
  readonly inputs: readonly string[];
  /** Whether its verdict depends on the denial. */
  readonly readsDenial: boolean;
  /** Decides whether the override applies to the denial of a call. */
  evaluate(call: OverriddenCall, denial: Denial): OverrideVerdict;
}

export interface OverriddenCall {
  readonly tool: string;
  readonly scope: Scope;
  /** In milliseconds since 1970; undefined: unknown. */
  readonly at: number | undefined;
}

export type OverrideVerdict =
  | { readonly applies: true; readonly reason: string; readonly params: JsonObject }
  | {
      readonly applies: false;
      readonly leftOut: string;
      /** The result of `when`; absent if it was not evaluated. */
      readonly held?: boolean;
      /** Set if a part could not be evaluated. */
      readonly error?: string;
    };

/** `foreign` is set for an override that another decision declares. */
export function prepareOverride(
  policy: OverridePolicy,
  foreign?: Omit<ForeignOverride, "override">,
): PreparedOverride {
  const { name, max_applications: limit } = policy;
  const condition = policy.when === undefined ? undefined : compileCondition(policy.when);
  const reason = policy.reason === undefined ? undefined : compileText(policy.reason);
  const params = compileDocument(policy.params ?? {});
  const checkPeriod = effectivePeriod(policy);
  const defaultReason = `overridden by \`${name}\``;
  const modifies = policy.action === "modify_params";
  const reads = [...(condition?.reads ?? []), ...(reason?.reads ?? []), ...params.reads];
  const readsDenial = reads.some(isDenialPath);
  return {
    identity: identityOf(policy),
    policy,
    names: foreign?.policies ?? policy.overrides,
    decision: foreign?.decision,
    action: policy.action ?? "allow",
    reads: reads.filter((path) => !isDenialPath(path)),
    conditionReads: condition?.reads ?? [],
    inputs: condition?.inputs ?? [],
    readsDenial,
    evaluate({ tool, scope: call, at }, denial) {
      const scope = readsDenial ? withDenial(call, denial) : call;
      const { uses, fixed_params: isFixed } = policyFacts(scope.facts);
      const leftOut =
        checkTool(tool, foreign?.tools) ??
        checkPeriod(at) ??
        checkUsesLeft(limit, uses?.[name]) ??
        (isFixed && modifies ? fixedParamsMessage : undefined);
      if (leftOut !== undefined) return { applies: false, leftOut };
      const holds = condition === undefined ? true : evaluateCondition(condition, scope);
      if (holds instanceof Failure) return erroredVerdict(holds.message, false);
      if (!holds) return { applies: false, leftOut: "its condition does not hold", held: false };
      const filled = params.fill(scope);
      if (filled instanceof Failure) return erroredVerdict(filled.message, true);
      return {
        applies: true,
        reason: reason === undefined ? defaultReason : reason.render(scope),
        params: filled as JsonObject,
      };
    },
  };
}

/** Adds the denial as `denial`, which shadows a key of the context: a caller cannot forge it. */
function withDenial(scope: Scope, { identity, reason, conditions }: Denial): Scope {
  const failed = conditions.filter(({ result }) => !result).map(({ name }) => name);
  const { name: policy, version } = identity;
  return { ...scope, computed: { denial: { policy, version, reason, failed_conditions: failed } } };
}

const checkTool = (tool: string, tools: readonly string[] | undefined): string | undefined =>
  tools === undefined || tools.some((glob) => matchesGlob(glob, tool))
    ? undefined
    : `it is not about the tool \`${tool}\``;

const fixedParamsMessage = "the params of this call cannot be changed";

/** Fails closed: if the uses cannot be counted, none is left. */
function checkUsesLeft(limit: number | undefined, uses: number | undefined): string | undefined {
  if (limit === undefined) return undefined;
  if (uses === undefined) return "its uses cannot be counted here";
  return uses < limit ? undefined : `used up: ${uses} of ${limit} applications`;
}

const erroredVerdict = (error: string, held: boolean): OverrideVerdict => ({
  applies: false,
  leftOut: `it could not be evaluated: ${error}`,
  held,
  error,
});

/** An override that applies to this call. */
export interface AppliedOverride {
  readonly override: PreparedOverride;
  reason: string;
  /** The policies whose denials it overrides. */
  readonly flipped: string[];
}

/** Finds the override of each denial. An override of several denials is applied once. */
export class AppliedOverrides {
  readonly applied: AppliedOverride[] = [];
  /** The params that the overrides set. */
  readonly params: Record<string, JsonObject[string]> = {};
  /** The message if two overrides set a param differently. */
  conflict: string | undefined;
  readonly #overrides: readonly PreparedOverride[];
  /** The first verdict of each override that applies; if none does, the first one. */
  readonly #verdicts = new Map<PreparedOverride, OverrideVerdict>();
  readonly #setBy = new Map<string, string>();
  readonly #call: OverriddenCall;

  /** The overrides are in the order of their priority. */
  constructor(overrides: readonly PreparedOverride[], call: OverriddenCall) {
    this.#overrides = overrides;
    this.#call = call;
  }

  /** Applies the first override that names the policy and applies to the call. */
  applyTo(denial: Denial): AppliedOverride | undefined {
    const policy = denial.identity.name;
    for (const override of this.#overrides) {
      if (!override.names.includes(policy)) continue;
      const verdict = this.#evaluate(override, denial);
      if (verdict.applies) return this.#apply(override, verdict, policy);
    }
    return undefined;
  }

  /**
   * Whether an override lifts the policy's denial of changed params too. An override does not if its condition reads
   * `outdated` values, or if it sets params and was not applied: those are not part of the call. Where none does, the
   * policy is no longer overridden.
   */
  applyToChanged(denial: Denial, changed: Scope, outdated: readonly string[]): boolean {
    const policy = denial.identity.name;
    const mayBeOutdated = ({ conditionReads, readsDenial }: PreparedOverride): boolean =>
      outdated.length > 0 && (readsDenial || mayReadAny(conditionReads, outdated));
    const lifting = this.#overrides.find((override) => {
      if (!override.names.includes(policy) || mayBeOutdated(override)) return false;
      const isApplied = this.applied.some((each) => each.override === override);
      if (override.action === "modify_params" && !isApplied) return false;
      const verdict = override.evaluate({ ...this.#call, scope: changed }, denial);
      if (!verdict.applies) return false;
      if (!isApplied) {
        this.#verdicts.set(override, verdict);
        this.#apply(override, verdict, policy);
      }
      return true;
    });
    if (lifting === undefined) this.#withdraw(policy);
    return lifting !== undefined;
  }

  /** Withdraws the override of a policy's denial. */
  #withdraw(policy: string): void {
    const leftOut = "its condition does not hold for the changed params";
    for (const each of this.applied.filter(({ flipped }) => flipped.includes(policy))) {
      each.flipped.splice(each.flipped.indexOf(policy), 1);
      if (each.flipped.length > 0) continue;
      this.applied.splice(this.applied.indexOf(each), 1);
      this.#verdicts.set(each.override, { applies: false, leftOut, held: false });
    }
  }

  /** Returns the name of the override of a policy's denial. */
  overrideOf(policy: string): string | undefined {
    return this.applied.find(({ flipped }) => flipped.includes(policy))?.override.identity.name;
  }

  /** Returns the verdict of an override, if it was evaluated. */
  verdictOf(override: PreparedOverride): OverrideVerdict | undefined {
    return this.#verdicts.get(override);
  }

  #evaluate(override: PreparedOverride, denial: Denial): OverrideVerdict {
    const earlier = this.#verdicts.get(override);
    if (earlier !== undefined && !override.readsDenial) return earlier;
    const verdict = override.evaluate(this.#call, denial);
    if (earlier === undefined || (verdict.applies && !earlier.applies)) this.#verdicts.set(override, verdict);
    return verdict;
  }

  #apply(
    override: PreparedOverride,
    { reason, params }: Extract<OverrideVerdict, { readonly applies: true }>,
    policy: string,
  ): AppliedOverride {
    const existing = this.applied.find((each) => each.override === override);
    if (existing !== undefined) {
      existing.flipped.push(policy);
      if (!override.readsDenial) return existing;
      if (!existing.reason.split("; ").includes(reason)) existing.reason += `; ${reason}`;
      this.#set(override.identity.name, params);
      return existing;
    }
    const applied = { override, reason, flipped: [policy] };
    this.applied.push(applied);
    this.#set(override.identity.name, params);
    return applied;
  }

  #set(name: string, params: JsonObject): void {
    const setElsewhere = policyFacts(this.#call.scope.facts).set_params ?? {};
    for (const [param, value] of Object.entries(params)) {
      const before = [this.params, setElsewhere].find((each) => Object.hasOwn(each, param))?.[param];
      if (before !== undefined && !equal(before, value)) {
        const other = this.#setBy.get(param);
        const setter = other === undefined ? "another decision" : `\`${other}\``;
        this.conflict ??= `${setter} and \`${name}\` set \`${param}\` differently`;
      }
      Object.defineProperty(this.params, param, { value, enumerable: true, configurable: true });
      this.#setBy.set(param, name);
    }
  }
}
