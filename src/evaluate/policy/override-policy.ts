import type { PolicyIdentity } from "./base-policy.js";
import { identityOf, effectivePeriod } from "./base-policy.js";
import { policyFacts } from "./policy-facts.js";
import { compileDocument } from "../../expression/document-template.js";
import { equal } from "../../expression/equal.js";
import { Failure } from "../../expression/failure.js";
import { compileCondition, compileText, evaluateCondition } from "../../expression/template.js";
import type { OverridePolicy } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";

export interface PreparedOverride {
  readonly identity: PolicyIdentity;
  readonly policy: OverridePolicy;
  readonly action: NonNullable<OverridePolicy["action"]>;
  readonly reads: readonly string[];
  /** The paths that `when` reads. */
  readonly inputs: readonly string[];
  /** Decides whether the override applies to this call. */
  evaluate(scope: Scope, at: number | undefined): OverrideVerdict;
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

export function prepareOverride(policy: OverridePolicy): PreparedOverride {
  const { name, max_applications: limit } = policy;
  const condition = policy.when === undefined ? undefined : compileCondition(policy.when);
  const reason = policy.reason === undefined ? undefined : compileText(policy.reason);
  const params = compileDocument(policy.params ?? {});
  const checkPeriod = effectivePeriod(policy);
  const defaultReason = `overridden by \`${name}\``;
  const modifies = policy.action === "modify_params";
  return {
    identity: identityOf(policy),
    policy,
    action: policy.action ?? "allow",
    reads: [...(condition?.reads ?? []), ...(reason?.reads ?? []), ...params.reads],
    inputs: condition?.reads ?? [],
    evaluate(scope, at) {
      const { uses, fixed_params: isFixed } = policyFacts(scope.facts);
      const leftOut =
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
  readonly reason: string;
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
  readonly #verdicts = new Map<PreparedOverride, OverrideVerdict>();
  readonly #setBy = new Map<string, string>();
  readonly #scope: Scope;
  readonly #at: number | undefined;

  /** The overrides are in the order of their priority. */
  constructor(overrides: readonly PreparedOverride[], scope: Scope, at: number | undefined) {
    this.#overrides = overrides;
    this.#scope = scope;
    this.#at = at;
  }

  /** Applies the first override that names the policy and applies to the call. */
  applyTo(policy: string): AppliedOverride | undefined {
    for (const override of this.#overrides) {
      if (!override.policy.overrides.includes(policy)) continue;
      const verdict = this.#evaluate(override);
      if (verdict.applies) return this.#apply(override, verdict, policy);
    }
    return undefined;
  }

  /** Returns the name of the override of a policy's denial. */
  overrideOf(policy: string): string | undefined {
    return this.applied.find(({ flipped }) => flipped.includes(policy))?.override.identity.name;
  }

  /** Returns the verdict of an override, if it was evaluated. */
  verdictOf(override: PreparedOverride): OverrideVerdict | undefined {
    return this.#verdicts.get(override);
  }

  #evaluate(override: PreparedOverride): OverrideVerdict {
    let verdict = this.#verdicts.get(override);
    if (verdict === undefined) {
      verdict = override.evaluate(this.#scope, this.#at);
      this.#verdicts.set(override, verdict);
    }
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
      return existing;
    }
    const applied = { override, reason, flipped: [policy] };
    this.applied.push(applied);
    this.#set(override.identity.name, params);
    return applied;
  }

  #set(name: string, params: JsonObject): void {
    const setElsewhere = policyFacts(this.#scope.facts).set_params ?? {};
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
