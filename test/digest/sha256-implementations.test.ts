import { beforeEach, describe, expect, it, vi } from "vitest";

type Sha256 = (text: string) => string;

/** A copy of the module that has not been called yet, so its first 16 answers come from the portable one. */
async function fresh(): Promise<Sha256> {
  vi.resetModules();
  return (await import("../../src/digest/sha256.js")).sha256Hex;
}

async function afterTheSwitch(): Promise<Sha256> {
  const sha256Hex = await fresh();
  for (let call = 0; call < 20; call++) sha256Hex("");
  return sha256Hex;
}

describe("the two implementations of SHA-256", () => {
  let early: Sha256;
  let late: Sha256;

  beforeEach(async () => {
    early = await fresh();
    late = await afterTheSwitch();
  });

  it.each([
    ["an empty text", ""],
    ["a text of one block less the padding", "a".repeat(55)],
    ["a text of one block", "a".repeat(64)],
    ["a text of many blocks", "ab".repeat(5000)],
    ["characters of two, three and four bytes", "ö€💡"],
    ["half a surrogate pair", "a\ud800b"],
    ["a zero", "\u0000"],
  ])("agree on %s", (_what, text) => {
    expect(early(text)).toBe(late(text));
  });
});
