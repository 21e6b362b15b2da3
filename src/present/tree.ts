import type { Drawing, DrawnEdge, DrawnNode } from "../model/drawing.js";
import { edgeText, kindText } from "./diagrams.js";
import type { Colour, Style } from "./format.js";
import { displayWidth, truncate, wrap } from "./text-width.js";
import { oneLine } from "../text.js";

/** A node of a tree with its children. */
export interface Branch {
  readonly mark?: Mark;
  /** Printed first, never wrapped or truncated. */
  readonly name?: string;
  readonly colour?: Colour;
  /** At most one of these follows the name: a value is truncated, the others are wrapped. */
  readonly sentence?: string;
  readonly value?: string;
  readonly id?: string;
  readonly under?: readonly Branch[];
}

type Mark = "✓" | "✗" | "!" | "–";

const markColours: Readonly<Record<Mark, Colour>> = { "✓": "green", "✗": "red", "!": "yellow", "–": "dim" };

/** Draws a tree as wide as the terminal. */
export function drawBranches(root: Branch, style: Style): string {
  const lines = drawNodes(root, (branch, place) => ({
    lines: branchLines(branch, place, style),
    children: branch.under ?? [],
  }));
  return lines.join("\n");
}

/** Returns the tree with its values as ids, so that none is truncated. */
export function withFullValues({ value, under = [], ...branch }: Branch): Branch {
  return { ...branch, ...(value !== undefined && { id: value }), under: under.map(withFullValues) };
}

/** A graph deeper than this continues as a new tree further down. */
const maxDepth = 24;

/** Draws a graph as a tree: each node once in full, each edge on its own line. */
export function drawTree({ nodes, edges, roots }: Drawing, style: Style): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const outgoing = edgesByStart(edges);
  const drawn = new Set<string>();
  const lines: string[] = [];
  const pending = [...roots, ...byId.keys()].reverse();
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const root = byId.get(id);
    if (root === undefined || drawn.has(id)) continue;
    const postponed: string[] = [];
    const path: string[] = [];
    const start: GraphNode = { node: root };
    lines.push(
      ...drawNodes(start, (step, place) => {
        const { node } = step;
        path.length = place.depth;
        const isParent = outgoing.has(node.id);
        const isDrawn = drawn.has(node.id);
        const note = stopNote({ isParent, isDrawn, isOnPath: path.includes(node.id), depth: place.depth });
        const isFull = !isDrawn && note === "";
        const line = graphLine(step, { prefix: place.prefix, isParent, isFull, note }, style);
        if (note === furtherDown) postponed.push(node.id);
        if (!isFull) return { lines: [line], children: [] };
        drawn.add(node.id);
        path.push(node.id);
        const children = (outgoing.get(node.id) ?? []).flatMap((edge) => {
          const target = byId.get(edge.to);
          return target === undefined ? [] : [{ node: target, edge }];
        });
        return { lines: [line], children };
      }),
    );
    pending.push(...postponed.reverse());
  }
  return lines.join("\n");
}

/** Where a node is drawn: the text before its first line, and before every line below it. */
interface Place {
  readonly depth: number;
  readonly prefix: string;
  readonly indent: string;
}

interface Drawn<Node> {
  readonly lines: readonly string[];
  readonly children: readonly Node[];
}

/** Returns the lines of all nodes, parents before children; without recursion, as a tree may be deep. */
function drawNodes<Node>(root: Node, draw: (node: Node, place: Place) => Drawn<Node>): readonly string[] {
  const lines: string[] = [];
  const stack = [{ node: root, place: { depth: 0, prefix: "", indent: "" } }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { depth, indent } = next.place;
    const drawn = draw(next.node, next.place);
    lines.push(...drawn.lines);
    const children = drawn.children.map((node, index) => {
      const isLast = index === drawn.children.length - 1;
      const prefix = `${indent}${isLast ? "└─ " : "├─ "}`;
      return { node, place: { depth: depth + 1, prefix, indent: `${indent}${isLast ? "   " : "│  "}` } };
    });
    stack.push(...children.reverse());
  }
  return lines;
}

