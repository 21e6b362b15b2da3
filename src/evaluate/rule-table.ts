import type { Branch, ConditionResult, Router, RouterParts, ErroredBranch, Selection } from "./branch.js";
import { toConditionDetail, evaluateBranch, prepareBranches, noneMatched } from "./branch.js";
import { outputKey, shown, sortByOutput } from "./outputs.js";
import type { EqualityIndex } from "./equality-index.js";
import { indexOnEquality } from "./equality-index.js";
import { DecisionError } from "../errors.js";
import { DocumentFailure } from "../expression/document-template.js";
import { Failure } from "../expression/failure.js";
import type { Case, HitPolicy, RuleTableDefinition } from "../model/definition.js";
import type { Json } from "../model/json.js";
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
      if (matches.length > 1) throw hitPolicyViolation(id, "unique", matches.map(toMatch));
      return matches;
    case "any":
      if (!doAgree(matches, scope, id))
        throw hitPolicyViolation(
          id,
          "any",
          matches.map((match) => ({ ...toMatch(match), ...evaluatedOutput(match, scope) })),
        );
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

/** A rule that matched, in the error about a hit policy. */
interface Match {
  readonly label: string;
  readonly target?: string;
  readonly output?: Json;
}

const toMatch = ({ label, target }: Branch): Match => ({ label, ...(target !== undefined && { target }) });

/** Returns no output if it cannot be evaluated: the targets differ then, and are the error. */
function evaluatedOutput({ output }: Branch, scope: Scope): Pick<Match, "output"> {
  const value = output?.evaluate(scope);
  return value === undefined || value instanceof DocumentFailure ? {} : { output: value };
}

function hitPolicyViolation(id: string, policy: "unique" | "any", matched: readonly Match[]): DecisionError {
  const texts = matched.slice(0, 10).map(({ label, target, output }) => {
    const answer = target === undefined ? `\`${label}\`` : `\`${label}\` → \`${target}\``;
    return output === undefined ? answer : `${answer} (output \`${shown(output)}\`)`;
  });
  const list = texts.join(", ") + (matched.length > texts.length ? ", …" : "");
  const hasOutputs = matched.some(({ output }) => output !== undefined);
  const answer = `target${hasOutputs ? " and the output" : ""}`;
  const requirement =
    policy === "unique" ? "at most one rule may match" : `all matches must agree on the ${answer}`;
  const alternative = policy === "unique" ? "" : `give them the same ${answer.replace(" the ", " ")}, `;
  return new DecisionError("hit_policy_violated", `\`${id}\`: ${requirement}, but these matched: ${list}`, {
    hint: `make the conditions mutually exclusive, ${alternative}or use another \`hit_policy\``,
    details: { decision_id: id, hit_policy: policy, matched },
  });
}
