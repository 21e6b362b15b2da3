import { compileDocument } from "../../expression/document.js";
import { Failure, typeName } from "../../expression/failure.js";
import { compileCondition, compileText } from "../../expression/template.js";
import type { OverridePolicy } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";
import type { Identity } from "./base-policy.js";
import { identityOf } from "./base-policy.js";
import { policyFacts } from "./policy-facts.js";
import { windowOf } from "./window.js";

export interface PreparedOverride {
  readonly identity: Identity;
  readonly policy: OverridePolicy;
  readonly action: NonNullable<OverridePolicy["action"]>;
  readonly reads: readonly string[];
  readonly inputs: readonly string[];
  /** Whether it is live for this call, and what it would do. */
  judge(scope: Scope, at: number | undefined): OverrideVerdict;
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
  const window = windowOf(policy);
  const usual = `overridden by \`${name}\``;
  const modifies = policy.action === "modify_params";
  return {
    identity: identityOf(policy),
    policy,
    action: policy.action ?? "allow",
    reads: [...(condition?.reads ?? []), ...(reason?.reads ?? []), ...params.reads],
    inputs: condition?.reads ?? [],
    judge(scope, at) {
      const { uses, fixed_params: isFixed } = policyFacts(scope.facts);
      const outside = window(at) ?? usedUp(most, uses?.[name]) ?? (isFixed && modifies ? fixed : undefined);
      if (outside !== undefined) return { applies: false, leftOut: outside };
      const holds = condition === undefined ? true : condition.evaluate(scope);
      if (holds === false) return { applies: false, leftOut: "its condition does not hold", held: false };
      if (holds !== true) return errored(holds instanceof Failure ? holds.message : noBoolean(holds), false);
      const filled = params.fill(scope);
      if (filled instanceof Failure) return errored(filled.message, true);
      return {
        applies: true,
        reason: reason === undefined ? usual : reason.render(scope),
        params: filled as JsonObject,
      };
    },
  };
}

const fixed = "the params of this call cannot be changed";

/** Where uses cannot be counted, none is left. */
function usedUp(most: number | undefined, uses: number | undefined): string | undefined {
  if (most === undefined) return undefined;
  if (uses === undefined) return "its uses cannot be counted here";
  return uses < most ? undefined : `used up: ${uses} of ${most} applications`;
}

const noBoolean = (value: Parameters<typeof typeName>[0]): string =>
  `a condition must be true or false, this one is ${typeName(value)}`;

const errored = (error: string, held: boolean): OverrideVerdict => ({
  applies: false,
  leftOut: `it could not be evaluated: ${error}`,
  held,
  error,
});
