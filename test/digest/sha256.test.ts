import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256Hex, sha256OfBytes } from "../../src/digest/sha256.js";

const reference = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

describe("sha256Hex", () => {
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
  ])("of %j is that of FIPS 180-4", (text, digest) => {
    expect(sha256Hex(text)).toBe(digest);
  });

  it("is that of the text in UTF-8, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(sha256Hex(text)).toBe(reference(text));
      }),
      { numRuns: 500 },
    );
  });
});

describe("sha256OfBytes", () => {
  it("is the SHA-256 of the bytes", () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, index) => index);
    expect(sha256OfBytes(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
  });
});
