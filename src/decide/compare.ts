import { makeSingleDecision } from "./decide.js";
import { find } from "./find.js";
import type { DecisionRequest, World } from "./request.js";
import { buildLineage } from "../lineage/build-lineage.js";
import type { PrecedentComparison, PrecedentOptions } from "../lineage/precedents.js";
import { compareResult, traitsOfLineage } from "../lineage/precedents.js";
import type { Records } from "../record/records.js";

/** Compares the answer that a decision would give now with its precedents; records nothing. */
export async function compareWithPrecedents(
  request: DecisionRequest,
  world: World & { readonly records: Records },
  wanted: PrecedentOptions = {},
): Promise<PrecedentComparison> {
  const definition = await find(request.decision_id, world, request.caller);
  const { result, masked } = await makeSingleDecision(definition, { ...request, dry_run: true }, world);
  const lineage = buildLineage(definition.prepared, masked.scope, masked.evaluated);
  const decision = { result, entities: lineage.entities, ...traitsOfLineage(lineage) };
  return compareResult(decision, world.records.log, wanted);
}
