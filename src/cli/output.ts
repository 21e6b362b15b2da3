import type { CommonFlags } from "./flags.js";
import { styleFor } from "./flags.js";
import type { Io } from "./io.js";
import { warn } from "./world.js";
import type { Drawing } from "../model/drawing.js";
import type { LogLine } from "../model/store.js";
import { drawDot, drawMermaid, mermaidLimits } from "../present/diagrams.js";
import { drawingView } from "../present/drawing-view.js";
import type { Format, View } from "../present/format.js";
import { present } from "../present/format.js";
import type { LogWriter } from "../present/log-writer.js";
import { isWellFormedRecord } from "../record/well-formed.js";

/** Enough for one write to be worth it. */
const flushSize = 64 * 1024;

/** Writes records a good many at a time, and counts them. */
export class RecordPrinter {
  printed = 0;
  /** Lines that are JSON but no whole records; they are left out. */
  damaged = 0;
  readonly #io: Io;
  readonly #writing: LogWriter;
  #text = "";

  constructor(io: Io, writing: LogWriter) {
    this.#io = io;
    this.#writing = writing;
  }

  print(line: LogLine): void {
    if (!isWellFormedRecord(line.record)) {
      this.damaged++;
      return;
    }
    this.printed++;
    this.#text += this.#writing.add(line);
    if (this.#text.length > flushSize) this.flush();
  }

  /** From now on each record is written out when it is flushed. */
  settle(): void {
    this.#text += this.#writing.flush();
    this.flush();
  }

  end(): void {
    this.#text += this.#writing.end();
    this.flush();
  }

  flush(): void {
    if (this.#text !== "") this.#io.out.write(this.#text);
    this.#text = "";
  }
}

/** Lines that are JSON but no whole records are left out, which must not go unnoticed. */
export function warnAboutDamage({ damaged }: { readonly damaged: number }, flags: CommonFlags, io: Io): void {
  if (damaged === 0) return;
  const what = damaged === 1 ? "1 line was left out as it is" : `${damaged} lines were left out as they are`;
  warn(flags, io, `${what} no whole record any more; see \`agent-33 decision verify\``);
}

/** The formats that only drawings have; a tree is their table. */
export const drawingFormats = ["tree", "mermaid", "dot"] as const;

interface DrawingOutput {
  readonly drawing: Drawing;
  /** How it is written in the formats that every answer has, where nodes and edges are not enough. */
  readonly view?: View;
  readonly format: Format | (typeof drawingFormats)[number];
  /** What makes the drawing smaller, as an advice. */
  readonly smaller: string;
}

export async function writeDrawing(drawn: DrawingOutput, flags: CommonFlags, io: Io): Promise<void> {
  const { drawing, view = drawingView(drawing), format } = drawn;
  switch (format) {
    case "dot":
      io.out.write(drawDot(drawing));
      return;
    case "mermaid":
      io.out.write(mermaidText(drawn, (message) => warn(flags, io, message)));
      return;
    default:
      io.out.write(await present(view, format === "tree" ? "table" : format, await styleFor(flags, io)));
  }
}

function mermaidText({ drawing, smaller }: DrawingOutput, warning: (message: string) => void): string {
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
