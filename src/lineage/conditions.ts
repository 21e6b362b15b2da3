import { DecisionError } from "../errors.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import { compileCondition } from "../expression/template.js";
import type { DecisionType } from "../model/definition.js";
import type { LineageCondition } from "../model/lineage.js";
import type { ConditionDetail } from "../model/result.js";
import { knownConditions } from "../record/known-conditions.js";
import { isRoll } from "../record/roll.js";

/** The conditions that were asked, each with what it read. */
export function conditionsOf(
  type: DecisionType,
  { outcome, evaluation_details: details }: Evaluated,
): readonly LineageCondition[] {
  if (outcome?.type === "policy") return outcome.conditions;
  if (type === "scored") {
    return knownConditions({ type, evaluation_details: details }).map(
      ({ label, condition, result, values }) => ({
        name: label,
        expression: condition,
        result,
        inputs_used: values === undefined ? pathsIn(condition) : Object.keys(values),
      }),
    );
  }
  const asked = isRoll(details) ? (details.conditions ?? {}) : (details as Details);
  const conditions: LineageCondition[] = [];
  for (const name in asked) {
    const detail = asked[name];
    if (detail !== undefined) conditions.push(conditionOf(name, detail));
  }
  return conditions;
}

type Details = Readonly<Record<string, ConditionDetail>>;

/** A branch answers with one of two frozen details, time and again. */
const known = new WeakMap<ConditionDetail, LineageCondition>();

function conditionOf(name: string, detail: ConditionDetail): LineageCondition {
  let found = known.get(detail);
  if (found === undefined) {
    const { condition, result } = detail;
    found = Object.freeze({ name, expression: condition, result, inputs_used: pathsIn(condition) });
    known.set(detail, found);
  }
  return found;
}

const mostRemembered = 5000;
const remembered = new Map<string, readonly string[]>();

function pathsIn(condition: string): readonly string[] {
  let paths = remembered.get(condition);
  if (paths === undefined) {
    paths = Object.freeze(readsOf(condition));
    if (remembered.size < mostRemembered) remembered.set(condition, paths);
  }
  return paths;
}

/** Not every condition of a gate or an evaluator is an expression. */
function readsOf(condition: string): readonly string[] {
  try {
    return condition.trim() === "" ? [] : compileCondition(condition).reads;
  } catch (error) {
    if (error instanceof DecisionError) return [];
    throw error;
  }
}
