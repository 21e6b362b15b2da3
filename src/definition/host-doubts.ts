import type { Endpoint } from "../model/endpoint.js";
import type { Doubt } from "./review-endpoints.js";

/** What is special about an IP address; undefined: nothing, it is there for everybody. */
export type LookAtAddress = (address: string) => SpecialAddress | undefined;

export interface SpecialAddress {
  /** As in "a loopback address". */
  readonly what: string;
  /** Whether `allow_private` lets it be asked nevertheless. */
  readonly mayBeAllowed: boolean;
}

/** What is to be said about where an endpoint is, as far as its URL tells. */
export function hostDoubts(
  name: string,
  { url, auth, allow_private: allowed = false }: Endpoint,
  lookAtAddress: LookAtAddress,
): readonly Doubt[] {
  const { protocol, hostname } = new URL(url);
  const special = specialHost(hostname, lookAtAddress);
  const doubts: Doubt[] = [];
  if (special !== undefined && !(allowed && special.mayBeAllowed)) {
    const message = `\`${name}\` will be refused: \`${hostname}\` is ${special.what}`;
    doubts.push(
      special.mayBeAllowed ? { message, hint: "`allow_private: true` lets it be asked" } : { message },
    );
  }
  if (protocol === "http:" && auth !== undefined && special?.mayBeAllowed !== true) {
    const message = `\`${name}\` is sent its secret without encryption`;
    doubts.push({ message, hint: "use https" });
  }
  return doubts;
}

/** Of a name only that of this machine is known without looking it up. */
function specialHost(hostname: string, lookAtAddress: LookAtAddress): SpecialAddress | undefined {
  if (/^(?:.+\.)?localhost\.?$/.test(hostname)) return { what: "this machine", mayBeAllowed: true };
  const address = hostname.replace(/^\[(.*)\]$/s, "$1");
  return /^[\d.]+$/.test(address) || address.includes(":") ? lookAtAddress(address) : undefined;
}
