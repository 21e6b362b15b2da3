import type { CST } from "yaml";
import { commentsIn, parseTokens } from "../yaml-source.js";

/** A comment, with its `#`. */
export interface Comment {
  readonly text: string;
  /** Whether it follows something else on its line. */
  readonly isInline: boolean;
  readonly blankBefore: boolean;
}

/** One entry of a collection: a pair of a map, or an item of a list. */
export interface Entry {
  /** The comments on the lines before it. */
  readonly leading: readonly Comment[];
  /** Whether a blank line precedes it; with leading comments, between them and the entry. */
  readonly blankBefore: boolean;
  readonly key: ScalarNode | undefined;
  /** Whether there is a `:`; a key of a flow map may lack it. */
  readonly hasColon: boolean;
  /** The comments between the `:` or `-` and the value. Only the first can be inline. */
  readonly head: readonly Comment[];
  readonly value: SourceNode | undefined;
  /** The comment on the line where the value ends. */
  readonly trailing: Comment | undefined;
}

export type SourceNode = ScalarNode | BlockScalarNode | CollectionNode;

interface Properties {
  /** Its anchor and its tag, as written. */
  readonly properties: readonly string[];
}

/** A plain or quoted text or an alias, as written. */
export interface ScalarNode extends Properties {
  readonly kind: "scalar";
  readonly source: string;
  readonly isAlias: boolean;
}

/** A text after `|` or `>`. */
export interface BlockScalarNode extends Properties {
  readonly kind: "block-scalar";
  readonly header: string;
  readonly comment: Comment | undefined;
  /** Its lines, without their common indentation. */
  readonly lines: readonly string[];
}

export interface CollectionNode extends Properties {
  readonly kind: "map" | "list";
  /** Whether it is written in braces or brackets. */
  readonly isFlow: boolean;
  /** Whether its first entry is on another line than its bracket. */
  readonly isExpanded: boolean;
  readonly entries: readonly Entry[];
  /** The comments after its last entry. */
  readonly tail: readonly Comment[];
}

/** One document of a file. */
export interface DocumentNode {
  /** The `%` lines before it. */
  readonly directives: readonly string[];
  /** Whether it starts with `---`. */
  readonly hasMarker: boolean;
  /** The comment on that line. */
  readonly markerComment: Comment | undefined;
  /** The comments before a value that is no block collection. */
  readonly leading: readonly Comment[];
  readonly root: SourceNode | undefined;
  /** The comments after its value. */
  readonly tail: readonly Comment[];
}

/** Thrown for YAML that no definition needs and that cannot be formatted. */
export class UnsupportedSource extends Error {
  readonly offset: number;

  constructor(offset: number, what: string) {
    super(what);
    this.offset = offset;
  }
}

/** Reads a text without errors as a tree that keeps every comment and the spelling of every text. */
export function readSourceTree(text: string): readonly DocumentNode[] {
  return new SourceReader(text).read();
}

/**
 * Walks the tokens in the order of the file. A comment on the line of another token belongs to that; all others wait
 * until the next entry begins, or the collection ends in which they are indented.
 */
