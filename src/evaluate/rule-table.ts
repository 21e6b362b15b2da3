import type { Branch, ConditionResult, Router, ErroredBranch, Selection } from "./branch.js";
import {
  toConditionDetail,
  evaluateBranch,
  prepareBranches,
  noneMatched,
  routeTo,
  routeToDefault,
} from "./branch.js";
import type { EqualityIndex } from "./equality-index.js";
import { indexOnEquality } from "./equality-index.js";
import { DecisionError } from "../errors.js";
import { Failure } from "../expression/failure.js";
import type { Case, HitPolicy, RuleTableDefinition } from "../model/definition.js";
import type { ConditionDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";

/** Beyond this many rules the details list only the matched and the errored ones. */
const fullyListedRules = 100;
/** Below this many rules, evaluating all is as quick as asking the index. */
const worthAnIndex = 8;

function rulesOf(definition: RuleTableDefinition): readonly Case[] {
  return definition.rules ?? definition.cases ?? [];
}

/** `rule_table`: every rule counts, whatever the hit policy; the policy says which of the matches are taken. */
export function prepareRuleTable(definition: RuleTableDefinition): Router {
  const branches = prepareBranches(rulesOf(definition), true);
  const index = branches.length < worthAnIndex ? undefined : indexOnEquality(branches);
  return {
    branches,
    select(_input, scope) {
      const judged = evaluateRules(branches, index, scope);
      return toSelection(definition, branches.length, judged);
    },
  };
}

interface RuleResults {
  readonly details: Record<string, ConditionDetail>;
  readonly matches: Branch[];
  readonly failed: string[];
  readonly errors: ErroredBranch[];
}

function evaluateRules(
  branches: readonly Branch[],
  index: EqualityIndex | undefined,
  scope: Scope,
): RuleResults {
  const judged: RuleResults = { details: {}, matches: [], failed: [], errors: [] };
  const listsAll = branches.length <= fullyListedRules;
  const candidates = index?.candidates(scope);
  if (!listsAll && candidates !== undefined) {
    for (const position of candidates) {
      const branch = branches[position];
      if (branch !== undefined) addResult(judged, branch, evaluateBranch(branch, scope), listsAll);
    }
    return judged;
  }
  let next = 0;
  for (let position = 0; position < branches.length; position++) {
    const branch = branches[position];
    if (branch === undefined) continue;
    const asked = candidates === undefined || candidates[next] === position;
    if (asked) next++;
    addResult(judged, branch, asked && evaluateBranch(branch, scope), listsAll);
  }
  return judged;
}

function addResult(judged: RuleResults, branch: Branch, verdict: ConditionResult, listsAll: boolean): void {
  if (listsAll || verdict !== false) judged.details[branch.label] = toConditionDetail(branch, verdict);
  if (verdict === true) {
    judged.matches.push(branch);
    return;
  }
  if (listsAll || verdict !== false) judged.failed.push(branch.text);
  if (verdict instanceof Failure) judged.errors.push({ branch, failure: verdict });
}

function toSelection(definition: RuleTableDefinition, total: number, judged: RuleResults): Selection {
  const taken = applyHitPolicy(definition, judged.matches);
  const findings = {
    details: judged.details,
    ...(total > fullyListedRules && { rulesTotal: total }),
    because: taken.length === 0 ? [noneMatched] : taken.map((branch) => branch.text),
    failed: judged.failed,
    errors: judged.errors,
  };
  return taken.length === 0 ? routeToDefault(definition.default.target, findings) : routeTo(taken, findings);
}

function applyHitPolicy(definition: RuleTableDefinition, matches: readonly Branch[]): readonly Branch[] {
  const policy: HitPolicy = definition.hit_policy ?? "first";
  switch (policy) {
    case "first":
      return matches.slice(0, 1);
    case "priority":
      return matches.toSorted((a, b) => a.priority - b.priority).slice(0, 1);
    case "collect":
      return matches;
    case "unique":
      if (matches.length > 1) throw hitPolicyViolation(definition.id, "unique", matches);
      return matches;
    case "any":
      if (new Set(matches.map((match) => match.target)).size > 1)
        throw hitPolicyViolation(definition.id, "any", matches);
      return matches.slice(0, 1);
  }
}

function hitPolicyViolation(id: string, policy: "unique" | "any", matches: readonly Branch[]): DecisionError {
  const shown = matches.slice(0, 10).map(({ label, target }) => `\`${label}\` → \`${target}\``);
  const labels = shown.join(", ") + (matches.length > shown.length ? ", …" : "");
  const what = policy === "unique" ? "at most one rule may match" : "all matches must agree on the target";
  return new DecisionError("hit_policy_violated", `\`${id}\`: ${what}, but these matched: ${labels}`, {
    hint: "make the conditions exclude each other, or choose another hit_policy",
    details: {
      decision_id: id,
      hit_policy: policy,
      matched: matches.map(({ label, target }) => ({ label, target })),
    },
  });
}
