import type { JsonObject } from "../model/json.js";

/** Tells the time, as an ISO 8601 text in UTC with six decimals. */
export type Clock = () => string;

export interface Gathered {
  readonly facts: JsonObject;
  readonly system: { readonly request_time: string };
}

/** Everything that is not in the context but may bear on the answer. */
export function gather({ clock }: { readonly clock: Clock }): Promise<Gathered> {
  return Promise.resolve({ facts: nothing, system: { request_time: clock() } });
}

const nothing: JsonObject = Object.freeze({});
