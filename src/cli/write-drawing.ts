import type { Drawing } from "../model/drawing.js";
import { drawDot } from "../present/draw-dot.js";
import { drawMermaid, mermaidLimits } from "../present/draw-mermaid.js";
import { drawingView } from "../present/drawing-view.js";
import type { Format, View } from "../present/format.js";
import { present } from "../present/format.js";
import type { CommonFlags } from "./flags.js";
import { styleFor } from "./flags.js";
import type { Io } from "./io.js";
import { warn } from "./world.js";

/** The formats that only drawings have; a tree is their table. */
export const pictures = ["tree", "mermaid", "dot"] as const;

export interface Drawn {
  readonly drawing: Drawing;
  /** How it is written in the formats that every answer has, where nodes and edges are not enough. */
  readonly view?: View;
  readonly format: Format | (typeof pictures)[number];
  /** What makes the drawing smaller, as an advice. */
  readonly smaller: string;
}

export async function writeDrawing(drawn: Drawn, flags: CommonFlags, io: Io): Promise<void> {
  const { drawing, view = drawingView(drawing), format } = drawn;
  switch (format) {
    case "dot":
      io.out.write(drawDot(drawing));
      return;
    case "mermaid":
      io.out.write(mermaidOf(drawn, (message) => warn(flags, io, message)));
      return;
    default:
      io.out.write(await present(view, format === "tree" ? "table" : format, await styleFor(flags, io)));
  }
}

function mermaidOf({ drawing, smaller }: Drawn, warning: (message: string) => void): string {
  const { characters, edges } = mermaidLimits;
  const text = drawMermaid(drawing);
  if (text.length > characters || drawing.edges.length > edges) {
    warning(
      `mermaid draws at most ${edges} edges and ${characters} characters unless its \`maxEdges\` and \`maxTextSize\` ` +
        `are raised: ${smaller}, or use --format dot`,
    );
  }
  return text;
}
