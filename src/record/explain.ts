import { casesOf, labelsOf } from "../definition/branches.js";
import type { Definition } from "../model/definition.js";
import type { DecisionRecord } from "../model/record.js";
import type { ConditionResult } from "./condition-results.js";
import { conditionResults } from "./condition-results.js";
import type { RecordedValues } from "./recorded-values.js";
import { conditionValueReader } from "./recorded-values.js";
import { sanitizeRecord } from "./sanitize-record.js";

/** The reasons of a decision, derived from its record and the definition that it was made with. */
export interface Explanation {
  /** The targets, or the labels where there are none. */
  readonly answer: string;
  readonly because: readonly string[];
  readonly failed: readonly ExplainedCondition[];
  readonly definition: ExplainedDefinition;
  /** The record whose cached answer was used. */
  readonly cached_from?: string;
}

/** A condition with the values that it read. */
export interface ExplainedCondition extends RecordedValues {
  readonly label: string;
  readonly condition: string;
  readonly result: boolean;
  readonly error?: string;
}

interface ExplainedDefinition {
  readonly version?: string;
  readonly hash: string;
  /** Whether it is in the store. */
  readonly available: boolean;
}

/** The conditions of a decision. */
export interface ExplainedConditions {
  readonly conditions: readonly ExplainedCondition[];
  /** Cases that were not evaluated because an earlier one matched. */
  readonly not_asked: readonly DefinedCase[];
}

interface DefinedCase {
  readonly label: string;
  readonly condition: string;
}

/** Explains a decision. `definition` is the one it was made with, if it is stored. */
export function explain(record: DecisionRecord, definition: Definition | undefined): Explanation {
  const { selected_targets: targets, selected_labels: labels, decision_version: version } = record;
  return {
    answer:
      record.blocked && labels.length === 0 ? "blocked" : (targets.length > 0 ? targets : labels).join(" "),
    because: record.because,
    failed: explainConditions(record, definition).conditions.filter(({ result }) => !result),
    definition: {
      ...(version !== undefined && { version }),
      hash: record.definition_hash,
      available: definition !== undefined,
    },
    ...(record.cached_from !== undefined && { cached_from: record.cached_from }),
  };
}

export function explainConditions(
  untrusted: DecisionRecord,
  definition: Definition | undefined,
): ExplainedConditions {
  const record = sanitizeRecord(untrusted);
  const read = conditionValueReader(record, definition);
  const written = definition === undefined ? [] : definedCases(definition);
  const recorded = conditionResults(record);
  const conditions = recorded.length > 0 ? recorded : failedConditions(record, written);
  return {
    conditions: conditions.map((each) =>
      each.values === undefined ? { ...each, ...read(each.condition) } : { ...each, values: each.values },
    ),
    not_asked:
      recorded.length === 0 || record.rules_total !== undefined ? [] : casesNotEvaluated(written, recorded),
  };
}

/** Failed conditions are recorded even where the evaluation is not. */
function failedConditions(
  record: DecisionRecord,
  written: readonly DefinedCase[],
): readonly ConditionResult[] {
  return record.failed_conditions.map((condition) => {
    const label = written.find((each) => each.condition === condition)?.label ?? "";
    return { label, condition, result: false };
  });
}

function definedCases(definition: Definition): readonly DefinedCase[] {
  const cases = casesOf(definition).map(({ each }) => each);
  return labelsOf(cases).map((label, index) => ({ label, condition: cases[index]?.condition ?? "" }));
}

function casesNotEvaluated(
  written: readonly DefinedCase[],
  evaluated: readonly ConditionResult[],
): readonly DefinedCase[] {
  const labels = new Set(evaluated.map(({ label }) => label));
  return written.filter(({ label, condition }) => condition.trim() !== "" && !labels.has(label));
}
