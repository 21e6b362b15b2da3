import { describe, expect, it } from "vitest";
import { isIntact, linkOf, origin, roomFor, seal, sealInto, sealedLength } from "../../src/record/chain.js";

const bodies = [
  '"kind":"note"',
  '"text":"ü € 😀 \\u2028"',
  `"long":"${"x".repeat(20_000)}"`,
  `"wide":"${"€".repeat(5000)}"`,
];

describe("a line that is sealed into bytes", () => {
  it.each([sealedLength, roomFor])("is the one that is sealed as a text, and fits into %o", (lengthOf) => {
    const bytes = Buffer.alloc(lengthOf(bodies));
    let [at, previous, text] = [0, origin, ""];
    for (const [index, body] of bodies.entries()) {
      const seq = Number.MAX_SAFE_INTEGER - bodies.length + index;
      const { line, hash } = seal(seq, body, previous);
      const sealed = sealInto(bytes, at, { seq, body, previous });
      expect(sealed.hash).toBe(hash);
      const found = Buffer.from(bytes.subarray(at, sealed.end - 1));
      expect(linkOf(found)).toEqual({ seq, previous, hash });
      expect(isIntact(found, { seq, previous, hash })).toBe(true);
      text += line;
      [at, previous] = [sealed.end, hash];
    }
    expect(bytes.toString("utf8", 0, at)).toBe(text);
  });
});