class SourceReader {
  readonly #text: string;
  readonly #comments: ReturnType<typeof commentsIn>;
  /** How many comments were passed. */
  #passed = 0;
  /** The offset of the last token that was passed. */
  #position = -1;
  /** The end of the last text after `|` or `>`, with the blank lines that belong to it. */
  #keptUntil = 0;
  #waiting: WaitingComment[] = [];
  /** Takes a comment on the line of the last token; undefined if that has one, or cannot have one. */
  #takeInline: ((comment: Comment) => void) | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#comments = commentsIn(text);
  }

  read(): readonly DocumentNode[] {
    const documents: DocumentNode[] = [];
    let directives: string[] = [];
    for (const token of parseTokens(this.#text)) {
      if (token.type === "directive") directives.push(token.source);
      if (token.type === "document") {
        documents.push(this.#document(token, directives));
        directives = [];
      }
      this.#pass(token.offset);
    }
    this.#pass(this.#text.length);
    const last = documents.pop();
    const tail = this.#takeWaiting();
    if (last !== undefined) return [...documents, { ...last, tail: [...last.tail, ...tail] }];
    return tail.length === 0
      ? []
      : [{ directives, hasMarker: false, markerComment: undefined, leading: [], root: undefined, tail }];
  }

  #document({ start, value }: CST.Document, directives: readonly string[]): DocumentNode {
    let markerComment: Comment | undefined;
    const properties: string[] = [];
    for (const token of start) {
      this.#property(token, properties);
      if (token.type === "doc-start") this.#takeInline = (comment) => (markerComment = comment);
    }
    let leading: readonly Comment[] = [];
    if (value === undefined) this.#settle();
    else if (!isBlockCollection(value)) {
      this.#pass(value.offset);
      leading = this.#takeWaiting();
    }
    const root = value && this.#node(value, properties, { column: -1 });
    this.#takeInline = undefined;
    this.#settle();
    const hasMarker = start.some(({ type }) => type === "doc-start");
    return { directives, hasMarker, markerComment, leading, root, tail: this.#takeWaiting() };
  }

  #node(token: CST.Token, properties: readonly string[], parent: { readonly column: number }): SourceNode {
    switch (token.type) {
      case "alias":
      case "scalar":
      case "single-quoted-scalar":
      case "double-quoted-scalar":
        this.#pass(token.offset);
        return { kind: "scalar", properties, source: token.source, isAlias: token.type === "alias" };
      case "block-scalar":
        return this.#blockScalar(token, properties);
      case "block-map":
      case "block-seq":
        return this.#blockCollection(token, properties, parent);
      case "flow-collection":
        return this.#flowCollection(token, properties);
      default:
        throw new UnsupportedSource(token.offset, "the file has an error");
    }
  }

  #blockScalar(token: CST.BlockScalar, properties: readonly string[]): BlockScalarNode {
    const [header, ...rest] = token.props;
    const written = header !== undefined && "source" in header ? header.source : "|";
    const gap = rest.map((each) => ("source" in each ? each.source : "")).join("");
    let comment: Comment | undefined;
    this.#pass(token.offset);
    this.#takeInline = (each) => (comment = each);
    const start = token.offset + written.length + gap.length;
    this.#pass(start);
    this.#takeInline = undefined;
    const digit = Number(/\d/.exec(written)?.[0] ?? "0");
    const lines = token.source.split("\n").map((line) => line.replace(/\r$/, ""));
    // The source ends with a line break, unless the file does not.
    if (lines.at(-1) === "") lines.pop();
    const first = lines.find((line) => line.trim() !== "") ?? "";
    const indentation = digit === 0 ? leadingSpaces(first) : token.indent + digit;
    const cut = lines.map((line) => line.slice(Math.min(indentation, leadingSpaces(line))));
    // A line of spaces can be text; empty lines at the end are text only after `+`.
    const textLines = written.includes("+") ? lines.length : cut.findLastIndex((line) => line !== "") + 1;
    this.#keptUntil = start + lengthOfLines(token.source, textLines);
    return { kind: "block-scalar", properties, header: written, comment, lines: cut };
  }

  #blockCollection(
    token: CST.BlockMap | CST.BlockSequence,
    properties: readonly string[],
    parent: { readonly column: number },
  ): CollectionNode {
    const column = token.indent;
    const entries = (token.items as readonly CST.CollectionItem[]).flatMap(
      (item) => this.#entry(item, { column }) ?? [],
    );
    this.#settle();
    // A comment in the column of the parent's keys belongs to the next of them.
    const end = this.#waiting.findIndex((each) => each.column < column || each.column <= parent.column);
    const tail = this.#takeWaiting(end === -1 ? undefined : end);
    const kind = token.type === "block-map" ? "map" : "list";
    return { kind, properties, isFlow: false, isExpanded: true, entries, tail };
  }

  #flowCollection(token: CST.FlowCollection, properties: readonly string[]): CollectionNode {
    this.#pass(token.offset);
    this.#takeInline = undefined;
    const first = token.items.find((item) => item.key ?? item.value);
    const firstOffset = (first?.key ?? first?.value)?.offset ?? token.offset;
    const isExpanded = this.#text.slice(token.offset, firstOffset).includes("\n");
    const entries = token.items.flatMap((item) => this.#entry(item, { column: -1 }) ?? []);
    this.#pass(token.end[0]?.offset ?? token.offset);
    // The comments of an empty collection wait for what comes next.
    const tail = entries.length === 0 ? [] : this.#takeWaiting();
    const kind = token.start.type === "flow-map-start" ? "map" : "list";
    return { kind, properties, isFlow: true, isExpanded, entries, tail };
  }

  /** Returns undefined for an item that consists of comments and line breaks. */
  #entry(
    { start, key, sep, value }: CST.CollectionItem,
    parent: { readonly column: number },
  ): Entry | undefined {
    const significant = [...start.filter((token) => !isSpace(token)), key, sep?.[0], value].find(
      (token) => token && token.type !== "comma",
    );
    if (!significant) return undefined;
    const { offset } = significant;
    this.#pass(offset);
    const properties: string[] = [];
    const head: Comment[] = [];
    const entry: MutableEntry = {
      leading: this.#takeWaiting(),
      blankBefore: this.#isAfterBlankLine(offset),
      key: undefined,
      hasColon: sep?.some(({ type }) => type === "map-value-ind") ?? false,
      head,
      value: undefined,
      trailing: undefined,
    };
    const intoHead = (comment: Comment): void =>
      void head.push({ ...comment, isInline: comment.isInline && head.length === 0 });
    for (const token of start) {
      this.#property(token, properties);
      if (token.type === "seq-item-ind" || token.type === "explicit-key-ind") this.#takeInline = intoHead;
    }
    if (sep !== undefined || start.some(({ type }) => type === "explicit-key-ind")) {
      entry.key = this.#key(key, properties.splice(0), offset);
      this.#takeInline = intoHead;
    }
    for (const token of sep ?? []) {
      this.#property(token, properties);
      if (token.type === "map-value-ind") this.#takeInline = intoHead;
    }
    if (value === undefined) {
      if (properties.length > 0) {
        head.push(...this.#takeWaiting());
        entry.value = { kind: "scalar", properties, source: "", isAlias: false };
      }
      return entry;
    }
    if (!isBlockCollection(value)) {
      this.#pass(value.offset);
      head.push(...this.#takeWaiting());
    }
    entry.value = this.#node(value, properties, parent);
    if (!isBlockCollection(value) && value.type !== "block-scalar")
      this.#takeInline = (comment) => (entry.trailing = comment);
    return entry;
  }

  #key(key: CST.Token | null | undefined, properties: readonly string[], offset: number): ScalarNode {
    const node = key ? this.#node(key, properties, { column: -1 }) : undefined;
    if (node?.kind === "scalar" && !node.source.includes("\n")) return node;
    throw new UnsupportedSource(offset, "a key must be a text on one line");
  }

  /** Passes a token that may be an anchor or a tag. */
  #property(token: CST.SourceToken, into: string[]): void {
    if (isSpace(token)) return;
    this.#pass(token.offset);
    if (token.type === "anchor" || token.type === "tag") into.push(token.source);
  }

  /** Passes the comments before a token. */
  #pass(offset: number): void {
    while ((this.#comments[this.#passed]?.offset ?? Infinity) < offset) this.#passComment();
    this.#position = Math.max(this.#position, offset);
  }

  /** Passes the comments between the last token and the next one. */
  #settle(): void {
    while ((this.#comments[this.#passed]?.after ?? Infinity) <= this.#position) this.#passComment();
  }

  #passComment(): void {
    const written = this.#comments[this.#passed++];
    if (written === undefined) return;
    const { offset, text } = written;
    const column = offset - this.#lineStart(offset);
    const isInline = this.#text.slice(offset - column, offset).trim() !== "";
    const comment = { text, blankBefore: this.#isAfterBlankLine(offset) };
    const take = this.#takeInline;
    this.#takeInline = undefined;
    if (isInline && take !== undefined) take({ ...comment, isInline });
    else this.#waiting.push({ ...comment, isInline: false, column });
  }

  /** Takes the first of the waiting comments, or all. */
  #takeWaiting(count = this.#waiting.length): readonly Comment[] {
    return this.#waiting
      .splice(0, count)
      .map(({ text, isInline, blankBefore }) => ({ text, isInline, blankBefore }));
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf("\n", offset - 1) + 1;
  }

  /**
   * Whether a token is the first of its line, and the line above is blank. Looks only at the spaces before it: a file may
   * be one long line.
   */
  #isAfterBlankLine(offset: number): boolean {
    const end = this.#beforeSpaces(offset);
    const start = end + 1;
    if (this.#text[end] !== "\n" || start <= this.#keptUntil) return false;
    const above = this.#beforeSpaces(end);
    return above === -1 || this.#text[above] === "\n";
  }

  /** Returns the offset of the line break or of the last text before an offset; -1: there is none. */
  #beforeSpaces(offset: number): number {
    let at = offset - 1;
    while (at >= 0 && this.#text[at] !== "\n" && /\s/.test(this.#text.charAt(at))) at--;
    return at;
  }
}

interface WaitingComment extends Comment {
  readonly column: number;
}

/** An entry while it is read. */
type MutableEntry = { -readonly [Key in keyof Entry]: Entry[Key] };

const isBlockCollection = (token: CST.Token | undefined): token is CST.BlockMap | CST.BlockSequence =>
  token?.type === "block-map" || token?.type === "block-seq";

const isSpace = ({ type }: CST.SourceToken): boolean =>
  type === "space" || type === "newline" || type === "comment";

/** Returns the length of the first lines of a text, with their line breaks. */
function lengthOfLines(text: string, count: number): number {
  let end = 0;
  for (let line = 0; line < count && end < text.length; line++) {
    const lineBreak = text.indexOf("\n", end);
    end = lineBreak === -1 ? text.length : lineBreak + 1;
  }
  return end;
}

const leadingSpaces = (line: string): number => line.length - line.replace(/^ +/, "").length;
