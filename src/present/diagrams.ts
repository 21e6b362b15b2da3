import type { Drawing, DrawnEdge, DrawnNode } from "../model/drawing.js";
import { printable } from "../text.js";

const dotShapes: Readonly<Record<Shape, string>> = {
  box: "shape=box",
  diamond: "shape=diamond",
  frame: "shape=box, peripheries=2",
  hexagon: "shape=hexagon",
  rounded: "shape=box, style=rounded",
};

/** Draws a digraph for Graphviz. */
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

/** Escapes backslashes and HTML entities. Avoids empty lines, which have crashed Graphviz. */
function quoteForDot(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("&", "&amp;");
  const lines = escaped.split("\n").map((line) => line || " ");
  return `"${lines.join("\\n")}"`;
}

/** The default limits beyond which Mermaid refuses to draw. */
export const mermaidLimits = { characters: 50_000, edges: 500 } as const;

const mermaidBrackets: Readonly<Record<Shape, readonly [string, string]>> = {
  box: ["[", "]"],
  diamond: ["{", "}"],
  frame: ["[[", "]]"],
  hexagon: ["{{", "}}"],
  rounded: ["(", ")"],
};

/** Draws a flowchart for Mermaid. */
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
 * Matches everything but letters, digits, spaces, brackets around words and characters between words. Much of it has a
 * meaning in Mermaid (`style: #…;` even within quotes), in its Markdown (`1)` starts a list, `www.` a link), as its
 * internal markers `ﬂ°` and `¶ß`, or in HTML.
 */
const mermaidSyntax =
  /[^\p{L}\p{M}\p{N} (),./_-]|(?<![\p{L}\p{N}])[./_-]|[./_-](?![\p{L}\p{N}])|(?<=www)\.|(?<!\p{L})\)|[ﬂß]|^ +| +$/giu;

function quoteForMermaid(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(mermaidSyntax, toEntities));
  return `"${lines.join("<br/>")}"`;
}

const toEntities = (characters: string): string =>
  Array.from(characters, (character) => `#${character.codePointAt(0) ?? 0};`).join("");

/** Lone surrogates and non-characters, which are not allowed in diagrams. */
const invalidCharacters = /[\p{Surrogate}\ufffe\uffff]/gu;

/** Keeps line breaks and escapes characters that cannot be drawn. */
function toDrawableText(text: string): string {
  const lines = text.replace(/\r\n?|[\u2028\u2029]/g, "\n").replaceAll("\t", " ");
  return printable(lines).replace(invalidCharacters, "\ufffd");
}

/** Returns the text of a node: its name or id, its label and its kind. */
export function nodeText(node: DrawnNode): string {
  const { id, name = id, label = name } = node;
  return [name, ...(label === name ? [] : [label]), kindText(node)].map(toDrawableText).join("\n");
}

export function kindText({ kind, note }: DrawnNode): string {
  if (kind === "") return note ?? "";
  return `(${note === undefined ? kind : `${kind}, ${note}`})`;
}

/** Returns the text of an edge: its label, or its kind. */
export function edgeText({ label, kind }: DrawnEdge): string {
  return toDrawableText(label ?? kind?.replaceAll("_", " ") ?? "");
}

/** The shape of a node. Kinds that are not listed are boxes. */
type Shape = "diamond" | "box" | "frame" | "hexagon" | "rounded";

const shapes: Readonly<Record<string, Shape>> = {
  decision: "diamond",
  workflow: "frame",
  tool: "hexagon",
  policy: "hexagon",
  override: "hexagon",
  action: "rounded",
  endpoint: "rounded",
  output: "rounded",
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

/** Draws dashed edges for dependencies, advice and rejected proposals: no flow goes along them. */
const isDashed = ({ kind }: DrawnEdge): boolean => kind !== undefined && dashedKinds.has(kind);

/** Returns identifiers that are valid in every diagram language: `n0`, `n1` and so on. */
function nodeIdentifiers(nodes: readonly DrawnNode[]): (id: string) => string {
  const names = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  return (id) => {
    const name = names.get(id);
    if (name === undefined) throw new Error(`an edge leads to \`${id}\`, which is not a node of the drawing`);
    return name;
  };
}
