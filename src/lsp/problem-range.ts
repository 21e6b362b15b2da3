import type { TextNode } from "../definition/yaml-source.js";
import { readTree } from "../definition/yaml-source.js";

/** Returns where a problem that starts at an offset ends: with its word, or with the key or value that starts there. */
export function problemEnds(text: string): (offset: number) => number {
  const ends = new Map<number, number>();
  for (const root of readTree(text) ?? []) {
    if (root !== undefined) collectEnds(root, ends);
  }
  return (offset) => {
    const lineEnd = offset + (/^[^\r\n]*/.exec(text.slice(offset, offset + maxLength))?.[0].length ?? 0);
    const end = ends.get(offset);
    if (end !== undefined && end > offset) return Math.min(end, lineEnd);
    const word = /^(?:[\p{L}\p{N}_.-]+|\S)/u.exec(text.slice(offset, lineEnd))?.[0];
    return offset + (word?.length ?? 0);
  };
}

/** Editors underline no more than this of a line. */
const maxLength = 8192;

/** A map or a list that starts where its first key or item does is not underlined as a whole. */
function collectEnds(node: TextNode, ends: Map<number, number>): void {
  if (node.kind === "scalar") ends.set(node.start, node.end);
  for (const { key, value } of node.entries) {
    collectEnds(key, ends);
    if (value !== undefined) collectEnds(value, ends);
  }
  for (const item of node.items) {
    if (item !== undefined) collectEnds(item, ends);
  }
}