function branchLines(
  branch: Branch,
  { prefix, indent }: Place,
  { columns, paint }: Style,
): readonly string[] {
  const { mark, name, colour, under = [] } = branch;
  const label = name === undefined ? "" : oneLine(name);
  const [first = "", ...rest] = branchTexts(branch, {
    first:
      columns -
      displayWidth(prefix) -
      (mark === undefined ? 0 : 2) -
      (label === "" ? 0 : displayWidth(label) + 2),
    rest: columns - displayWidth(indent) - 3,
  });
  const colon = label === "" || (first === "" && rest.length === 0) ? "" : ":";
  const firstLine = [
    prefix === "" ? "" : paint("dim", prefix),
    mark === undefined ? "" : `${paint(markColours[mark], mark)} `,
    `${colour === undefined ? label : paint(colour, label)}${colon}`,
    first === "" || label === "" ? first : ` ${first}`,
  ].join("");
  const restIndent = paint("dim", `${indent}${under.length > 0 ? "│  " : "   "}`);
  return [firstLine, ...rest.map((text) => `${restIndent}${text}`)];
}

/** A value truncated to less than this is unreadable. */
const minValueWidth = 8;

function branchTexts(
  { sentence, value, id }: Branch,
  room: { readonly first: number; readonly rest: number },
): readonly string[] {
  if (sentence !== undefined) return wrap(oneLine(sentence), room);
  if (value !== undefined) return [truncate(oneLine(value), Math.max(minValueWidth, room.first))];
  return id === undefined ? [] : wrap(oneLine(id), room);
}

/** A node of a graph, and the edge that led to it. */
interface GraphNode {
  readonly node: DrawnNode;
  readonly edge?: DrawnEdge;
}

const furtherDown = "(further down)";

/** Says why the children of a node are not drawn below it; empty where they are, or where it has none. */
function stopNote({
  isParent,
  isDrawn,
  isOnPath,
  depth,
}: {
  readonly isParent: boolean;
  readonly isDrawn: boolean;
  readonly isOnPath: boolean;
  readonly depth: number;
}): string {
  if (isOnPath) return "(cycle)";
  if (!isParent) return "";
  if (isDrawn) return "(again)";
  return depth === maxDepth ? furtherDown : "";
}

function edgesByStart(edges: readonly DrawnEdge[]): ReadonlyMap<string, readonly DrawnEdge[]> {
  const byStart = new Map<string, DrawnEdge[]>();
  for (const edge of edges) {
    const others = byStart.get(edge.from);
    if (others === undefined) byStart.set(edge.from, [edge]);
    else others.push(edge);
  }
  return byStart;
}

/** A label truncated to less than this is unreadable. */
const minLabelWidth = 4;

/** One line of a graph: labels are truncated to the width of the terminal, ids never. */
function graphLine(
  { node, edge }: GraphNode,
  {
    prefix,
    isParent,
    isFull,
    note,
  }: {
    readonly prefix: string;
    readonly isParent: boolean;
    /** With the label and kind of the node, not only its id. */
    readonly isFull: boolean;
    readonly note: string;
  },
  { paint, columns }: Style,
): string {
  const id = oneLine(node.name ?? node.id);
  const edgeLabel = edge === undefined ? "" : oneLine(edgeText(edge));
  const arrow = edgeLabel === "" ? "" : " → ";
  const fixed = displayWidth(prefix) + displayWidth(arrow) + displayWidth(id);
  const suffix = isFull ? kindBeside(edgeLabel, node, columns - fixed) : note;
  const free = columns - fixed - (suffix === "" ? 0 : displayWidth(suffix) + 1);
  const fits = free >= Math.min(minLabelWidth, displayWidth(edgeLabel));
  const shownEdge = truncate(edgeLabel, Math.max(minLabelWidth, fits ? free : columns - fixed));
  const label = isFull && fits ? nodeLabel(node, free - displayWidth(shownEdge)) : "";
  return [
    paint("dim", prefix),
    paint("cyan", shownEdge),
    paint("dim", arrow),
    isParent && isFull ? paint("bold", id) : id,
    label === "" ? "" : `  ${label}`,
    fits && suffix !== "" ? ` ${paint(node.note === "disabled" && isFull ? "yellow" : "dim", suffix)}` : "",
  ].join("");
}

/** Returns the kind of a node; empty where the label of the edge only fits without it, because that says more. */
function kindBeside(edgeLabel: string, node: DrawnNode, room: number): string {
  const kind = oneLine(kindText(node));
  const left = room - displayWidth(edgeLabel);
  return left >= 0 && left <= displayWidth(kind) && node.note !== "disabled" ? "" : kind;
}

function nodeLabel({ id, name = id, label = name }: DrawnNode, free: number): string {
  const text = oneLine(label);
  if (label === name || free - 2 < Math.min(minLabelWidth, displayWidth(text))) return "";
  return truncate(text, free - 2);
}
