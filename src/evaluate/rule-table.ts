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

/** With more rules than this, the details contain only the matched and the errored ones. */
const fullyListedRules = 100;
/** With fewer rules than this, evaluating all of them is as fast as using the index. */
const minIndexedRules = 8;

function rulesOf(definition: RuleTableDefinition): readonly Case[] {
  return definition.rules ?? definition.cases ?? [];
}

/** `rule_table`: evaluates all rules; the hit policy decides which of the matches are selected. */
export function prepareRuleTable(definition: RuleTableDefinition): Router {
  const branches = prepareBranches(rulesOf(definition), true);
  const index = branches.length < minIndexedRules ? undefined : indexOnEquality(branches);
  return {
    branches,
    select(_input, scope) {
      const results = evaluateRules(branches, index, scope);
      return toSelection(definition, branches.length, results);
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
  const results: RuleResults = { details: {}, matches: [], failed: [], errors: [] };
  const listsAll = branches.length <= fullyListedRules;
  const candidates = index?.candidates(scope);
  if (!listsAll && candidates !== undefined) {
    for (const position of candidates) {
      const branch = branches[position];
      if (branch !== undefined) addResult(results, branch, evaluateBranch(branch, scope), listsAll);
    }
    return results;
  }
  let next = 0;
  for (let position = 0; position < branches.length; position++) {
    const branch = branches[position];
    if (branch === undefined) continue;
    const isCandidate = candidates === undefined || candidates[next] === position;
    if (isCandidate) next++;
    addResult(results, branch, isCandidate && evaluateBranch(branch, scope), listsAll);
  }
  return results;
}

function addResult(results: RuleResults, branch: Branch, result: ConditionResult, listsAll: boolean): void {
  if (listsAll || result !== false) results.details[branch.label] = toConditionDetail(branch, result);
  if (result === true) {
    results.matches.push(branch);
    return;
  }
  if (listsAll || result !== false) results.failed.push(branch.text);
  if (result instanceof Failure) results.errors.push({ branch, failure: result });
}

function toSelection(definition: RuleTableDefinition, total: number, results: RuleResults): Selection {
  const selected = applyHitPolicy(definition, results.matches);
  const findings = {
    details: results.details,
    ...(total > fullyListedRules && { rulesTotal: total }),
    because: selected.length === 0 ? [noneMatched] : selected.map((branch) => branch.text),
    failed: results.failed,
    errors: results.errors,
  };
  return selected.length === 0
    ? routeToDefault(definition.default.target, findings)
    : routeTo(selected, findings);
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
    hint: "make the conditions mutually exclusive, or use another `hit_policy`",
    details: {
      decision_id: id,
      hit_policy: policy,
      matched: matches.map(({ label, target }) => ({ label, target })),
    },
  });
}
