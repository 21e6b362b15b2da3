import { isIP } from "node:net";
import { findAddressFault } from "./address.js";
import type { ExchangeOutcome } from "./exchange.js";

/** All addresses of a name. */
export type LookUpHost = (host: string) => Promise<readonly string[]>;

export type ResolvedHost =
  | { readonly kind: "addresses"; readonly addresses: readonly string[] }
  | Extract<ExchangeOutcome, { readonly kind: "refused" | "network" }>;

/** Where a host is; refused where one of its addresses may not be asked, as any of them might be connected to. */
export async function resolveHost(
  host: string,
  lookUp: LookUpHost,
  { allowPrivate }: ResolveOptions,
): Promise<ResolvedHost> {
  const literal = host.replace(/^\[(.*)\]$/s, "$1");
  if (isIP(literal) !== 0) return checkAddresses(literal, [literal], { allowPrivate });
  let addresses: readonly string[];
  try {
    addresses = await lookUp(host);
  } catch (error) {
    return { kind: "network", message: lookUpFailure(host, error) };
  }
  if (addresses.length === 0) return { kind: "network", message: `\`${host}\` has no address` };
  return checkAddresses(host, addresses, { allowPrivate });
}

/** Asks the system, which knows more than name servers do. */
export const lookUpInSystem: LookUpHost = async (host) => {
  const { lookup } = await import("node:dns/promises");
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

interface ResolveOptions {
  readonly allowPrivate: boolean;
}

function checkAddresses(
  host: string,
  addresses: readonly string[],
  { allowPrivate }: ResolveOptions,
): ResolvedHost {
  for (const address of addresses) {
    const fault = findAddressFault(address);
    if (fault === undefined || (fault.mayBeAllowed && allowPrivate)) continue;
    const where = host === address ? `\`${host}\` is` : `\`${host}\` is at \`${address}\`,`;
    const remedy = fault.mayBeAllowed ? "allowed only with `allow_private: true`" : "never asked";
    return { kind: "refused", message: `${where} ${fault.what}, which is ${remedy}` };
  }
  return { kind: "addresses", addresses };
}

function lookUpFailure(host: string, error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOTFOUND":
    case "ENODATA":
      return `there is no host \`${host}\``;
    case "EAI_AGAIN":
      return `no name server says where \`${host}\` is`;
    default:
      return `where \`${host}\` is could not be found out`;
  }
}
