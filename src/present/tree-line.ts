import type { DrawnEdge, DrawnNode } from "../model/drawing.js";
import { edgeText, kindText } from "./diagrams.js";
import type { Style } from "./format.js";
import { oneLine } from "./text.js";
import { truncate, displayWidth } from "./text-width.js";

interface TreeLine {
  /** The branches of the tree that lead to it. */
  readonly before: string;
  readonly edge?: DrawnEdge;
  readonly node: DrawnNode;
  readonly isParent: boolean;
  /** With all that is known of the node, not only its id. */
  readonly isFull: boolean;
  readonly mark: string;
}

/** A label that is cut any further says nothing. */
const shortest = 4;

/** One line of a tree: labels are cut to the width of the terminal, ids never. */
export function treeLine({ before, edge, node, isParent, isFull, mark }: TreeLine, style: Style): string {
  const { paint, columns } = style;
  const id = oneLine(node.name ?? node.id);
  const way = edge === undefined ? "" : oneLine(edgeText(edge));
  const is = isFull ? oneLine(kindText(node)) : mark;
  const arrow = way === "" ? "" : " → ";
  const fixed = displayWidth(before) + displayWidth(arrow) + displayWidth(id);
  const free = columns - fixed - (is === "" ? 0 : displayWidth(is) + 1);
  const fits = free >= Math.min(shortest, displayWidth(way));
  const shownWay = truncate(way, Math.max(shortest, fits ? free : columns - fixed));
  const label = isFull && fits ? labelWithin(node, free - displayWidth(shownWay)) : "";
  return [
    paint("dim", before),
    paint("cyan", shownWay),
    paint("dim", arrow),
    isParent && isFull ? paint("bold", id) : id,
    label === "" ? "" : `  ${label}`,
    fits && is !== "" ? ` ${paint(node.note === "disabled" && isFull ? "yellow" : "dim", is)}` : "",
  ].join("");
}

function labelWithin({ id, name = id, label = name }: DrawnNode, free: number): string {
  const text = oneLine(label);
  if (label === name || free - 2 < Math.min(shortest, displayWidth(text))) return "";
  return truncate(text, free - 2);
}
