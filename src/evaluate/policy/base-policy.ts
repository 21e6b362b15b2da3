import { canonicalJson } from "../../digest/canonical-json.js";
import { sha256Hex } from "../../digest/sha256.js";
import { deepFreeze } from "../../digest/freeze.js";
import { compileInput, compileText } from "../../expression/template.js";
import type { BasePolicy, Policy } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { LineageCondition } from "../../model/lineage.js";
import type { NamedCondition } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import type { BuiltIn } from "./built-ins.js";
import { hasBuiltIns, judgeBuiltIns } from "./built-ins.js";
import type { PreparedCondition } from "./policy-condition.js";
import { askCondition, prepareCondition } from "./policy-condition.js";
import { policyFacts } from "./policy-facts.js";
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
  judge(tool: string, scope: Scope): BaseVerdict;
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
  readonly identity: Identity;
  readonly conditions: readonly NamedCondition[];
  /** The same for the lineage: with what each of them reads. */
  readonly lineage: readonly LineageCondition[];
  /** Whether the count of calls was among what held; undefined: it counts none. */
  readonly withinCalls: boolean | undefined;
}

export function prepareBase(policy: BasePolicy): PreparedBase {
  const identity = identityOf(policy);
  const conditions = (policy.conditions ?? []).map(prepareCondition);
  const allowReason = policy.reason === undefined ? undefined : compileText(policy.reason);
  const denyReason = policy.deny_reason === undefined ? undefined : compileText(policy.deny_reason);
  const templates = [allowReason, denyReason].filter((each) => each !== undefined);
  const isStateful = hasBuiltIns(policy);
  const { read_before_write: rule } = policy;
  const pathReads = rule === undefined ? none : compileInput(rule.path).reads;
  const allHolding = holding(identity, conditions);
  return {
    identity,
    policy,
    window: windowOf(policy),
    reads: [...conditions.map(({ condition }) => condition), ...templates].flatMap(({ reads }) => reads),
    judge(tool, scope) {
      const told: NamedCondition[] = [];
      const lineage: LineageCondition[] = [];
      let usual: string | undefined;
      for (const condition of conditions) {
        const asked = askCondition(condition, scope);
        told.push(asked.told);
        lineage.push(asked.lineage);
        usual ??= asked.denial;
      }
      if (usual === undefined && !isStateful && allowReason === undefined) return allHolding;
      const builtIns = isStateful ? judgeBuiltIns(policy, tool, policyFacts(scope.facts)) : none;
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
function holding(identity: Identity, conditions: readonly PreparedCondition[]): BaseVerdict {
  return deepFreeze({
    identity,
    allows: true,
    reason: undefined,
    conditions: conditions.map(({ holds }) => holds.told),
    lineage: conditions.map(({ holds }) => holds.lineage),
    withinCalls: undefined,
  });
}

const withoutDenial = ({ name, expression, result, error }: BuiltIn): NamedCondition => ({
  name,
  expression,
  result,
  ...(error !== undefined && { error }),
});

/** They ask what the store knows; only one of them also reads the context. */
const asLineage = (
  { name, expression, result }: BuiltIn,
  pathReads: readonly string[],
): LineageCondition => ({
  name,
  expression,
  result,
  inputs_used: name === "read_before_write" ? pathReads : none,
});
