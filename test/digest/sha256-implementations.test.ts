import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { portableSha256 } from "../../src/digest/portable-sha256.js";

const reference = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");

describe("the portable SHA-256", () => {
  it("agrees with `node:crypto` on every length up to five blocks", () => {
    for (let length = 0; length <= 320; length++) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + length) & 255);
      expect(portableSha256(bytes)).toBe(reference(bytes));
    }
  });

  it("agrees with `node:crypto` on any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
        expect(portableSha256(bytes)).toBe(reference(bytes));
      }),
    );
  });
});

describe("SHA-256 of a text", () => {
  it.each([
    ["an empty text", ""],
    ["a text of one block", "a".repeat(64)],
    ["characters of two, three and four bytes", "ö€💡"],
    ["half a surrogate pair", "a\ud800b"],
    ["a zero", "\u0000"],
  ])("is the same before and after `node:crypto` is loaded: %s", async (_what, text) => {
    vi.resetModules();
    const { sha256Hex } = await import("../../src/digest/sha256.js");
    const early = sha256Hex(text);
    sha256Hex("a".repeat(10_000));
    expect(early).toBe(reference(text));
    expect(sha256Hex(text)).toBe(early);
  });
});
