import { analyzeGate } from "./analyze-gate.js";
import { analyzePolicies } from "./analyze-policies.js";
import { analyzeRouting } from "./analyze-routing.js";
import { analyzeScored } from "./analyze-scored.js";
import type { DecisionAnalysis } from "./findings.js";
import { Findings } from "./findings.js";
import { WorkLimit } from "./formula.js";
import type { DecisionModel, ModelCondition } from "./model-decision.js";
import { modelDecision } from "./model-decision.js";
import { addSchemaTests } from "./schema-bounds.js";
import { SpaceBuilder } from "./space.js";
import { Trial } from "./trial.js";
import type { Definition } from "../model/definition.js";

export interface AnalyzeOptions {
  /** How many steps the search for findings of each kind may take. Absent: 2,000,000. */
  readonly steps?: number;
  /** How many comparisons, roughly, may be evaluated to confirm findings of each kind. Absent: 300,000. */
  readonly comparisons?: number;
  /** Policies that overrides of other decisions name: those decide about calls that the policies deny. */
  readonly overridden?: readonly string[];
  /** Called every few milliseconds. */
  readonly onWork?: () => void;
}

/**
 * Finds gaps, overlaps, masked and unreachable rules of a decision. Pure. Every finding with an input was confirmed by
 * evaluating that input.
 */
export function analyzeDefinition(
  definition: Definition,
  { steps = 2_000_000, comparisons = 300_000, overridden = [], onWork }: AnalyzeOptions = {},
): DecisionAnalysis {
  const builder = new SpaceBuilder();
  const model = modelDecision(definition, builder);
  if (model.type === "gate") addSchemaTests(model.definition.context_schema ?? {}, builder);
  const texts = conditionsOf(model).flatMap(({ text }) => (text.trim() === "" ? [] : [text]));
  const found = new Findings(new Trial(confirmable(definition)), builder.build(), {
    conditions: texts.length,
    mostInputs: Math.floor(comparisons / texts.reduce((sum, text) => sum + 1 + (text.length >> 5), 1)),
    onWork,
  });
  const analysing = { found, newLimit: () => new WorkLimit(steps, { onWork }) };
  switch (model.type) {
    case "routing":
      analyzeRouting(model, analysing);
      break;
    case "scored":
      analyzeScored(model, analysing);
      break;
    case "gate":
      analyzeGate(model, analysing);
      break;
    case "policy":
      analyzePolicies(model, analysing, overridden);
      break;
  }
  return found.result();
}

/** A scored decision that ends with an error for some conditions shows nothing about the others. */
const confirmable = (definition: Definition): Definition =>
  definition.type === "scored" ? { ...definition, on_error: "no_match" } : definition;

/** Returns the conditions of a decision. */
export function conditionsOf(model: DecisionModel): readonly ModelCondition[] {
  switch (model.type) {
    case "routing":
    case "gate":
      return model.rules;
    case "scored":
      return model.evaluators.flat();
    case "policy":
      return [...model.policies.flatMap(({ conditions }) => conditions), ...model.overrides];
  }
}
