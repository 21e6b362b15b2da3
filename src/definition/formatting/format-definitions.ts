import { equal } from "../../expression/equal.js";
import type { Json } from "../../model/json.js";
import type { SchemaNode } from "../schema-position.js";
import { documentSchema, schemaAtKey, shapeOf } from "../schema-position.js";
import type { Position } from "../yaml-source.js";
import { commentsIn, positionIn, readYaml } from "../yaml-source.js";
import { printJson, printYaml } from "./print-source.js";
import type { CollectionNode, Comment, DocumentNode, Entry, SourceNode } from "./source-tree.js";
import { readSourceTree, UnsupportedSource } from "./source-tree.js";

interface FormatProblem extends Position {
  readonly message: string;
  readonly hint?: string | undefined;
}

export type Formatted =
  | { readonly type: "formatted"; readonly text: string }
  /** The text is not valid YAML or exceeds the limits of a definition file, or formatting would change its meaning. */
  | { readonly type: "failed"; readonly problems: readonly FormatProblem[] };

/**
 * Formats the text of a definition file: the order of keys, the indentation, and what is on one line. Values, comments
 * and the spelling of texts stay as they are. The result is read again, so that a mistake here never changes a
 * definition.
 */
export function formatDefinitions(
  text: string,
  { isJson = false }: { readonly isJson?: boolean } = {},
): Formatted {
  const { documents, errors } = readYaml(text);
  if (errors.length > 0) return { type: "failed", problems: errors };
  let trees: readonly DocumentNode[];
  try {
    trees = readSourceTree(text);
  } catch (error) {
    if (!(error instanceof UnsupportedSource)) throw error;
    return failed(positionIn(text, error.offset), error.message);
  }
  const original: Content = { values: documents.map(({ value }) => value), comments: sortedComments(text) };
  const print = isJson && trees.every(isWrittenAsJson) ? printJson : printYaml;
  // An alias must stay after its anchor, so that some maps may have to keep their order.
  for (const sorted of ["all", "without anchors", "none"] as const) {
    const printed = print(trees.map((tree) => sortDocument(tree, sorted)));
    if (printed === text || hasContent(printed, original))
      return { type: "formatted", text: withLineEndsOf(text, printed) };
  }
  return failed({ line: 1, column: 1 }, "the file cannot be formatted without changing what it means");
}

const failed = (position: Position, message: string): Formatted => ({
  type: "failed",
  problems: [{ ...position, message }],
});

const isWrittenAsJson = ({ root }: DocumentNode): boolean =>
  root !== undefined && (root.kind === "map" || root.kind === "list") && root.isFlow;

/** What formatting must not change. */
interface Content {
  readonly values: readonly unknown[];
  readonly comments: string;
}

function hasContent(text: string, { values, comments }: Content): boolean {
  const { documents, errors } = readYaml(text);
  return (
    errors.length === 0 &&
    equal(documents.map(({ value }) => value) as Json, values as Json) &&
    sortedComments(text) === comments
  );
}

const sortedComments = (text: string): string =>
  commentsIn(text)
    .map((comment) => comment.text)
    .sort()
    .join("\n");

/** Files with line ends of Windows keep them. */
const withLineEndsOf = (original: string, text: string): string =>
  original.includes("\r\n") ? text.replaceAll(/\r?\n/g, "\r\n") : text;

/** The maps whose keys are sorted. */
type Sorted = "all" | "without anchors" | "none";

function sortDocument(document: DocumentNode, sorted: Sorted): DocumentNode {
  const { root } = document;
  if (root === undefined || sorted === "none") return document;
  return { ...document, root: sortKeys(root, documentSchema, sorted) };
}

/** Writes the keys that the schema knows in its order, and after them all others. Maps with free keys keep theirs. */
function sortKeys(node: SourceNode, schema: SchemaNode | undefined, sorted: Sorted): SourceNode {
  if (schema === undefined || node.kind === "scalar" || node.kind === "block-scalar") return node;
  const shape = shapeOf(schema, (key) => textAt(node, key));
  const entries = node.entries.map((entry) =>
    withSortedValue(entry, node.kind === "list" ? shape.items : schemaAtKey(shape, keyOf(entry)), sorted),
  );
  if (node.kind === "list" || (sorted === "without anchors" && entries.filter(hasAnchors).length > 1))
    return { ...node, entries };
  const order = new Map(Object.keys(shape.properties).map((key, index) => [key, index]));
  const rank = (entry: Entry): number => order.get(keyOf(entry)) ?? order.size;
  return {
    ...node,
    entries: withFirstComments(
      entries,
      entries.toSorted((a, b) => rank(a) - rank(b)),
    ),
  };
}

function withSortedValue(entry: Entry, schema: SchemaNode | undefined, sorted: Sorted): Entry {
  return entry.value === undefined ? entry : { ...entry, value: sortKeys(entry.value, schema, sorted) };
}

/** Comments before the first entry that a blank line separates from it are about the whole map: they stay first. */
function withFirstComments(before: readonly Entry[], after: readonly Entry[]): readonly Entry[] {
  const [first] = before;
  const [next, ...rest] = after;
  if (first === undefined || next === undefined || first === next) return after;
  const { leading, blankBefore } = first;
  const own = blankBefore ? leading.length : leading.findLastIndex((each) => each.blankBefore);
  if (own <= 0) return after;
  const moved = { ...first, leading: leading.slice(own) };
  return [
    {
      ...next,
      ...afterBlankLine(next),
      leading: [...leading.slice(0, own), ...afterBlankLine(next).leading],
    },
    ...rest.map((entry) => (entry === first ? moved : entry)),
  ];
}

/** The entry after a blank line. */
function afterBlankLine({ leading, blankBefore }: Entry): Pick<Entry, "leading" | "blankBefore"> {
  const [first, ...rest] = leading;
  if (first === undefined) return { leading, blankBefore: true };
  const separated: Comment = { ...first, blankBefore: true };
  return { leading: [separated, ...rest], blankBefore };
}

function hasAnchors(entry: Entry): boolean {
  return [entry.key, entry.value].some(isAnchored);
}

function isAnchored(node: SourceNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.properties.some((each) => each.startsWith("&"))) return true;
  if (node.kind === "scalar") return node.isAlias;
  return node.kind !== "block-scalar" && node.entries.some(hasAnchors);
}

const keyOf = ({ key }: Entry): string => (key === undefined ? "" : unquoted(key.source));

/** Returns the text at a key of a map, if it is a plain or quoted text. */
function textAt({ entries }: CollectionNode, key: string): string | undefined {
  const value = entries.find((entry) => keyOf(entry) === key)?.value;
  return value?.kind === "scalar" ? unquoted(value.source) : undefined;
}

/** The names of keys and types contain nothing that is escaped. */
const unquoted = (source: string): string => source.replace(/^(["'])(.*)\1$/s, "$2");
