import type { Branch, ConditionResult, Router, RouterParts, ErroredBranch, Selection } from "./branch.js";
import { toConditionDetail, evaluateBranch, prepareBranches, noneMatched } from "./branch.js";
import { outputKey, sortByOutput } from "./outputs.js";
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
export function prepareRuleTable(
  definition: RuleTableDefinition,
  { fallback, prepareOutput }: RouterParts,
): Router {
  const branches = prepareBranches(rulesOf(definition), prepareOutput, true);
  const index = branches.length < minIndexedRules ? undefined : indexOnEquality(branches);
  return {
    branches,
    select(_input, scope) {
      const results = evaluateRules(branches, index, scope);
      const selected = applyHitPolicy(definition, results.matches, scope);
      return toSelection(selected.length === 0 ? [fallback] : selected, branches.length, results);
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

function toSelection(selected: readonly Branch[], total: number, results: RuleResults): Selection {
  return {
    branches: selected,
    details: results.details,
    ...(total > fullyListedRules && { rulesTotal: total }),
    because: results.matches.length === 0 ? [noneMatched] : selected.map((branch) => branch.text),
    failed: results.failed,
    errors: results.errors,
  };
}

function applyHitPolicy(
  definition: RuleTableDefinition,
  matches: readonly Branch[],
  scope: Scope,
): readonly Branch[] {
  const policy: HitPolicy = definition.hit_policy ?? "first";
  const { id, output_values: values = [] } = definition;
  switch (policy) {
    case "first":
      return matches.slice(0, 1);
    case "priority":
      return matches.toSorted((a, b) => a.priority - b.priority).slice(0, 1);
    case "collect":
    case "rule_order":
      return matches;
    case "output_order":
      return sortByOutput(matches, values, { scope, id });
    case "unique":
      if (matches.length > 1) throw hitPolicyViolation(id, "unique", matches);
      return matches;
    case "any":
      if (!doAgree(matches, scope, id)) throw hitPolicyViolation(id, "any", matches);
      return matches.slice(0, 1);
  }
}

/** Whether all matches give the same answer. */
function doAgree(matches: readonly Branch[], scope: Scope, id: string): boolean {
  if (matches.length < 2) return true;
  if (new Set(matches.map(({ target }) => target)).size > 1) return false;
  if (matches.every(({ output }) => output === undefined)) return true;
  return new Set(matches.map((match) => outputKey(match, scope, id))).size === 1;
}

function hitPolicyViolation(id: string, policy: "unique" | "any", matches: readonly Branch[]): DecisionError {
  const shown = matches
    .slice(0, 10)
    .map(({ label, target }) => (target === undefined ? `\`${label}\`` : `\`${label}\` → \`${target}\``));
  const labels = shown.join(", ") + (matches.length > shown.length ? ", …" : "");
  return new DecisionError(
    "hit_policy_violated",
    `\`${id}\`: ${requirement(policy, matches)}, but these matched: ${labels}`,
    {
      hint: "make the conditions mutually exclusive, or use another `hit_policy`",
      details: {
        decision_id: id,
        hit_policy: policy,
        matched: matches.map(({ label, target }) => ({ label, ...(target !== undefined && { target }) })),
      },
    },
  );
}

function requirement(policy: "unique" | "any", matches: readonly Branch[]): string {
  if (policy === "unique") return "at most one rule may match";
  const hasOutputs = matches.some(({ output }) => output !== undefined);
  return `all matches must agree on the target${hasOutputs ? " and the output" : ""}`;
}
