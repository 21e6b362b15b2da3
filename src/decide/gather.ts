import { deepFreeze } from "../digest/freeze.js";
import type { Prepared } from "../evaluate/evaluate.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { Shared, World } from "./deliberate.js";
import type { Enriched } from "./enrich.js";
import { needsFetching } from "./enrich.js";
import { distributionFact, needsDistribution } from "./distribution-fact.js";
import { gatherPolicyFacts } from "./policy-facts.js";
import type { Request } from "./request.js";

/** Tells the time, as an ISO 8601 text in UTC with six decimals. */
export type Clock = () => string;

/** Who asks what, and who can be asked about it. */
export interface Asked {
  readonly loaded: LoadedDefinition;
  readonly prepared: Prepared;
  readonly scope: Scope & { readonly system: System };
  readonly request: Request;
  readonly shared: Shared;
  /** What was fetched before; undefined: nothing is. */
  readonly enriched?: Enriched | undefined;
  readonly world: Pick<World, "records">;
}

/** What the tool itself knows; nobody else can say it. */
export interface System extends JsonObject {
  readonly request_time: string;
  readonly request_id: string;
  /** Absent where nobody has proven who asks. */
  readonly authenticated_caller?: JsonObject;
}

/** Everything that is not in the context but may bear on the answer. */
export async function gather(asked: Asked): Promise<JsonObject> {
  const { loaded, prepared, shared, scope, world, enriched } = asked;
  const { authenticated_caller } = scope.system;
  const facts = deepFreeze({
    ...(authenticated_caller !== undefined && { authenticated_caller }),
    ...(needsPolicyFacts(prepared, shared) && (await gatherPolicyFacts(asked))),
    ...(enriched !== undefined && { fetched: enriched.fetched }),
  });
  if (!needsDistribution(loaded)) return facts;
  const distribution = await distributionFact(loaded, world.records?.log, scope.system.request_time);
  return deepFreeze({ ...facts, distribution: { ...distribution } });
}

/** Whether there is anything to find out. */
export const needsFacts = ({ loaded, prepared, shared, request }: Omit<Asked, "scope" | "world">): boolean =>
  request.caller !== undefined ||
  needsPolicyFacts(prepared, shared) ||
  needsDistribution(loaded) ||
  needsFetching(loaded);

const needsPolicyFacts = ({ needs }: Prepared, { setParams, fixedParams = false }: Shared): boolean =>
  needs !== undefined || setParams !== undefined || fixedParams;

export const nothing: JsonObject = Object.freeze({});
