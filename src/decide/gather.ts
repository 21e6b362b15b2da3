import type { JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { Prepared } from "../evaluate/evaluate.js";
import type { Ledger } from "../model/store.js";
import { gatherPolicyFacts } from "./policy-facts.js";

/** Tells the time, as an ISO 8601 text in UTC with six decimals. */
export type Clock = () => string;

/** Who asks what, and who can be asked about it. */
export interface Asked {
  readonly prepared: Prepared;
  readonly scope: Scope & { readonly system: System };
  readonly sessionId: string | undefined;
  /** What other decisions on the same call have set. */
  readonly setParams: JsonObject | undefined;
  readonly fixedParams: boolean;
  readonly log: Pick<Ledger, "counter"> | undefined;
}

/** What the tool itself knows; nobody else can say it. */
export interface System extends JsonObject {
  readonly request_time: string;
  readonly request_id: string;
}

/** Everything that is not in the context but may bear on the answer. */
export function gather(asked: Asked): Promise<JsonObject> | JsonObject {
  const { prepared, setParams, fixedParams } = asked;
  const isKnown = prepared.needs === undefined && setParams === undefined && !fixedParams;
  return isKnown ? nothing : gatherPolicyFacts(asked);
}

export const nothing: JsonObject = Object.freeze({});
