import { equal } from "../../expression/equal.js";
import type { JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";
import type { OverrideVerdict, PreparedOverride } from "./override-policy.js";
import { policyFacts } from "./policy-facts.js";

/** An override that is applied to this call. */
export interface Applied {
  readonly override: PreparedOverride;
  readonly reason: string;
  /** The denials that it flips. */
  readonly flipped: string[];
}

/** Looks for the override of each denial; one that flips several is still applied once. */
export class Flips {
  readonly applied: Applied[] = [];
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
  flip(policy: string): Applied | undefined {
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
      verdict = override.judge(this.#scope, this.#at);
      this.#verdicts.set(override, verdict);
    }
    return verdict;
  }

  #apply(
    override: PreparedOverride,
    { reason, params }: Extract<OverrideVerdict, { readonly applies: true }>,
    policy: string,
  ): Applied {
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
