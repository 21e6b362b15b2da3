import { parseInstant } from "../../expression/instant.js";
import type { Policy } from "../../model/definition.js";

/** Why a policy is not in effect at a time (in milliseconds; undefined: nobody knows it); undefined: it is. */
export type Window = (at: number | undefined) => string | undefined;

export function windowOf({ effective_from, expires_at }: Policy): Window {
  const isAlways = effective_from === undefined && expires_at === undefined;
  const from = bound(effective_from, -Infinity);
  const until = bound(expires_at, Infinity);
  return (at) => {
    if (isAlways) return undefined;
    if (at === undefined) return "the time of the request is not known";
    if (at < from.at) return `not in effect before ${from.text}`;
    return at < until.at ? undefined : `expired on ${until.text}`;
  };
}

/** What is no time is a bound that nothing keeps: the definition is refused before it comes to that. */
function bound(text: string | undefined, otherwise: number): { readonly at: number; readonly text: string } {
  if (text === undefined) return { at: otherwise, text: "" };
  return { at: parseInstant(text) ?? -otherwise, text };
}
