import { analyzeGate } from "./analyze-gate.js";
import { analyzePolicies } from "./analyze-policies.js";
import { analyzeRouting } from "./analyze-routing.js";
import { analyzeScored } from "./analyze-scored.js";
import type { DecisionAnalysis } from "./findings.js";
import { Findings } from "./findings.js";
import type { DecisionModel } from "./model-decision.js";
import { modelDecision } from "./model-decision.js";
import { addSchemaTests } from "./schema-bounds.js";
import { SpaceBuilder } from "./space.js";
import { Trial } from "./trial.js";
import type { Definition } from "../model/definition.js";

export interface AnalyzeOptions {
  /** How many steps the search for findings of each kind may take. Absent: 5,000,000. */
  readonly steps?: number;
}

/**
 * Finds gaps, overlaps, masked and unreachable rules of a decision. Pure. Every finding with an input was confirmed by
 * evaluating that input.
 */
export function analyzeDefinition(
  definition: Definition,
  { steps = 5_000_000 }: AnalyzeOptions = {},
): DecisionAnalysis {
  const builder = new SpaceBuilder();
  const model = modelDecision(definition, builder);
  if (model.type === "gate") addSchemaTests(model.definition.context_schema ?? {}, builder);
  const found = new Findings(new Trial(confirmable(definition)), builder.build(), countConditions(model));
  const analysing = { found, steps };
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
      analyzePolicies(model, analysing);
      break;
  }
  return found.result();
}

/** A scored decision that ends with an error for some conditions shows nothing about the others. */
const confirmable = (definition: Definition): Definition =>
  definition.type === "scored" ? { ...definition, on_error: "no_match" } : definition;

/** Returns the number of conditions of a decision. */
export function countConditions(model: DecisionModel): number {
  switch (model.type) {
    case "routing":
      return model.rules.filter(({ text }) => text.trim() !== "").length;
    case "scored":
      return model.evaluators.flat().length;
    case "gate":
      return model.rules.length;
    case "policy":
      return model.policies.flatMap(({ conditions }) => conditions).length + model.overrides.length;
  }
}
