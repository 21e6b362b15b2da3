import type { Drawing, DrawnEdge, DrawnNode } from "../model/drawing.js";
import { printable } from "../text.js";

const dotShapes: Readonly<Record<Shape, string>> = {
  box: "shape=box",
  diamond: "shape=diamond",
  frame: "shape=box, peripheries=2",
  hexagon: "shape=hexagon",
  rounded: "shape=box, style=rounded",
};

/** The drawing as a digraph for Graphviz. */
export function drawDot({ nodes, edges }: Drawing): string {
  const nameOf = nodeIdentifiers(nodes);
  const lines = nodes.map(
    (node) => `${nameOf(node.id)} [label=${quoteForDot(nodeText(node))}, ${dotShapes[shapeOf(node)]}];`,
  );
  const arrows = edges.map((edge) => {
    const text = edgeText(edge);
    const attributes = [
      ...(text === "" ? [] : [`label=${quoteForDot(text)}`]),
      ...(isDashed(edge) ? ["style=dashed"] : []),
    ];
    const list = attributes.length === 0 ? "" : ` [${attributes.join(", ")}]`;
    return `${nameOf(edge.from)} -> ${nameOf(edge.to)}${list};`;
  });
  return ["digraph decisions {", ...[...lines, ...arrows].map((line) => `  ${line}`), "}"].join("\n") + "\n";
}

/** Backslashes speak to Graphviz, and so do the entities of HTML; a line without anything has crashed it. */
function quoteForDot(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("&", "&amp;");
  const lines = escaped.split("\n").map((line) => line || " ");
  return `"${lines.join("\\n")}"`;
}

/** More than this mermaid refuses to draw unless its settings say otherwise. */
export const mermaidLimits = { characters: 50_000, edges: 500 } as const;

const mermaidBrackets: Readonly<Record<Shape, readonly [string, string]>> = {
  box: ["[", "]"],
  diamond: ["{", "}"],
  frame: ["[[", "]]"],
  hexagon: ["{{", "}}"],
  rounded: ["(", ")"],
};

/** The drawing as a flowchart for mermaid. */
export function drawMermaid({ nodes, edges }: Drawing): string {
  const nameOf = nodeIdentifiers(nodes);
  const lines = nodes.map((node) => {
    const [open, close] = mermaidBrackets[shapeOf(node)];
    return `${nameOf(node.id)}${open}${quoteForMermaid(nodeText(node))}${close}`;
  });
  const arrows = edges.map((edge) => {
    const text = edgeText(edge);
    const arrow = isDashed(edge) ? "-.->" : "-->";
    return `${nameOf(edge.from)} ${arrow}${text === "" ? "" : `|${quoteForMermaid(text)}|`} ${nameOf(edge.to)}`;
  });
  return ["flowchart TD", ...[...lines, ...arrows].map((line) => `  ${line}`)].join("\n") + "\n";
}

/**
 * All but letters, digits, blanks, brackets around words, and what joins words. Much of it means something to mermaid
 * (as `style: #…;` does even within quotes), to its Markdown (`1)` begins a list, `www.` a link), to its own marks
 * `ﬂ°` and `¶ß`, or to HTML.
 */
const mermaidSyntax =
  /[^\p{L}\p{M}\p{N} (),./_-]|(?<![\p{L}\p{N}])[./_-]|[./_-](?![\p{L}\p{N}])|(?<=www)\.|(?<!\p{L})\)|[ﬂß]|^ +| +$/giu;

function quoteForMermaid(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(mermaidSyntax, toEntities));
  return `"${lines.join("<br/>")}"`;
}

const toEntities = (characters: string): string =>
  Array.from(characters, (character) => `#${character.codePointAt(0) ?? 0};`).join("");

/** Halves of characters, and what is none: no picture may hold them. */
const invalidCharacters = /[\p{Surrogate}\ufffe\uffff]/gu;

/** Any text as a picture can hold it: line breaks stay, what cannot be drawn is written out. */
function toDrawableText(text: string): string {
  const lines = text.replace(/\r\n?|[\u2028\u2029]/g, "\n").replaceAll("\t", " ");
  return printable(lines).replace(invalidCharacters, "\ufffd");
}

/** What stands in a node: its id or name, what it is called, what it is. */
export function nodeText(node: DrawnNode): string {
  const { id, name = id, label = name } = node;
  return [name, ...(label === name ? [] : [label]), kindText(node)].map(toDrawableText).join("\n");
}

export function kindText({ kind, note }: DrawnNode): string {
  if (kind === "") return note ?? "";
  return `(${note === undefined ? kind : `${kind}, ${note}`})`;
}

/** What stands at an edge; nothing where it speaks for itself. */
export function edgeText({ label, kind }: DrawnEdge): string {
  return toDrawableText(label ?? kind?.replaceAll("_", " ") ?? "");
}

/** How kinds are told apart; a kind that is not here is a box. */
type Shape = "diamond" | "box" | "frame" | "hexagon" | "rounded";

const shapes: Readonly<Record<string, Shape>> = {
  decision: "diamond",
  workflow: "frame",
  tool: "hexagon",
  policy: "hexagon",
  override: "hexagon",
  action: "rounded",
  endpoint: "rounded",
  result: "rounded",
};

const shapeOf = ({ kind }: DrawnNode): Shape =>
  (Object.hasOwn(shapes, kind) ? shapes[kind] : undefined) ?? "box";

const dashedKinds: ReadonlySet<string> = new Set([
  "depends_on",
  "fetches",
  "requires",
  "precedent",
  "proposed",
  "same_check",
]);

/** Whether an edge is of those that nobody goes along: what is needed, advice, and what did not come about. */
const isDashed = ({ kind }: DrawnEdge): boolean => kind !== undefined && dashedKinds.has(kind);

/** Names for nodes that any language of pictures takes: `n0`, `n1` and so on, by id. */
function nodeIdentifiers(nodes: readonly DrawnNode[]): (id: string) => string {
  const names = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  return (id) => {
    const name = names.get(id);
    if (name === undefined) throw new Error(`an edge leads to \`${id}\`, which is not drawn`);
    return name;
  };
}
