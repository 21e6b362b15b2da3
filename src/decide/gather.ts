import type { Prepared } from "../evaluate/evaluate.js";
import type { JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { Shared, World } from "./deliberate.js";
import { gatherPolicyFacts } from "./policy-facts.js";
import type { Request } from "./request.js";

/** Tells the time, as an ISO 8601 text in UTC with six decimals. */
export type Clock = () => string;

/** Who asks what, and who can be asked about it. */
export interface Asked {
  readonly prepared: Prepared;
  readonly scope: Scope & { readonly system: System };
  readonly request: Request;
  readonly shared: Shared;
  readonly world: Pick<World, "records">;
}

/** What the tool itself knows; nobody else can say it. */
export interface System extends JsonObject {
  readonly request_time: string;
  readonly request_id: string;
}

/** Everything that is not in the context but may bear on the answer. */
export const gather = (asked: Asked): Promise<JsonObject> => gatherPolicyFacts(asked);

/** Whether there is anything to find out. */
export const needsFacts = ({ needs }: Prepared, { setParams, fixedParams = false }: Shared): boolean =>
  needs !== undefined || setParams !== undefined || fixedParams;

export const nothing: JsonObject = Object.freeze({});
