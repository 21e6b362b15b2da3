import { describe, expect, it } from "vitest";
import {
  matchesOwnHash,
  parseChainLink,
  genesisHash,
  maxSealedByteLength,
  sealLine,
  sealLineInto,
  sealedByteLength,
} from "../../src/record/chain.js";

const bodies = [
  '"kind":"note"',
  '"text":"ü € 😀 \\u2028"',
  `"long":"${"x".repeat(20_000)}"`,
  `"wide":"${"€".repeat(5000)}"`,
];

describe("a line that is sealed into bytes", () => {
  it.each([sealedByteLength, maxSealedByteLength])(
    "is the one that is sealed as a text, and fits into %o",
    (lengthOf) => {
      const bytes = Buffer.alloc(lengthOf(bodies));
      let [at, previous, text] = [0, genesisHash, ""];
      for (const [index, body] of bodies.entries()) {
        const seq = Number.MAX_SAFE_INTEGER - bodies.length + index;
        const { line, hash } = sealLine(seq, body, previous);
        const sealed = sealLineInto(bytes, at, { seq, body, previous });
        expect(sealed.hash).toBe(hash);
        const found = Buffer.from(bytes.subarray(at, sealed.end - 1));
        expect(parseChainLink(found)).toEqual({ seq, previous, hash });
        expect(matchesOwnHash(found, { seq, previous, hash })).toBe(true);
        text += line;
        [at, previous] = [sealed.end, hash];
      }
      expect(bytes.toString("utf8", 0, at)).toBe(text);
    },
  );
});
