import type { World } from "./deliberate.js";
import { deliberate } from "./deliberate.js";
import type { DecisionRequest } from "./request.js";
import { buildLineage } from "../lineage/build-lineage.js";
import type { PrecedentComparison, PrecedentOptions } from "../lineage/precedents.js";
import { compareResult } from "../lineage/precedents.js";
import type { Records } from "../record/records.js";

/** What a decision would be compared with if it were made now; nothing is kept of it. */
export async function compareWithPrecedents(
  request: DecisionRequest,
  world: World & { readonly records: Records },
  wanted: PrecedentOptions = {},
): Promise<PrecedentComparison> {
  const loaded = await world.definitions.find(request.decision_id);
  const { result, lineal } = await deliberate({ ...request, dry_run: true }, loaded, world);
  const { entities, inputs } = buildLineage(lineal.prepared, lineal.shown, lineal.evaluated);
  const sources = inputs.map(({ source }) => source);
  return compareResult({ result, entities, sources }, world.records.log, wanted);
}
