import type { Drawing } from "../model/drawing.js";
import type { Shape } from "./drawing-text.js";
import { edgeText, isDashed, nodeNames, nodeText, shapeOf } from "./drawing-text.js";

/** More than this mermaid refuses to draw unless its settings say otherwise. */
export const mermaidLimits = { characters: 50_000, edges: 500 } as const;

const brackets: Readonly<Record<Shape, readonly [string, string]>> = {
  box: ["[", "]"],
  diamond: ["{", "}"],
  frame: ["[[", "]]"],
  hexagon: ["{{", "}}"],
  rounded: ["(", ")"],
};

/** The drawing as a flowchart for mermaid. */
export function drawMermaid({ nodes, edges }: Drawing): string {
  const nameOf = nodeNames(nodes);
  const lines = nodes.map((node) => {
    const [open, close] = brackets[shapeOf(node)];
    return `${nameOf(node.id)}${open}${quoted(nodeText(node))}${close}`;
  });
  const arrows = edges.map((edge) => {
    const text = edgeText(edge);
    const arrow = isDashed(edge) ? "-.->" : "-->";
    return `${nameOf(edge.from)} ${arrow}${text === "" ? "" : `|${quoted(text)}|`} ${nameOf(edge.to)}`;
  });
  return ["flowchart TD", ...[...lines, ...arrows].map((line) => `  ${line}`)].join("\n") + "\n";
}

/**
 * All but letters, digits, blanks, brackets around words, and what joins words. Much of it means something to mermaid
 * (as `style: #…;` does even within quotes), to its Markdown (`1)` begins a list, `www.` a link), to its own marks
 * `ﬂ°` and `¶ß`, or to HTML.
 */
const meaningful =
  /[^\p{L}\p{M}\p{N} (),./_-]|(?<![\p{L}\p{N}])[./_-]|[./_-](?![\p{L}\p{N}])|(?<=www)\.|(?<!\p{L})\)|[ﬂß]|^ +| +$/giu;

function quoted(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(meaningful, numbered));
  return `"${lines.join("<br/>")}"`;
}

const numbered = (characters: string): string =>
  Array.from(characters, (character) => `#${character.codePointAt(0) ?? 0};`).join("");
