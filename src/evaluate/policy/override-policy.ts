import type { PolicyIdentity } from "./base-policy.js";
import { identityOf, effectivePeriod } from "./base-policy.js";
import { policyFacts } from "./policy-facts.js";
import { compileDocument } from "../../expression/document-template.js";
import { equal } from "../../expression/equal.js";
import { Failure, typeName } from "../../expression/failure.js";
import { compileCondition, compileText } from "../../expression/template.js";
import type { OverridePolicy } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";

export interface PreparedOverride {
  readonly identity: PolicyIdentity;
  readonly policy: OverridePolicy;
  readonly action: NonNullable<OverridePolicy["action"]>;
  readonly reads: readonly string[];
  readonly inputs: readonly string[];
  /** Whether it is live for this call, and what it would do. */
  evaluate(scope: Scope, at: number | undefined): OverrideVerdict;
}

export type OverrideVerdict =
  | { readonly applies: true; readonly reason: string; readonly params: JsonObject }
  | {
      readonly applies: false;
      readonly leftOut: string;
      /** What came of its condition; absent: it did not come to that. */
      readonly held?: boolean;
      /** Something of it could not be evaluated. */
      readonly error?: string;
    };

export function prepareOverride(policy: OverridePolicy): PreparedOverride {
  const { name, max_applications: most } = policy;
  const condition = policy.when === undefined ? undefined : compileCondition(policy.when);
  const reason = policy.reason === undefined ? undefined : compileText(policy.reason);
  const params = compileDocument(policy.params ?? {});
  const window = effectivePeriod(policy);
  const usual = `overridden by \`${name}\``;
  const modifies = policy.action === "modify_params";
  return {
    identity: identityOf(policy),
    policy,
    action: policy.action ?? "allow",
    reads: [...(condition?.reads ?? []), ...(reason?.reads ?? []), ...params.reads],
    inputs: condition?.reads ?? [],
    evaluate(scope, at) {
      const { uses, fixed_params: isFixed } = policyFacts(scope.facts);
      const outside =
        window(at) ??
        checkUsesLeft(most, uses?.[name]) ??
        (isFixed && modifies ? fixedParamsMessage : undefined);
      if (outside !== undefined) return { applies: false, leftOut: outside };
      const holds = condition === undefined ? true : condition.evaluate(scope);
      if (holds === false) return { applies: false, leftOut: "its condition does not hold", held: false };
      if (holds !== true)
        return erroredVerdict(holds instanceof Failure ? holds.message : notBooleanMessage(holds), false);
      const filled = params.fill(scope);
      if (filled instanceof Failure) return erroredVerdict(filled.message, true);
      return {
        applies: true,
        reason: reason === undefined ? usual : reason.render(scope),
        params: filled as JsonObject,
      };
    },
  };
}

const fixedParamsMessage = "the params of this call cannot be changed";

/** Where uses cannot be counted, none is left. */
function checkUsesLeft(most: number | undefined, uses: number | undefined): string | undefined {
  if (most === undefined) return undefined;
  if (uses === undefined) return "its uses cannot be counted here";
  return uses < most ? undefined : `used up: ${uses} of ${most} applications`;
}

const notBooleanMessage = (value: Parameters<typeof typeName>[0]): string =>
  `a condition must be true or false, this one is ${typeName(value)}`;

const erroredVerdict = (error: string, held: boolean): OverrideVerdict => ({
  applies: false,
  leftOut: `it could not be evaluated: ${error}`,
  held,
  error,
});

/** An override that is applied to this call. */
export interface AppliedOverride {
  readonly override: PreparedOverride;
  readonly reason: string;
  /** The denials that it flips. */
  readonly flipped: string[];
}

/** Looks for the override of each denial; one that flips several is still applied once. */
export class AppliedOverrides {
  readonly applied: AppliedOverride[] = [];
  /** What the overrides set, all together. */
  readonly params: Record<string, JsonObject[string]> = {};
  /** Two that set one param differently. */
  conflict: string | undefined;
  readonly #overrides: readonly PreparedOverride[];
  readonly #verdicts = new Map<PreparedOverride, OverrideVerdict>();
  readonly #setBy = new Map<string, string>();
  readonly #scope: Scope;
  readonly #at: number | undefined;

  /** In the order in which they are asked. */
  constructor(overrides: readonly PreparedOverride[], scope: Scope, at: number | undefined) {
    this.#overrides = overrides;
    this.#scope = scope;
    this.#at = at;
  }

  /** The first override that names the policy and is live. */
  applyTo(policy: string): AppliedOverride | undefined {
    for (const override of this.#overrides) {
      if (!override.policy.overrides.includes(policy)) continue;
      const verdict = this.#judge(override);
      if (verdict.applies) return this.#apply(override, verdict, policy);
    }
    return undefined;
  }

  /** The override that has flipped the denial of a policy. */
  overrideOf(policy: string): string | undefined {
    return this.applied.find(({ flipped }) => flipped.includes(policy))?.override.identity.name;
  }

  /** What the override said, if it was asked. */
  verdictOf(override: PreparedOverride): OverrideVerdict | undefined {
    return this.#verdicts.get(override);
  }

  #judge(override: PreparedOverride): OverrideVerdict {
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
    const known = this.applied.find((each) => each.override === override);
    if (known !== undefined) {
      known.flipped.push(policy);
      return known;
    }
    const applied = { override, reason, flipped: [policy] };
    this.applied.push(applied);
    this.#set(override.identity.name, params);
    return applied;
  }

  #set(name: string, params: JsonObject): void {
    const elsewhere = policyFacts(this.#scope.facts).set_params ?? {};
    for (const [param, value] of Object.entries(params)) {
      const before = [this.params, elsewhere].find((each) => Object.hasOwn(each, param))?.[param];
      if (before !== undefined && !equal(before, value)) {
        const other = this.#setBy.get(param);
        const who = other === undefined ? "another decision" : `\`${other}\``;
        this.conflict ??= `${who} and \`${name}\` set \`${param}\` differently`;
      }
      Object.defineProperty(this.params, param, { value, enumerable: true, configurable: true });
      this.#setBy.set(param, name);
    }
  }
}
