/** What a definition file may be at most, so that reading one never takes long and never ends the process. */
export const largestFile = 4 * 1024 * 1024;
export const deepestNesting = 64;
export const mostKeys = 2000;
export const mostDocuments = 1000;
/** About what a table of ten thousand rules takes. */
export const mostTokens = 400_000;

export interface Exceeded {
  readonly message: string;
  readonly offset: number;
}

interface Collection {
  readonly kind: "block" | "[" | "{";
  readonly column: number;
  keys: number;
}

/** The lexer's control characters stand for no text of the file; after the last one comes a scalar's text. */
const documentStart = "\u0002";
const flowEnd = "\u0018";
const scalarNext = "\u001f";

/**
 * Counts nesting and keys on the lexer's tokens alone. The parser proper recurses and compares every key
 * of a map with every other one, so it must not be given what this refuses.
 */
export function exceededLimit(tokens: Iterable<string>): Exceeded | undefined {
  const open: Collection[] = [];
  let offset = 0;
  let lineStart = 0;
  let contentColumn = 0;
  let isScalar = false;
  let count = 0;
  let documents = 0;
  for (const token of tokens) {
    if (++count > mostTokens) return { message: "it holds too much: more than 10,000 rules or so", offset };
    if (token === documentStart && ++documents > mostDocuments) {
      return { message: `a file holds at most ${mostDocuments} documents`, offset };
    }
    if (token === documentStart || token === flowEnd || token === scalarNext) {
      isScalar = token === scalarNext;
      continue;
    }
    if (isScalar || !isIndicator(token)) {
      if (token.trim() !== "") contentColumn = offset - lineStart;
    } else follow(open, token, token === ":" ? contentColumn : offset - lineStart);
    isScalar = false;

    const message = exceeded(open);
    if (message !== undefined) return { message, offset };
    offset += token.length;
    const newline = token.lastIndexOf("\n");
    if (newline !== -1) lineStart = offset - (token.length - newline - 1);
  }
  return undefined;
}

function isIndicator(token: string): boolean {
  return token.length === 1 && "[]{}-?:,".includes(token);
}

function follow(open: Collection[], indicator: string, column: number): void {
  switch (indicator) {
    case "[":
    case "{":
      open.push({ kind: indicator, column, keys: 0 });
      return;
    case "]":
    case "}":
      while (open.length > 0 && open.pop()?.kind === "block");
      return;
    case ",":
      count(open, "{");
      return;
    default:
      enterBlock(open, column);
      if (indicator !== "-") count(open, "block");
  }
}

function enterBlock(open: Collection[], column: number): void {
  const last = open.at(-1);
  if (last !== undefined && last.kind !== "block") return;
  while (open.length > 0 && (open.at(-1)?.column ?? 0) > column) open.pop();
  if (open.at(-1)?.column !== column) open.push({ kind: "block", column, keys: 0 });
}

function count(open: readonly Collection[], kind: Collection["kind"]): void {
  const last = open.at(-1);
  if (last?.kind === kind) last.keys++;
}

function exceeded(open: readonly Collection[]): string | undefined {
  if (open.length > deepestNesting) return `it is nested deeper than ${deepestNesting}`;
  return (open.at(-1)?.keys ?? 0) > mostKeys ? `a map has at most ${mostKeys} keys` : undefined;
}
