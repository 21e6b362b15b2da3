import type { Compared } from "../lineage/compared.js";
import { compareAnswer } from "../lineage/compared.js";
import { lineageOf } from "../lineage/lineage-of.js";
import type { Wanted } from "../lineage/precedents.js";
import type { Records } from "../record/records.js";
import type { World } from "./deliberate.js";
import { deliberate } from "./deliberate.js";
import type { Request } from "./request.js";

/** What a decision would be compared with if it were made now; nothing is kept of it. */
export async function compareWithEarlier(
  request: Request,
  world: World & { readonly records: Records },
  wanted: Wanted = {},
): Promise<Compared> {
  const loaded = await world.definitions.find(request.decision_id);
  const { result, lineal } = await deliberate({ ...request, dry_run: true }, loaded, world);
  const { entities, inputs } = lineageOf(lineal.prepared, lineal.shown, lineal.evaluated);
  const sources = inputs.map(({ source }) => source);
  return compareAnswer({ result, entities, sources }, world.records.log, wanted);
}
