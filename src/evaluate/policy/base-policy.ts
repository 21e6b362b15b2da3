import { canonicalJson } from "../../digest/canonical-json.js";
import { sha256Hex } from "../../digest/sha256.js";
import { Failure, typeName } from "../../expression/failure.js";
import type { Template } from "../../expression/template.js";
import { compileCondition, compileTemplate } from "../../expression/template.js";
import type { BasePolicy, Policy } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { NamedCondition } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import { judgeBuiltIns } from "./built-ins.js";
import { policyFacts } from "./policy-facts.js";
import { renderText } from "./rendering.js";
import type { Window } from "./window.js";
import { windowOf } from "./window.js";

/** What is known of a policy before it is asked. */
export interface Identity {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the policy as it is written. */
  readonly hash: string;
}

export const identityOf = (policy: Policy): Identity => ({
  name: policy.name,
  version: policy.version ?? "0.0.0",
  hash: sha256Hex(canonicalJson(policy as unknown as Json)),
});

export interface PreparedBase {
  readonly identity: Identity;
  readonly policy: BasePolicy;
  readonly window: Window;
  readonly reads: readonly string[];
  /** The paths that each named condition reads. */
  readonly inputs: ReadonlyMap<string, readonly string[]>;
  judge(tool: string, scope: Scope): BaseVerdict;
}

export interface BaseVerdict {
  readonly identity: Identity;
  readonly allows: boolean;
  /** Why it denies, or why it allows where it says so. */
  readonly reason: string | undefined;
  readonly conditions: readonly NamedCondition[];
  /** Whether the count of calls was among what held; undefined: it counts none. */
  readonly withinCalls: boolean | undefined;
}

export function prepareBase(policy: BasePolicy): PreparedBase {
  const identity = identityOf(policy);
  const conditions = (policy.conditions ?? []).map(({ name, expression }) => {
    const condition = compileCondition(expression);
    return { condition, ...outcomesOf(name, expression) };
  });
  const allowReason = policy.reason === undefined ? undefined : compileTemplate(policy.reason);
  const denyReason = policy.deny_reason === undefined ? undefined : compileTemplate(policy.deny_reason);
  const templates = [allowReason, denyReason].filter((each) => each !== undefined);
  return {
    identity,
    policy,
    window: windowOf(policy),
    reads: [...conditions.map(({ condition }) => condition), ...templates].flatMap(({ reads }) => reads),
    inputs: new Map(conditions.map(({ holds, condition }) => [holds.name, condition.reads])),
    judge(tool, scope) {
      const asked = conditions.map((each) => ask(each, scope));
      const builtIns = judgeBuiltIns(policy, tool, policyFacts(scope.facts));
      const failed = asked.find(({ result }) => !result) ?? builtIns.find(({ result }) => !result);
      const reason =
        failed === undefined
          ? allowReason && renderText(allowReason, scope)
          : denyReason === undefined
            ? denialOf(failed)
            : renderText(denyReason, scope);
      return {
        identity,
        allows: failed === undefined,
        reason,
        conditions: [...asked, ...builtIns.map(withoutDenial)],
        withinCalls: builtIns.find(({ name }) => name === "max_calls")?.result,
      };
    },
  };
}

interface Outcomes {
  readonly holds: NamedCondition;
  readonly fails: NamedCondition;
}

/** One of these two, time and again. */
const outcomesOf = (name: string, expression: string): Outcomes => ({
  holds: Object.freeze({ name, expression, result: true }),
  fails: Object.freeze({ name, expression, result: false }),
});

function ask({ condition, holds, fails }: Outcomes & { condition: Template }, scope: Scope): NamedCondition {
  const value = condition.evaluate(scope);
  if (value === true) return holds;
  if (value === false) return fails;
  if (value instanceof Failure) return { ...fails, error: value.message };
  return { ...fails, error: `a condition must be true or false, this one is ${typeName(value)}` };
}

function denialOf(failed: NamedCondition & { readonly denial?: string }): string {
  if (failed.denial !== undefined) return failed.denial;
  if (failed.error !== undefined) return `\`${failed.name}\` could not be evaluated: ${failed.error}`;
  return `\`${failed.name}\` does not hold: ${failed.expression}`;
}

const withoutDenial = ({ name, expression, result, error }: NamedCondition): NamedCondition => ({
  name,
  expression,
  result,
  ...(error !== undefined && { error }),
});
