import type {
  Entity,
  InputSource,
  Lineage,
  LineageCondition,
  OverrideApplication,
  PolicyEvaluation,
  Precedent,
} from "../model/lineage.js";
import {
  isListOfTexts,
  isMapping,
  isNumber,
  isText,
  isTextOrNull,
  isTruth,
  itemsOf,
  shaped,
} from "./shape.js";

/** As much of a lineage as is one; older records have none, and one that was tampered with may hold anything. */
export function soundLineage(value: unknown): Lineage {
  const { entities, artifacts, inputs, conditions, policies, override, params_digest, precedents } =
    isMapping(value) ? value : {};
  return {
    entities: itemsOf(entities, isEntity),
    artifacts: itemsOf(artifacts, isText),
    inputs: itemsOf(inputs, isInput),
    conditions: itemsOf(conditions, isCondition),
    policies: itemsOf(policies, isPolicy),
    override: isOverride(override) ? override : null,
    params_digest: isText(params_digest) ? params_digest : null,
    precedents: itemsOf(precedents, isPrecedent),
  };
}

const isEntity = shaped<Entity>({ type: isText, id: isText });

const isInput = shaped<InputSource>({ source: isText, keys: isListOfTexts });

const isCondition = shaped<LineageCondition>({
  name: isText,
  expression: isText,
  result: isTruth,
  inputs_used: isListOfTexts,
});

const isPolicy = shaped<PolicyEvaluation>({
  name: isText,
  version: isText,
  base_decision: (value) => value === "allow" || value === "deny",
  denial_reason: isTextOrNull,
  override: isTextOrNull,
});

const isOverride = shaped<OverrideApplication>({
  name: isText,
  version: isText,
  overrides: isListOfTexts,
  condition: isTextOrNull,
  action: isText,
  reason: isText,
  expires_at: isTextOrNull,
});

const isPrecedent = shaped<Precedent>({
  record_id: isText,
  similarity: isNumber,
  match_reason: isText,
  outcome_matched: isTruth,
});
