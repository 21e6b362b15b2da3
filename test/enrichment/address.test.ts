import { describe, expect, it } from "vitest";
import { findAddressFault } from "../../src/enrichment/address.js";

const loopback = { what: "a loopback address", mayBeAllowed: true };
const privateOne = { what: "a private address", mayBeAllowed: true };
const linkLocal = { what: "a link-local address", mayBeAllowed: false };
const metadata = { what: "a cloud metadata address", mayBeAllowed: false };
const unspecified = { what: "an unspecified address", mayBeAllowed: false };
const multicast = { what: "a multicast address", mayBeAllowed: false };
const documentation = { what: "a documentation address", mayBeAllowed: false };
const benchmark = { what: "a benchmark address", mayBeAllowed: false };
const reserved = { what: "a reserved address", mayBeAllowed: false };
const broadcast = { what: "a broadcast address", mayBeAllowed: false };
const siteLocal = { what: "a site-local address", mayBeAllowed: false };
const none = { what: "not an IP address", mayBeAllowed: false };

describe("an address", () => {
  it.each([
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2001:4860:4860:0:0:0:0:8888",
    "2A00:1450:4001:81B::200E",
    "::ffff:1.1.1.1",
    "64:ff9b::1.1.1.1",
    "2002:101:101::1",
    "2001:0:101:101::fefe:fefe",
  ])("%s is public", (address) => {
    expect(findAddressFault(address)).toBeUndefined();
  });

  it.each([
    ["127.0.0.1", loopback],
    ["127.255.255.254", loopback],
    ["::1", loopback],
    ["0:0:0:0:0:0:0:1", loopback],
    ["0000:0000:0000:0000:0000:0000:0000:0001", loopback],
    ["::1%lo", loopback],
    ["10.0.0.0", privateOne],
    ["10.255.255.255", privateOne],
    ["172.16.0.1", privateOne],
    ["172.31.255.255", privateOne],
    ["192.168.0.1", privateOne],
    ["100.64.0.1", privateOne],
    ["100.127.255.255", privateOne],
    ["fc00::", privateOne],
    ["fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", privateOne],
    ["FD12:3456::1", privateOne],
    ["169.254.0.1", linkLocal],
    ["169.254.255.255", linkLocal],
    ["fe80::1", linkLocal],
    ["fe80::1%eth0", linkLocal],
    ["febf::1", linkLocal],
    ["169.254.169.254", metadata],
    ["169.254.170.2", metadata],
    ["100.100.100.200", metadata],
    ["168.63.129.16", metadata],
    ["fd00:ec2::254", metadata],
    ["fd00:0ec2:0:0::0254", metadata],
    ["fd20:ce::254", metadata],
    ["0.0.0.0", unspecified],
    ["0.1.2.3", unspecified],
    ["::", unspecified],
    ["0:0:0:0:0:0:0:0", unspecified],
    ["224.0.0.1", multicast],
    ["239.255.255.255", multicast],
    ["ff02::1", multicast],
    ["255.255.255.255", broadcast],
    ["240.0.0.1", reserved],
    ["192.0.0.1", reserved],
    ["192.88.99.1", reserved],
    ["192.0.2.1", documentation],
    ["198.51.100.1", documentation],
    ["203.0.113.1", documentation],
    ["2001:db8::1", documentation],
    ["3fff::1", documentation],
    ["198.18.0.1", benchmark],
    ["198.19.255.255", benchmark],
    ["2001:2::1", benchmark],
    ["2001:10::1", reserved],
    ["2001:20::1", reserved],
    ["100::1", reserved],
    ["5f00::1", reserved],
    ["4000::1", reserved],
    ["64:ff9b:1::1.1.1.1", reserved],
    ["fec0::1", siteLocal],
    ["localhost", none],
    ["", none],
    ["127.1", none],
    ["0x7f000001", none],
    ["1.2.3.4/8", none],
    ["%", none],
  ])("%j is restricted", (address, fault) => {
    expect(findAddressFault(address)).toEqual(fault);
  });

  it.each([
    ["mapped", "::ffff:127.0.0.1", loopback],
    ["mapped, in hex", "::ffff:7f00:1", loopback],
    ["mapped, written out", "0:0:0:0:0:FFFF:7F00:0001", loopback],
    ["mapped, with a zone", "::ffff:10.0.0.1%eth0", privateOne],
    ["mapped to where clouds keep secrets", "::ffff:169.254.169.254", metadata],
    ["mapped to nowhere", "::ffff:0.0.0.0", unspecified],
    ["translated", "::ffff:0:10.0.0.1", privateOne],
    ["compatible", "::127.0.0.1", loopback],
    ["compatible, in hex", "::a9fe:a9fe", metadata],
    ["behind NAT64", "64:ff9b::192.168.1.1", privateOne],
    ["behind NAT64, in hex", "64:ff9b::a9fe:a9fe", metadata],
    ["in 6to4", "2002:7f00:1::", loopback],
    ["in 6to4, with more after it", "2002:a00:1:ffff::1", privateOne],
    ["behind Teredo", "2001:0:101:101::80ff:fffe", loopback],
    ["the server of Teredo", "2001:0:7f00:1::fefe:fefe", loopback],
    ["the worse of the two of Teredo", "2001:0:7f00:1::5601:5601", metadata],
  ])("of IPv4 is found inside IPv6: %s", (_how, address, fault) => {
    expect(findAddressFault(address)).toEqual(fault);
  });
});
