import fc from "fast-check";
import type { Json } from "../../src/model/json.js";

const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 5e-324, Number.MAX_VALUE, 1e21, 1e-7, 2 ** 53, 0.1 + 0.2),
);

/** Texts without lone surrogates, which RFC 8785 does not allow. */
const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ unit: "grapheme-ascii", maxLength: 100 }),
  fc.constantFrom("\u0000", "\u007f", "\u0080", "\u2028", '"', "\\", "\ufb33", "😀", "ö"),
);

const keys = fc.oneof(
  texts,
  fc.constantFrom("__proto__", "constructor", "toJSON", "10", "9", "-1", "", "a", "A"),
);

function objectOf(entries: readonly (readonly [string, Json])[]): Json {
  const object: Record<string, Json> = {};
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

/** Objects with up to 40 keys. */
export const wideObjects: fc.Arbitrary<Json> = fc
  .array(fc.tuple(keys, fc.constantFrom<Json>(null, 1, "a")), { maxLength: 40, size: "max" })
  .map(objectOf);

/** Any JSON value, including special numbers, texts and keys. */
export const jsonValues: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, false),
    numbers,
    texts,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.array(fc.tuple(keys, tie("value")), { maxLength: 6 }).map(objectOf),
  ),
})).value;
