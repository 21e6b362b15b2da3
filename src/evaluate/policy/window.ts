import { parseInstant } from "../../expression/instant.js";
import type { Policy } from "../../model/definition.js";

/** Why a policy is not in effect at a time (in milliseconds; undefined: nobody knows it); undefined: it is. */
export type Window = (at: number | undefined) => string | undefined;

export function windowOf({ effective_from, expires_at }: Policy): Window {
  const from = effective_from === undefined ? -Infinity : (parseInstant(effective_from) ?? Infinity);
  const until = expires_at === undefined ? Infinity : (parseInstant(expires_at) ?? -Infinity);
  const isAlways = effective_from === undefined && expires_at === undefined;
  return (at) => {
    if (isAlways) return undefined;
    if (at === undefined) return "the time of the request is not known";
    if (at < from) return `not in effect before ${effective_from ?? ""}`;
    return at < until ? undefined : `expired on ${expires_at ?? ""}`;
  };
}
