import type { Branch, Router, RouterParts, ErroredBranch, Selection } from "./branch.js";
import { toConditionDetail, evaluateBranch, prepareBranches, noneMatched } from "./branch.js";
import { firstRandom } from "./mersenne-twister.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { Failure } from "../expression/failure.js";
import type { WeightedDefinition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { ConditionDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";

/** `weighted`: selects by a roll that depends only on the input, so the same input always gets the same branch. */
export function prepareWeighted(
  definition: WeightedDefinition,
  { fallback, prepareOutput }: RouterParts,
): Router {
  const branches = prepareBranches(definition.cases, prepareOutput);
  return {
    branches,
    select(input, scope) {
      const eligible = findEligible(branches, scope);
      return choose(eligible, rollText(input, definition.salt), fallback);
    },
  };
}

/** Returns the text that seeds the roll. */
export function rollText(input: Json, salt?: string): string {
  const text = typeof input === "string" ? input : canonicalJson(input);
  return salt === undefined ? text : `${salt}:${text}`;
}

/** Returns a number in [0, total): CPython's first `uniform(0, total)`, seeded with the SHA-256 of the text. */
export function roll(text: string, total: number): number {
  return total * firstRandom(sha256Hex(text));
}

interface Eligible {
  readonly branches: readonly Branch[];
  readonly conditions: Record<string, ConditionDetail>;
  readonly failed: readonly string[];
  readonly errors: readonly ErroredBranch[];
}

function findEligible(all: readonly Branch[], scope: Scope): Eligible {
  const branches: Branch[] = [];
  const conditions: Record<string, ConditionDetail> = {};
  const failed: string[] = [];
  const errors: ErroredBranch[] = [];
  for (const branch of all) {
    const result = evaluateBranch(branch, scope);
    if (branch.condition !== undefined) conditions[branch.label] = toConditionDetail(branch, result);
    if (result === true) branches.push(branch);
    else failed.push(branch.text);
    if (result instanceof Failure) errors.push({ branch, failure: result });
  }
  return { branches, conditions, failed, errors };
}

function choose(eligible: Eligible, text: string, fallback: Branch): Selection {
  const { branches, conditions, failed, errors } = eligible;
  const total = branches.reduce((sum, branch) => sum + branch.weight, 0);
  if (total === 0) {
    const because = [branches.length === 0 ? noneMatched : "every weight is 0"];
    return { branches: [fallback], details: conditions, because, failed, errors };
  }
  const rolled = roll(text, total);
  const details = {
    roll: rolled,
    total_weight: total,
    weights: Object.fromEntries(branches.map((branch) => [branch.label, branch.weight])),
    ...(Object.keys(conditions).length > 0 && { conditions }),
  };
  const because = [`rolled ${rolled} of ${total}`];
  return { branches: [atRoll(branches, rolled) ?? fallback], details, because, failed, errors };
}

function atRoll(branches: readonly Branch[], rolled: number): Branch | undefined {
  let cumulative = 0;
  return branches.find((branch) => {
    cumulative += branch.weight;
    return branch.weight > 0 && rolled <= cumulative;
  });
}
