import type { TextNode } from "../definition/yaml-source.js";
import { readTree } from "../definition/yaml-source.js";
import type { Path } from "../definition/yaml-source.js";

/** A place in the text of a definition file. */
export interface TextPlace {
  /** The document that contains it. */
  readonly root: TextNode;
  /** The path of the value, or of the map that contains the key. */
  readonly path: Path;
  readonly role: "key" | "value";
  readonly node: TextNode;
}

/** Returns the key or the scalar at an offset; undefined between them, and in a file that exceeds a limit. */
export function placeAt(text: string, offset: number): TextPlace | undefined {
  return findScalar(text, ({ start, end }) => start <= offset && offset <= end);
}

/** Where the cursor is while a key or a value is being written. */
export interface WritingPlace extends TextPlace {
  /** The start and the end of the word at the cursor. */
  readonly from: number;
  readonly to: number;
  /** What precedes the cursor in the key or value, without its opening quote. */
  readonly written: string;
  readonly isQuoted: boolean;
  /** Whether a key has its colon. */
  readonly hasColon: boolean;
}

/** Stands for the word at the cursor. It is a name in YAML and in expressions. */
const marker = "zz9cursor9zz";

const wordBefore = /[\p{L}\p{N}_-]*$/u;
const wordAfter = /^[\p{L}\p{N}_-]*/u;

/** Returns what is being written at an offset, also where the file is not valid yet. */
export function writingPlaceAt(text: string, offset: number): WritingPlace | undefined {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  const from = offset - (wordBefore.exec(before)?.[0].length ?? 0);
  const to = offset + (wordAfter.exec(text.slice(offset, offset + 256))?.[0].length ?? 0);
  const rest = /^.*/.exec(text.slice(to))?.[0] ?? "";
  const hasColon = /^["']?\s*:(?:\s|$)/.test(rest);
  const isKeyLine = /^\s*(?:- +)*$/.test(text.slice(lineStart, from)) && rest.trim() === "";
  const within = (replacement: string): WritingPlace | undefined => {
    const marked = text.slice(0, from) + replacement + text.slice(to);
    const found = findScalar(marked, ({ start, end }) => marked.slice(start, end).includes(marker));
    if (found === undefined) return undefined;
    const quote = /^["']/.exec(marked.slice(found.node.start))?.[0].length ?? 0;
    const written = text.slice(Math.min(found.node.start + quote, from), offset);
    return { ...found, from, to, written, isQuoted: quote > 0, hasColon };
  };
  const asWord = within(marker);
  const isText = asWord?.role === "value" && asWord.node.value !== marker;
  return isKeyLine && !isText ? (within(`${marker}:`) ?? asWord) : asWord;
}

function findScalar(text: string, isWanted: (node: TextNode) => boolean): TextPlace | undefined {
  for (const root of readTree(text) ?? []) {
    const found = root && search(root, [], isWanted);
    if (root !== undefined && found !== undefined) return { root, ...found };
  }
  return undefined;
}

function search(
  node: TextNode,
  path: Path,
  isWanted: (node: TextNode) => boolean,
): Omit<TextPlace, "root"> | undefined {
  if (node.kind === "scalar") return isWanted(node) ? { path, role: "value", node } : undefined;
  for (const { key, value } of node.entries) {
    if (key.kind === "scalar" && isWanted(key)) return { path, role: "key", node: key };
    const found = value && search(value, [...path, String(key.value)], isWanted);
    if (found !== undefined) return found;
  }
  for (const [index, item] of node.items.entries()) {
    const found = item && search(item, [...path, index], isWanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the part of a document at a path. */
export function nodeAt(root: TextNode | undefined, path: Path): TextNode | undefined {
  let node = root;
  for (const step of path) {
    node = typeof step === "number" ? node?.items[step] : valueOf(node, step);
  }
  return node;
}

export const valueOf = (node: TextNode | undefined, key: string): TextNode | undefined =>
  node?.entries.find((each) => each.key.value === key)?.value;

/** Returns the text of a scalar; undefined for anything else. */
export const textOf = (node: TextNode | undefined): string | undefined =>
  node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
