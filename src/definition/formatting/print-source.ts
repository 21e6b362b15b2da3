import type {
  BlockScalarNode,
  CollectionNode,
  Comment,
  DocumentNode,
  Entry,
  SourceNode,
} from "./source-tree.js";

/** Longer lists and maps in brackets are broken into lines. */
const maxWidth = 110;

/** Prints documents as block YAML; a list or map in brackets stays on one line where it fits. */
export function printYaml(documents: readonly DocumentNode[]): string {
  const lines: string[] = [];
  for (const [index, document] of documents.entries()) {
    const { directives, hasMarker, markerComment, root, tail } = document;
    // The first document needs none, unless it would be no document without it.
    const needsMarker = index > 0 || directives.length > 0 || (hasMarker && root === undefined);
    if (directives.length > 0 && index > 0) lines.push("...");
    lines.push(...directives);
    if (needsMarker) lines.push(withComment("---", markerComment));
    else if (markerComment !== undefined) lines.push(markerComment.text);
    lines.push(...printComments(document.leading, 0, true), ...(root ? printRoot(root) : []));
    lines.push(...printComments(tail, 0, lines.length === 0 || keepsLineBreaks(root)));
  }
  return toText(lines);
}

const toText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** Prints a file that is JSON: everything in brackets, expanded where it was or where a line would be too long. */
export function printJson(documents: readonly DocumentNode[]): string {
  const lines = documents.flatMap(({ leading, root, tail }) => [
    ...printComments(leading, 0, true),
    ...(root ? expand(root, { indent: 0, before: "", after: "" }) : []),
    ...printComments(tail, 0, false),
  ]);
  return toText(lines);
}

function printRoot(root: SourceNode): readonly string[] {
  if (isBlock(root, 0)) return [...root.properties, ...printCollection(root, 0)];
  return printValue(root, "", 0);
}

function printCollection(node: CollectionNode, indent: number): readonly string[] {
  const lines: string[] = [];
  // A blank line would belong to a text that keeps its last line breaks.
  let noBlank = true;
  for (const entry of node.entries) {
    const leading = printComments(entry.leading, indent, noBlank);
    lines.push(...leading);
    if (entry.blankBefore && (leading.length > 0 || !noBlank)) lines.push("");
    lines.push(...printEntry(entry, node.kind === "list", indent));
    noBlank = keepsLineBreaks(entry.value);
  }
  return [...lines, ...printComments(node.tail, indent, noBlank)];
}

function keepsLineBreaks(node: SourceNode | undefined): boolean {
  if (node === undefined || node.kind === "scalar") return false;
  if (node.kind === "block-scalar") return node.header.includes("+");
  return !node.isFlow && node.tail.length === 0 && keepsLineBreaks(node.entries.at(-1)?.value);
}

function printEntry(entry: Entry, isItem: boolean, indent: number): readonly string[] {
  // A pair in a list in brackets is a map with one entry.
  if (isItem && entry.key !== undefined) {
    const [first = "", ...rest] = printEntry(entry, false, indent + 2);
    return [`${spaces(indent)}- ${first.trimStart()}`, ...rest];
  }
  const before = spaces(indent) + (isItem ? "-" : `${keyText(entry)}:`);
  const { value, head, trailing } = entry;
  const inline = head.at(0)?.isInline ? head.at(0) : undefined;
  const more = inline === undefined ? head : head.slice(1);
  if (value === undefined) return [withComment(before, inline), ...printComments(more, indent, true)];
  if (!isBlock(value, before.length + 1)) {
    if (head.length === 0) return printValue(value, `${before} `, indent, trailing);
    const own = printComments(more, indent + 2, true);
    return [withComment(before, inline), ...own, ...printValue(value, spaces(indent + 2), indent, trailing)];
  }
  const ofLine = inline ?? (more.length === 0 ? trailing : undefined);
  const own = ofLine === trailing || trailing === undefined ? more : [...more, trailing];
  const nested = [...printComments(own, indent + 2, true), ...printCollection(value, indent + 2)];
  const start = [before, ...value.properties].join(" ");
  if (!isItem || value.properties.length > 0 || ofLine !== undefined)
    return [withComment(start, ofLine), ...nested];
  const [first = "", ...rest] = nested;
  if (rest[0] === "") rest.shift();
  return [`${before} ${first.trimStart()}`, ...rest];
}

/** Prints a value that is no block collection; `before` is the beginning of its line. */
function printValue(node: SourceNode, before: string, indent: number, trailing?: Comment): readonly string[] {
  const start = before + node.properties.map((each) => `${each} `).join("");
  switch (node.kind) {
    case "scalar": {
      const [first = "", ...rest] = node.source.split("\n");
      const lines = [start + first, ...rest.map((line) => continued(line, indent + 2))].map(
        trimLineEnd(node.source),
      );
      return [...lines.slice(0, -1), withComment((lines.at(-1) ?? "").trimEnd(), trailing)];
    }
    case "block-scalar":
      return [withComment(start + headerText(node), node.comment), ...blockScalarLines(node, indent + 2)];
    case "map":
    case "list":
      return [withComment(before + (flowText(node, Infinity) ?? ""), trailing)];
  }
}

