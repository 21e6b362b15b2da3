import { isIP } from "node:net";

/** Returns why an IP address may not be called. Undefined: it is public. */
export function findAddressFault(address: string): AddressFault | undefined {
  const bare = address.replace(/%.*$/s, "");
  switch (isIP(bare)) {
    case 4:
      return findIPv4Fault(parseIPv4(bare));
    case 6:
      return findIPv6Fault(parseIPv6(bare));
    default:
      return invalidAddress;
  }
}

function findIPv4Fault(address: bigint): AddressFault | undefined {
  const special = specialIPv4.find(([first, bits]) => isInRange(address, parseIPv4(first), 32 - bits));
  return special?.[2];
}

function findIPv6Fault(address: bigint): AddressFault | undefined {
  const embedded = embeddedIPv4(address);
  if (embedded.length > 0) return worstFault(embedded.flatMap((each) => findIPv4Fault(each) ?? []));
  const special = specialIPv6.find(([first, bits]) => isInRange(address, parseIPv6(first), 128 - bits));
  if (special !== undefined) return special[2];
  const [first, bits] = globalIPv6;
  return isInRange(address, parseIPv6(first), 128 - bits) ? undefined : reserved;
}

function embeddedIPv4(address: bigint): readonly bigint[] {
  // `::` and `::1` are addresses of IPv6 itself.
  if (address <= 1n) return [];
  return embeddings.flatMap(({ range: [first, bits], shift, inverted }) => {
    if (!isInRange(address, parseIPv6(first), 128 - bits)) return [];
    return BigInt.asUintN(32, (inverted ? ~address : address) >> shift);
  });
}

const worstFault = (faults: readonly AddressFault[]): AddressFault | undefined =>
  faults.find(({ mayBeAllowed }) => !mayBeAllowed) ?? faults[0];

const isInRange = (address: bigint, first: bigint, freeBits: number): boolean =>
  address >> BigInt(freeBits) === first >> BigInt(freeBits);

const parseIPv4 = (address: string): bigint => joinBits(address.split(".").map(Number), 8);

/** Normalises the address by way of a URL, which spells it without dots. */
function parseIPv6(address: string): bigint {
  const [left = [], right = []] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split("::")
    .map((side) => (side === "" ? [] : side.split(":").map((group) => Number.parseInt(group, 16))));
  const gap = Array<number>(8 - left.length - right.length).fill(0);
  return joinBits([...left, ...gap, ...right], 16);
}

const joinBits = (parts: readonly number[], bits: number): bigint =>
  parts.reduce((all, part) => (all << BigInt(bits)) | BigInt(part), 0n);

/** Why an IP address may not be called. */
export interface AddressFault {
  /** For example "a loopback address". */
  readonly what: string;
  /** Whether `allow_private` lifts the restriction. */
  readonly mayBeAllowed: boolean;
}

export type SpecialRange = readonly [first: string, bits: number, fault: AddressFault];

const always = (what: string): AddressFault => ({ what, mayBeAllowed: false });
const unlessAllowed = (what: string): AddressFault => ({ what, mayBeAllowed: true });

export const invalidAddress = always("not an IP address");
export const reserved = always("a reserved address");
const metadata = always("a cloud metadata address");
const unspecified = always("an unspecified address");
const linkLocal = always("a link-local address");
const multicast = always("a multicast address");
const documentation = always("a documentation address");
const benchmark = always("a benchmark address");
const loopback = unlessAllowed("a loopback address");
const privateAddress = unlessAllowed("a private address");

/** From IANA's special-purpose address registry. The first matching range counts. */
export const specialIPv4: readonly SpecialRange[] = [
  ["169.254.169.254", 32, metadata],
  ["169.254.170.2", 32, metadata],
  ["100.100.100.200", 32, metadata],
  ["168.63.129.16", 32, metadata],
  ["0.0.0.0", 8, unspecified],
  ["10.0.0.0", 8, privateAddress],
  ["100.64.0.0", 10, privateAddress],
  ["127.0.0.0", 8, loopback],
  ["169.254.0.0", 16, linkLocal],
  ["172.16.0.0", 12, privateAddress],
  ["192.0.0.0", 24, reserved],
  ["192.0.2.0", 24, documentation],
  ["192.88.99.0", 24, reserved],
  ["192.168.0.0", 16, privateAddress],
  ["198.18.0.0", 15, benchmark],
  ["198.51.100.0", 24, documentation],
  ["203.0.113.0", 24, documentation],
  ["224.0.0.0", 4, multicast],
  ["255.255.255.255", 32, always("a broadcast address")],
  ["240.0.0.0", 4, reserved],
];

/** The same for IPv6. */
export const specialIPv6: readonly SpecialRange[] = [
  ["fd00:ec2::254", 128, metadata],
  ["fd20:ce::254", 128, metadata],
  ["fd00:42::42", 128, metadata],
  ["::", 128, unspecified],
  ["::1", 128, loopback],
  ["fc00::", 7, privateAddress],
  ["fe80::", 10, linkLocal],
  ["fec0::", 10, always("a site-local address")],
  ["ff00::", 8, multicast],
  ["2001:2::", 48, benchmark],
  ["2001:db8::", 32, documentation],
  ["3fff::", 20, documentation],
  ["2001::", 23, reserved],
];

/** The only range of public IPv6 addresses. */
export const globalIPv6 = ["2000::", 3] as const;

export interface Embedding {
  readonly range: readonly [first: string, bits: number];
  /** The number of bits to the right of the IPv4 address. */
  readonly shift: bigint;
  /** Whether its bits are inverted. */
  readonly inverted?: true;
}

/** The ranges of IPv6 addresses that embed an IPv4 address. */
export const embeddings: readonly Embedding[] = [
  { range: ["::ffff:0:0", 96], shift: 0n }, // mapped
  { range: ["::ffff:0:0:0", 96], shift: 0n }, // translated
  { range: ["::", 96], shift: 0n }, // compatible
  { range: ["64:ff9b::", 96], shift: 0n }, // NAT64
  { range: ["2002::", 16], shift: 80n }, // 6to4
  { range: ["2001::", 32], shift: 0n, inverted: true }, // Teredo client
  { range: ["2001::", 32], shift: 64n }, // Teredo server
];
