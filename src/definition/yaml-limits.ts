/** The limits of a definition file, so that reading one is fast and never crashes the process. */
export const maxFileBytes = 4 * 1024 * 1024;
export const maxNesting = 64;
const maxKeys = 2000;
const maxDocuments = 10_000;
/** Resolving an alias takes longer the more anchors there are. */
const maxAnchors = 1000;
/** About the tokens of a table of 10,000 rules. */
const maxTokens = 400_000;

interface LimitViolation {
  readonly message: string;
  readonly offset: number;
}

interface Collection {
  readonly kind: "block" | "[" | "{";
  readonly column: number;
  keys: number;
}

/** Control tokens of the lexer, which are not text of the file; `scalarNext` precedes the text of a scalar. */
const documentStart = "\u0002";
const flowEnd = "\u0018";
const scalarNext = "\u001f";

/**
 * Returns the first limit that a file exceeds, from the tokens of the lexer alone. The parser is recursive and
 * compares every key of a map with every other one, so that it must not receive such a file.
 */
export function findLimitViolation(tokens: Iterable<string>): LimitViolation | undefined {
  const watch = new TokenCounter();
  for (const token of tokens) {
    const message = watch.see(token);
    if (message !== undefined) return { message, offset: watch.offset };
    watch.pass(token);
  }
  return undefined;
}

class TokenCounter {
  offset = 0;
  readonly #open: Collection[] = [];
  #lineStart = 0;
  #contentColumn = 0;
  #scalarNext = false;
  #tokens = 0;
  #documents = 0;
  #anchors = 0;

  /** Counts a token and returns the limit that it exceeds. */
  see(token: string): string | undefined {
    if (++this.#tokens > maxTokens) return "the file is too large: it has more than about 10,000 rules";
    const isScalar = this.#scalarNext;
    this.#scalarNext = token === scalarNext;
    if (isControl(token)) return this.#control(token);
    if (!isScalar && /^[&*]/.test(token) && ++this.#anchors > maxAnchors) {
      return `a file may contain at most ${maxAnchors} anchors and aliases`;
    }
    if (isScalar || !isIndicator(token)) {
      if (token.trim() !== "") this.#contentColumn = this.#column;
      return undefined;
    }
    if ((token === "]" || token === "}") && !this.#open.some(({ kind }) => kind !== "block")) {
      return `\`${token}\` closes nothing`;
    }
    updateCollections(this.#open, token, token === ":" ? this.#contentColumn : this.#column);
    return violatedLimit(this.#open);
  }

  pass(token: string): void {
    if (isControl(token)) return;
    this.offset += token.length;
    const newline = token.lastIndexOf("\n");
    if (newline !== -1) this.#lineStart = this.offset - (token.length - newline - 1);
  }

  get #column(): number {
    return this.offset - this.#lineStart;
  }

  #control(token: string): string | undefined {
    if (token === flowEnd) leaveFlow(this.#open);
    if (token !== documentStart) return undefined;
    this.#open.length = 0;
    return ++this.#documents > maxDocuments
      ? `a file may contain at most ${maxDocuments} documents`
      : undefined;
  }
}

function isControl(token: string): boolean {
  return token === documentStart || token === flowEnd || token === scalarNext;
}

/** Closes the flow collections, as the indentation is that of the block around them. */
function leaveFlow(open: Collection[]): void {
  const first = open.findIndex(({ kind }) => kind !== "block");
  if (first !== -1) open.length = first;
}

function isIndicator(token: string): boolean {
  return token.length === 1 && "[]{}-?:,".includes(token);
}

function updateCollections(open: Collection[], indicator: string, column: number): void {
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
      countKey(open, "{");
      return;
    default:
      enterBlock(open, column);
      if (indicator !== "-") countKey(open, "block");
  }
}

function enterBlock(open: Collection[], column: number): void {
  const last = open.at(-1);
  if (last !== undefined && last.kind !== "block") return;
  while (open.length > 0 && (open.at(-1)?.column ?? 0) > column) open.pop();
  if (open.at(-1)?.column !== column) open.push({ kind: "block", column, keys: 0 });
}

function countKey(open: readonly Collection[], kind: Collection["kind"]): void {
  const last = open.at(-1);
  if (last?.kind === kind) last.keys++;
}

function violatedLimit(open: readonly Collection[]): string | undefined {
  if (open.length > maxNesting) return `the file is nested deeper than ${maxNesting}`;
  return (open.at(-1)?.keys ?? 0) > maxKeys ? `a map has at most ${maxKeys} keys` : undefined;
}
