/** The first place where a text is not JSON. */
export interface JsonFault {
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

/** What may come next in a text. */
type Expected = "value" | "value or end" | "key" | "key or end" | "colon" | "comma or end" | "nothing";

interface OpenBracket {
  readonly bracket: "{" | "[";
  readonly offset: number;
}

/**
 * Finds the first fault of a text that is not JSON; undefined: it is JSON. `JSON.parse` names the position of some
 * faults only, depending on the version of Node. Quotes at most one character of the text, which may be secret.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: OpenBracket[] = [];
  let expected: Expected = "value";
  let at = 0;
  const afterValue = (): Expected => (open.length === 0 ? "nothing" : "comma or end");
  for (;;) {
    at = endOf(whiteSpace, text, at);
    const character = text.charAt(at);
    if (character === "" && expected === "nothing") return undefined;
    if (character === "") return faultAtEnd(open, at);
    const bracket = open.at(-1)?.bracket;
    const closing = bracket === "{" ? "}" : "]";
    const mayClose = expected === "value or end" || expected === "key or end" || expected === "comma or end";
    if (mayClose && character === closing) {
      open.pop();
      expected = afterValue();
      at++;
      continue;
    }
    switch (expected) {
      case "value":
      case "value or end":
        if (character === "{" || character === "[") {
          open.push({ bracket: character, offset: at });
          expected = character === "{" ? "key or end" : "value or end";
          at++;
          break;
        }
        if (character === '"') {
          const end = readText(text, at);
          if (typeof end !== "number") return end;
          at = end;
        } else {
          const end = endOf(plainValue, text, at);
          if (end === at) return { offset: at, ...noValue(text, at) };
          at = end;
        }
        expected = afterValue();
        break;
      case "key":
      case "key or end": {
        if (character !== '"') return { offset: at, ...noKey(text, at) };
        const end = readText(text, at);
        if (typeof end !== "number") return end;
        at = end;
        expected = "colon";
        break;
      }
      case "colon":
        if (character !== ":") return { offset: at, message: "`:` is missing after the key" };
        expected = "value";
        at++;
        break;
      case "comma or end":
        if (character !== ",") return { offset: at, ...noComma(text, at, bracket) };
        expected = bracket === "{" ? "key" : "value";
        at++;
        break;
      case "nothing":
        return { offset: at, message: `unexpected ${shown(text, at)} after the end of the value` };
    }
  }
}

const whiteSpace = /[ \t\n\r]*/y;
const plainValue = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;

/** Returns the end of what a pattern matches at a place, or the place itself. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function faultAtEnd(open: readonly OpenBracket[], end: number): JsonFault {
  const last = open.at(-1);
  if (last === undefined) return { offset: end, message: "a value is missing" };
  const { bracket, offset } = last;
  return {
    offset,
    message: `\`${bracket}\` is never closed`,
    hint: `add \`${bracket === "{" ? "}" : "]"}\``,
  };
}

/** Returns the end of the text that starts at a quote. */
function readText(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') return at + 1;
    if (character === "\n" || character === "\r")
      return {
        offset: at,
        message: "a line break within a text",
        hint: 'write `\\n`, or add the missing `"`',
      };
    if (character < " ")
      return { offset: at, message: "a control character within a text", hint: "escape it" };
    if (character !== "\\") continue;
    const end = endOf(escape, text, at);
    if (end === at)
      return {
        offset: at,
        message: `\`\\${text.charAt(at + 1)}\` is not an escape sequence`,
        hint: "write the backslash twice",
      };
    at = end - 1;
  }
  return {
    offset: start,
    message: 'the text that starts here has no closing `"`',
    hint: 'add `"` at its end',
  };
}

const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

type Explanation = Omit<JsonFault, "offset">;

function noValue(text: string, at: number): Explanation {
  const character = text.charAt(at);
  const [word] = /^[A-Za-z_$]\w*/.exec(text.slice(at, at + 40)) ?? [];
  if (word !== undefined) {
    const written = spellings[word.toLowerCase()];
    const hint = written === undefined ? "put text in double quotes" : `write \`${written}\``;
    return { message: `unexpected ${shown(text, at)}`, hint };
  }
  if (character === "}" || character === "]")
    return afterComma(text, at) ?? { message: "a value is missing" };
  if (character === ",") return { message: "a value is missing before `,`" };
  if (/[\d.+-]/.test(character)) return badNumber;
  return commentOrQuotes(character) ?? { message: `unexpected ${shown(text, at)}` };
}

const badNumber: Explanation = {
  message: "this is not a number that JSON has",
  hint: "write it as in `-0.5` or `1e9`",
};

/** Values of other languages. */
const spellings: Readonly<Record<string, string>> = {
  true: "true",
  false: "false",
  null: "null",
  none: "null",
  nil: "null",
  undefined: "null",
  nan: "null",
  infinity: "null",
};

function noKey(text: string, at: number): Explanation {
  const character = text.charAt(at);
  if (character === "}") return afterComma(text, at) ?? { message: "a key is missing" };
  if (/[A-Za-z_$\d]/.test(character))
    return { message: "a key without quotes", hint: "put it in double quotes" };
  return commentOrQuotes(character) ?? { message: `a key is missing before ${shown(text, at)}` };
}

function noComma(text: string, at: number, bracket: "{" | "[" | undefined): Explanation {
  const character = text.charAt(at);
  if (character === "}" || character === "]")
    return {
      message: `\`${character}\` does not close \`${bracket ?? ""}\``,
      hint: `write \`${bracket === "{" ? "}" : "]"}\``,
    };
  if (isComment(character)) return comment;
  if (/^\d[\d.eE]$/.test(text.slice(at - 1, at + 1))) return badNumber;
  return { message: `\`,\` is missing before ${shown(text, at)}`, hint: "put `,` between two values" };
}

/** The last entry of other languages may have a comma. */
const afterComma = (text: string, at: number): Explanation | undefined =>
  text.slice(0, at).trimEnd().endsWith(",")
    ? { message: `unexpected ${shown(text, at)} after \`,\``, hint: "remove the `,` before it" }
    : undefined;

function commentOrQuotes(character: string): Explanation | undefined {
  if (isComment(character)) return comment;
  if (!/['`“”‘’«]/.test(character)) return undefined;
  return { message: "JSON has no such quotes", hint: "put text in double quotes" };
}

const isComment = (character: string): boolean => character === "/" || character === "#";
const comment: Explanation = { message: "JSON has no comments", hint: "remove the comment" };

const shown = (text: string, at: number): string => {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return character === "`" ? "a backtick" : `\`${character}\``;
};