const continued = (line: string, indent: number): string => {
  const text = line.replace(/^[ \t]+/, "");
  return text.trim() === "" ? "" : spaces(indent) + text;
};

/** In quotes, the end of a line may be an escaped blank. */
const trimLineEnd =
  (source: string) =>
  (line: string): string =>
    /^["']/.test(source) ? line.replace(/\r$/, "") : line.trimEnd();

const headerText = ({ header }: BlockScalarNode): string => header.replace(/\d/, "2");

function blockScalarLines({ header, lines }: BlockScalarNode, indent: number): readonly string[] {
  const kept = [...lines];
  if (!header.includes("+")) while (kept.at(-1) === "") kept.pop();
  return kept.map((line) => (line === "" ? "" : spaces(indent) + line));
}

/** Whether a value is printed as a block collection. */
function isBlock(node: SourceNode, column: number): node is CollectionNode {
  if (node.kind !== "map" && node.kind !== "list") return false;
  if (!node.isFlow) return true;
  return node.entries.length > 0 && flowText(node, maxWidth - column) === undefined;
}

/** Returns a list or map in brackets on one line; undefined if it is too wide or contains comments or line breaks. */
function flowText(node: SourceNode, room: number): string | undefined {
  const properties = node.properties.map((each) => `${each} `).join("");
  if (node.kind === "block-scalar") return undefined;
  if (node.kind === "scalar") {
    const text = (properties + node.source).trimEnd();
    return node.source.includes("\n") || text.length > room ? undefined : text;
  }
  if (!node.isFlow || node.tail.length > 0) return undefined;
  if (node.entries.length === 0) return `${properties}${node.kind === "map" ? "{}" : "[]"}`;
  const [open, close] = node.kind === "map" ? ["{ ", " }"] : ["[", "]"];
  let text = properties + open;
  for (const [index, entry] of node.entries.entries()) {
    if (entry.leading.length > 0 || entry.head.length > 0 || entry.trailing !== undefined) return undefined;
    if (index > 0) text += ", ";
    const key = entry.key && keyText(entry);
    if (key !== undefined) text += entry.hasColon ? `${key}:` : key;
    if (entry.value === undefined) continue;
    const value = flowText(entry.value, room - text.length);
    if (value === undefined) return undefined;
    text += key === undefined ? value : ` ${value}`;
  }
  text += close;
  return text.length > room ? undefined : text;
}

interface ExpandedPlace {
  readonly indent: number;
  /** The beginning of its line, after the indentation. */
  readonly before: string;
  /** What follows it: the comma. */
  readonly after: string;
  readonly trailing?: Comment | undefined;
}

/** Prints a value of a JSON file. */
function expand(node: SourceNode, { indent, before, after, trailing }: ExpandedPlace): readonly string[] {
  const start = spaces(indent) + before;
  const end = (text: string): string => withComment(text + after, trailing);
  if (node.kind === "scalar" || node.kind === "block-scalar") {
    const lines = printValue(node, start, indent);
    return [...lines.slice(0, -1), end(lines.at(-1) ?? "")];
  }
  const line =
    node.isExpanded && node.entries.length > 0
      ? undefined
      : flowText(node, maxWidth - start.length - after.length);
  if (line !== undefined) return [end(start + line)];
  const properties = node.properties.map((each) => `${each} `).join("");
  const [open, close] = node.kind === "map" ? ["{", "}"] : ["[", "]"];
  const entries = node.entries.flatMap((entry, index) => {
    const isLast = index === node.entries.length - 1;
    const leading = printComments(entry.leading, indent + 2, index === 0);
    const blank = entry.blankBefore && (leading.length > 0 || index > 0) ? [""] : [];
    return [...leading, ...blank, ...expandEntry(entry, indent + 2, isLast ? "" : ",")];
  });
  const tail = printComments(node.tail, indent + 2, false);
  return [start + properties + open, ...entries, ...tail, end(spaces(indent) + close)];
}

function expandEntry(entry: Entry, indent: number, after: string): readonly string[] {
  const { key, hasColon, head, value, trailing } = entry;
  const before = key === undefined ? "" : keyText(entry) + (hasColon ? ":" : "");
  if (value === undefined) {
    const line = withComment(spaces(indent) + before + after, head.at(0));
    return [line, ...printComments(head.slice(1), indent, true)];
  }
  const separator = before === "" ? "" : " ";
  if (head.length === 0) return expand(value, { indent, before: before + separator, after, trailing });
  const own = printComments(head, indent, true);
  return [...own, ...expand(value, { indent, before: before + separator, after, trailing })];
}

function keyText({ key }: Entry): string {
  if (key === undefined) return "";
  const text = [...key.properties, key.source].join(" ");
  return key.isAlias ? `${text} ` : text;
}

function printComments(comments: readonly Comment[], indent: number, isFirst: boolean): readonly string[] {
  return comments.flatMap(({ text, blankBefore }, index) => [
    ...(blankBefore && !(isFirst && index === 0) ? [""] : []),
    spaces(indent) + text,
  ]);
}

const withComment = (line: string, comment: Comment | undefined): string =>
  comment === undefined ? line : `${line} ${comment.text}`;

const spaces = (count: number): string => " ".repeat(count);
