import { isIP } from "node:net";
import { findAddressFault } from "./address.js";
import type { ExchangeOutcome } from "./exchange.js";

/** Returns all addresses of a host name. */
export type LookUpHost = (host: string) => Promise<readonly string[]>;

export type ResolvedHost =
  | { readonly kind: "addresses"; readonly addresses: readonly string[] }
  | Extract<ExchangeOutcome, { readonly kind: "refused" | "network" }>;

interface ResolveOptions {
  readonly allowPrivate: boolean;
}

/** Resolves a host. One forbidden address refuses the host, because any of its addresses may be connected to. */
export async function resolveHost(
  host: string,
  lookUp: LookUpHost,
  options: ResolveOptions,
): Promise<ResolvedHost> {
  const literal = host.replace(/^\[(.*)\]$/s, "$1");
  if (isIP(literal) !== 0) return checkAddresses(literal, [literal], options);
  let addresses: readonly string[];
  try {
    addresses = await lookUp(host);
  } catch (error) {
    return { kind: "network", message: lookUpFailure(host, error) };
  }
  if (addresses.length === 0) return { kind: "network", message: `\`${host}\` has no address` };
  return checkAddresses(host, addresses, options);
}

/** Uses the resolver of the operating system, which also knows hosts files. */
export const lookUpInSystem: LookUpHost = async (host) => {
  const { lookup } = await import("node:dns/promises");
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

function checkAddresses(
  host: string,
  addresses: readonly string[],
  { allowPrivate }: ResolveOptions,
): ResolvedHost {
  for (const address of addresses) {
    const fault = findAddressFault(address);
    if (fault === undefined || (fault.mayBeAllowed && allowPrivate)) continue;
    const subject = host === address ? `\`${host}\` is` : `\`${host}\` resolves to \`${address}\`,`;
    const remedy = fault.mayBeAllowed ? "allowed only with `allow_private: true`" : "never allowed";
    return { kind: "refused", message: `${subject} ${fault.what}, which is ${remedy}` };
  }
  return { kind: "addresses", addresses };
}

function lookUpFailure(host: string, error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOTFOUND":
    case "ENODATA":
      return `host \`${host}\` not found`;
    case "EAI_AGAIN":
      return `the name server did not respond for \`${host}\``;
    default:
      return `host \`${host}\` could not be resolved`;
  }
}
