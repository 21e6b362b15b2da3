import { compilePattern } from "../../expression/pattern.js";

/** What ajv takes for a RegExp; it keeps two apart by their `toString`. */
interface Matcher {
  test(text: string): boolean;
  toString(): string;
}

interface PatternEngine {
  (source: string): Matcher;
  /** Only for validators that are written to a file. */
  readonly code: string;
}

/** Lets ajv run patterns in linear time. A text that is too long does not match, and is told of. */
export function patternEngine(onOverlong: (source: string) => void): PatternEngine {
  return Object.assign((source: string) => matcher(source, onOverlong), { code: "undefined" });
}

function matcher(source: string, onOverlong: (source: string) => void): Matcher {
  const pattern = compilePattern(source);
  if (typeof pattern === "string") throw new Error(`\`${source}\` is no usable pattern: ${pattern}`);
  return {
    test(text) {
      const found = pattern.test(text);
      if (found === undefined) onOverlong(source);
      return found === true;
    },
    toString: () => source,
  };
}
