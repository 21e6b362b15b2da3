import type { DrawnEdge, DrawnNode } from "../model/drawing.js";
import { printable } from "../printable.js";

/** Halves of characters, and what is none: no picture may hold them. */
const noCharacters = /[\p{Surrogate}\ufffe\uffff]/gu;

/** Any text as a picture can hold it: line breaks stay, what cannot be drawn is written out. */
export function drawable(text: string): string {
  const lines = text.replace(/\r\n?|[\u2028\u2029]/g, "\n").replaceAll("\t", " ");
  return printable(lines).replace(noCharacters, "\ufffd");
}

/** What stands in a node: its id or name, what it is called, what it is. */
export function nodeText(node: DrawnNode): string {
  const { id, name = id, label = name } = node;
  return [name, ...(label === name ? [] : [label]), kindText(node)].map(drawable).join("\n");
}

export function kindText({ kind, note }: DrawnNode): string {
  if (kind === "") return note ?? "";
  return `(${note === undefined ? kind : `${kind}, ${note}`})`;
}

/** What stands at an edge; nothing where it speaks for itself. */
export function edgeText({ label, kind }: DrawnEdge): string {
  return drawable(label ?? kind?.replaceAll("_", " ") ?? "");
}

/** How kinds are told apart; a kind that is not here is a box. */
export type Shape = "diamond" | "box" | "frame" | "hexagon" | "rounded";

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

export const shapeOf = ({ kind }: DrawnNode): Shape =>
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
export const isDashed = ({ kind }: DrawnEdge): boolean => kind !== undefined && dashedKinds.has(kind);

/** Names for nodes that any language of pictures takes: `n0`, `n1` and so on, by id. */
export function nodeNames(nodes: readonly DrawnNode[]): (id: string) => string {
  const names = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  return (id) => {
    const name = names.get(id);
    if (name === undefined) throw new Error(`an edge leads to \`${id}\`, which is not drawn`);
    return name;
  };
}
