import { isIP } from "node:net";
import type { AddressFault } from "./special-addresses.js";
import {
  embeddings,
  globalIPv6,
  noAddress,
  reserved,
  specialIPv4,
  specialIPv6,
} from "./special-addresses.js";

/** Looks at an IP address in whatever form; one that is there for everybody has no fault. */
export function addressFault(address: string): AddressFault | undefined {
  const bare = address.replace(/%.*$/s, "");
  switch (isIP(bare)) {
    case 4:
      return faultOfIPv4(numberOfIPv4(bare));
    case 6:
      return faultOfIPv6(numberOfIPv6(bare));
    default:
      return noAddress;
  }
}

function faultOfIPv4(address: bigint): AddressFault | undefined {
  const special = specialIPv4.find(([first, bits]) => within(address, numberOfIPv4(first), 32 - bits));
  return special?.[2];
}

function faultOfIPv6(address: bigint): AddressFault | undefined {
  const embedded = embeddedIn(address);
  if (embedded.length > 0) return worst(embedded.flatMap((each) => faultOfIPv4(each) ?? []));
  const special = specialIPv6.find(([first, bits]) => within(address, numberOfIPv6(first), 128 - bits));
  if (special !== undefined) return special[2];
  const [first, bits] = globalIPv6;
  return within(address, numberOfIPv6(first), 128 - bits) ? undefined : reserved;
}

function embeddedIn(address: bigint): readonly bigint[] {
  // `::` and `::1` hold nothing: they are the unspecified and the loopback address of IPv6 itself.
  if (address <= 1n) return [];
  return embeddings.flatMap(({ range: [first, bits], shift, inverted }) => {
    if (!within(address, numberOfIPv6(first), 128 - bits)) return [];
    return BigInt.asUintN(32, (inverted ? ~address : address) >> shift);
  });
}

const worst = (faults: readonly AddressFault[]): AddressFault | undefined =>
  faults.find(({ mayBeAllowed }) => !mayBeAllowed) ?? faults[0];

const within = (address: bigint, first: bigint, freeBits: number): boolean =>
  address >> BigInt(freeBits) === first >> BigInt(freeBits);

const numberOfIPv4 = (address: string): bigint => joined(address.split(".").map(Number), 8);

/** A URL has one spelling for all those of an address, without dots. */
function numberOfIPv6(address: string): bigint {
  const [left = [], right = []] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split("::")
    .map((side) => (side === "" ? [] : side.split(":").map((group) => Number.parseInt(group, 16))));
  const gap = Array<number>(8 - left.length - right.length).fill(0);
  return joined([...left, ...gap, ...right], 16);
}

const joined = (parts: readonly number[], bits: number): bigint =>
  parts.reduce((all, part) => (all << BigInt(bits)) | BigInt(part), 0n);
