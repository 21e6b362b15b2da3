import { RE2JS } from "re2js";

/** A regular expression that runs in linear time and searches anywhere in the text. */
export interface Pattern {
  /** Returns undefined if the text is too long for a pattern of this size. */
  test(text: string): boolean | undefined;
}

export const textTooLongMessage = "the text is too long to be searched for a pattern of this size";

/** The limit on the steps of a search: the size of the pattern times the length of the text. */
const maxSteps = 10_000_000;

const maxPatternLength = 1024;

/** Compiles a pattern in RE2 syntax. Returns a message if it is invalid. */
export function compilePattern(source: string): Pattern | string {
  if (source.length > maxPatternLength) return `a pattern has at most ${maxPatternLength} characters`;
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    return { test: (text) => (size * text.length > maxSteps ? undefined : compiled.test(text)) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.replace(/^error parsing regexp: /, "");
  }
}
