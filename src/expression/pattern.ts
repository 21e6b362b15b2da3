import { RE2JS } from "re2js";

/** A regular expression that runs in linear time; it searches anywhere in the text. */
export interface Pattern {
  /** Undefined where the text is too long for a pattern of this size: linear, too, can be long. */
  test(text: string): boolean | undefined;
}

/** Steps of the matching machine: the size of the pattern times the length of the text. */
const maxSteps = 10_000_000;

const maxPatternLength = 1024;
const cacheSize = 256;
const cache = new Map<string, Pattern | string>();

/** Compiles a pattern of a definition, or says what is wrong with it. */
export function compilePattern(source: string): Pattern | string {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const compiled = compileWithRe2(source);
  if (cache.size >= cacheSize) cache.clear();
  cache.set(source, compiled);
  return compiled;
}

function compileWithRe2(source: string): Pattern | string {
  if (source.length > maxPatternLength) return `a pattern has at most ${maxPatternLength} characters`;
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    return { test: (text) => (size * text.length > maxSteps ? undefined : compiled.test(text)) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
