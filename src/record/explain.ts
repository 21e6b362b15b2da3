import { casesOf, labelsOf } from "../definition/branches.js";
import type { Definition } from "../model/definition.js";
import type { DecisionRecord } from "../model/record.js";
import type { ConditionResult } from "./condition-results.js";
import { conditionResults } from "./condition-results.js";
import type { RecordedValues } from "./recorded-values.js";
import { conditionValueReader } from "./recorded-values.js";
import { sanitizeRecord } from "./sanitize-record.js";

/** Why a decision went as it did, worked out from its record and the definition that it was made with. */
export interface Explanation {
  /** The target(s), or the label where there is none. */
  readonly answer: string;
  readonly because: readonly string[];
  readonly failed: readonly ExplainedCondition[];
  readonly definition: ExplainedDefinition;
  /** The record whose answer was taken from the cache. */
  readonly cached_from?: string;
}

/** A condition with what it read. */
export interface ExplainedCondition extends RecordedValues {
  readonly label: string;
  readonly condition: string;
  readonly result: boolean;
  readonly error?: string;
}

interface ExplainedDefinition {
  readonly version?: string;
  readonly hash: string;
  /** Whether the store still has it. */
  readonly available: boolean;
}

/** All that can be said of the conditions. */
export interface ExplainedConditions {
  readonly conditions: readonly ExplainedCondition[];
  /** Cases that an earlier match made needless to ask. */
  readonly not_asked: readonly DefinedCase[];
}

interface DefinedCase {
  readonly label: string;
  readonly condition: string;
}

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
  kept: DecisionRecord,
  definition: Definition | undefined,
): ExplainedConditions {
  const record = sanitizeRecord(kept);
  const read = conditionValueReader(record, definition);
  const written = definition === undefined ? [] : definedCases(definition);
  const known = conditionResults(record);
  const conditions = known.length > 0 ? known : failedConditions(record, written);
  return {
    conditions: conditions.map((each) =>
      each.values === undefined ? { ...each, ...read(each.condition) } : { ...each, values: each.values },
    ),
    not_asked:
      known.length === 0 || record.rules_total !== undefined ? [] : casesNotEvaluated(written, known),
  };
}

/** Where the evaluation was not to be recorded, the conditions that failed still were. */
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
  known: readonly ConditionResult[],
): readonly DefinedCase[] {
  const asked = new Set(known.map(({ label }) => label));
  return written.filter(({ label, condition }) => condition.trim() !== "" && !asked.has(label));
}
