import type { CommonFlags } from "./flags.js";
import { styleFor } from "./flags.js";
import type { Io } from "./io.js";
import { assertOpen } from "./io.js";
import { note, warn } from "./world.js";
import type { Drawing } from "../model/drawing.js";
import type { LogLine } from "../model/store.js";
import { drawDot, drawMermaid, mermaidLimits } from "../present/diagrams.js";
import { drawingView } from "../present/drawing-view.js";
import type { Format, View } from "../present/format.js";
import { present } from "../present/format.js";
import type { LogWriter } from "../present/log-writer.js";
import { createLogWriter } from "../present/log-writer.js";
import { isWellFormedRecord } from "../record/well-formed.js";

/** Output is written in pieces of this size. */
const flushSize = 64 * 1024;

/** Opens a printer of records in a format. */
export async function openPrinter(flags: CommonFlags, io: Io, format: Format): Promise<RecordPrinter> {
  return new RecordPrinter(flags, io, await createLogWriter(format, await styleFor(flags, io)));
}

/** Prints and counts records, with few large writes. */
class RecordPrinter {
  printed = 0;
  /** Number of lines that are JSON but not well-formed records; they are skipped. */
  damaged = 0;
  readonly #flags: CommonFlags;
  readonly #io: Io;
  readonly #writer: LogWriter;
  #text = "";

  constructor(flags: CommonFlags, io: Io, writer: LogWriter) {
    this.#flags = flags;
    this.#io = io;
    this.#writer = writer;
  }

  print(line: LogLine): void {
    if (!isWellFormedRecord(line.record)) {
      this.damaged++;
      return;
    }
    this.printed++;
    this.#text += this.#writer.add(line);
    if (this.#text.length > flushSize) this.flush();
  }

  /** Prints the header and the rows so far; later records are printed on every flush. */
  settle(): void {
    this.#text += this.#writer.flush();
    this.flush();
    noteHiddenColumns(this.#writer.hidden, this.#flags, this.#io);
  }

  end(): void {
    this.#text += this.#writer.end();
    this.flush();
    noteHiddenColumns(this.#writer.hidden, this.#flags, this.#io);
  }

  flush(): void {
    if (this.#text !== "") this.#io.out.write(this.#text);
    this.#text = "";
    assertOpen(this.#io.out);
  }
}

/** Says which columns of a table have no room on this terminal. */
export function noteHiddenColumns(hidden: readonly string[], { quiet }: CommonFlags, io: Io): void {
  if (hidden.length === 0 || quiet) return;
  const titles = hidden.map((title) => title.toUpperCase()).join(", ");
  note(io, `columns hidden: ${titles}; widen the terminal or use --format plain`);
}

/** Warns about skipped lines of the log. */
export function warnAboutDamage({ damaged }: { readonly damaged: number }, flags: CommonFlags, io: Io): void {
  if (damaged === 0) return;
  const lines = damaged === 1 ? "1 damaged line" : `${damaged} damaged lines`;
  warn(flags, io, `skipped ${lines} of the log; run \`agent-33 decision verify\``);
}

/** Warns about a record whose line no longer matches its hash. */
export function warnAboutModifiedRecord({ seq }: { readonly seq: number }, flags: CommonFlags, io: Io): void {
  warn(flags, io, `record ${seq} was modified after it was written; run \`agent-33 decision verify\``);
}

/** The additional formats of diagrams; `tree` is the same as `table`. */
export const drawingFormats = ["tree", "mermaid", "dot"] as const;

interface DrawingOutput {
  readonly drawing: Drawing;
  /** The view for the other formats, if nodes and edges are not enough. */
  readonly view?: View;
  readonly format: Format | (typeof drawingFormats)[number];
  /** Advice on how to make the diagram smaller. */
  readonly sizeHint: string;
}

export async function writeDrawing(output: DrawingOutput, flags: CommonFlags, io: Io): Promise<void> {
  const { drawing, view = drawingView(drawing), format } = output;
  switch (format) {
    case "dot":
      io.out.write(drawDot(drawing));
      return;
    case "mermaid":
      io.out.write(mermaidText(output, (message) => warn(flags, io, message)));
      return;
    default:
      io.out.write(await present(view, format === "tree" ? "table" : format, await styleFor(flags, io)));
  }
}

function mermaidText({ drawing, sizeHint }: DrawingOutput, warning: (message: string) => void): string {
  const { characters, edges } = mermaidLimits;
  const text = drawMermaid(drawing);
  if (text.length > characters || drawing.edges.length > edges) {
    warning(
      `mermaid renders at most ${edges} edges and ${characters} characters by default: ${sizeHint}, use --format dot, ` +
        "or raise its `maxEdges` and `maxTextSize`",
    );
  }
  return text;
}
