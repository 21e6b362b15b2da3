import type { TableConstructorOptions } from "cli-table3";
import Table from "cli-table3";
import type { Style } from "./format.js";
import { hangingText } from "./format.js";
import { displayWidth, isNarrow, widestWord, wrap } from "./text-width.js";

export interface Column {
  readonly title: string;
  /** Shows the title as it is, such as a path of the context; other titles are in capitals. */
  readonly isVerbatim?: boolean;
  /** Wraps at spaces to fit the terminal. */
  readonly flexible?: boolean;
  /** The width below which a flexible column is hard to read; 12 if absent. */
  readonly minWidth?: number;
}

/** Formats a table without borders that fits the terminal; as a list where it is too wide. No word is ever broken. */
export const grid = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  style: Style,
): string => fittingGrid(columns, rows, style) ?? list(columns, rows, style);

/** Formats a table; undefined where it is too wide for the terminal. */
export function fittingGrid(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  style: Style,
): string | undefined {
  const limits = fitColumns(columns, rows, style.columns);
  if (limits === undefined) return undefined;
  const head = columns.map((column) => style.paint("bold", shownTitle(column)));
  const parts: string[] = [];
  for (let start = 0; start === 0 || start < rows.length; start += rowsPerPart) {
    const standIns = new StandIns();
    const table = new Table({
      ...layout,
      head: start === 0 ? head.map((title) => standIns.of(title)) : [],
      colWidths: [...limits],
    });
    const cells = rows.slice(start, start + rowsPerPart).map((row) =>
      row.map((cell, index) =>
        cellLines(cell, limits[index] ?? 0, index)
          .map((line) => standIns.of(line))
          .join("\n"),
      ),
    );
    table.push(...cells);
    parts.push(standIns.replaceIn(table.toString()));
  }
  return parts
    .join("\n")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Long tables are formatted in parts, because the time of the library grows with the square of the rows. */
const rowsPerPart = 200;

/**
 * Texts of the same width in place of those with wide characters, accents or emoji: the library has the widths of an old
 * version of Unicode, and would cut such texts off or move the columns after them.
 */
class StandIns {
  readonly #texts: string[] = [];

  /** A number in a private character, and as many others as the text is wide. */
  of(text: string): string {
    if (isNarrow(text)) return text;
    const width = displayWidth(text);
    if (width === 0) return "";
    this.#texts.push(text);
    return String.fromCodePoint(firstStandIn + this.#texts.length - 1) + filler.repeat(width - 1);
  }

  replaceIn(table: string): string {
    return table.replace(standIn, (found) => this.#texts[(found.codePointAt(0) ?? 0) - firstStandIn] ?? "");
  }
}

/** The private characters of plane 15; `filler` is one of plane 16. */
const firstStandIn = 0xf0000;
const filler = "\u{100000}";
const standIn = /[\u{f0000}-\u{ffffd}]\u{100000}*/gu;

const shownTitle = ({ title, isVerbatim = false }: Column): string =>
  isVerbatim ? title : title.toUpperCase();

const borders = [
  "top",
  "top-mid",
  "top-left",
  "top-right",
  "bottom",
  "bottom-mid",
  "bottom-left",
  "bottom-right",
  "left",
  "left-mid",
  "mid",
  "mid-mid",
  "right",
  "right-mid",
];

const layout: TableConstructorOptions = {
  chars: { ...Object.fromEntries(borders.map((border) => [border, ""])), middle: "  " },
  style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
};

/** The colour codes around a cell, and the mark or spaces that it starts with. */
const cellParts = new RegExp(`^((?:\u001b\\[\\d+m)*)((?:[→✓✗!–] | +)?)(.*?)((?:\u001b\\[\\d+m)*)$`, "s");

/**
 * Wraps a cell. Further lines have its colour and start below the text after its mark; in the first column always
 * indented, so that data never starts a line.
 */
function cellLines(cell: string, width: number, column: number): readonly string[] {
  if (displayWidth(cell) <= width) return [cell];
  const [, colour = "", mark = "", text = "", end = ""] = cellParts.exec(cell) ?? [];
  const indent = indentOf(mark, column);
  const lines = wrap(text, { first: width - mark.length, rest: width - indent });
  return lines.map((line, index) => `${colour}${index === 0 ? mark : " ".repeat(indent)}${line}${end}`);
}

const indentOf = (mark: string, column: number): number => mark.length || (column === 0 ? 2 : 0);

/** Returns the smallest width of a cell that breaks no word. */
function smallestWidth(cell: string, column: number): number {
  const [, , mark = "", text = ""] = cellParts.exec(cell) ?? [];
  return indentOf(mark, column) + widestWord(text);
}

/** Formats each row as lines of a title and a value. */
function list(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style): string {
  const titles = columns.map((column) => shownTitle(column).trim());
  const titleWidth = titles.reduce((most, title) => Math.max(most, displayWidth(title)), 0);
  const place = { start: titleWidth + 2, indent: titleWidth + 2 };
  const blocks = rows.map((row) =>
    titles.flatMap((title, index) => {
      const cell = (row[index] ?? "").trim();
      if (cell === "") return [];
      const name = style.paint("bold", title + " ".repeat(titleWidth - displayWidth(title)));
      return [`${name}  ${hangingText(cell, style, place)}`];
    }),
  );
  return blocks.map((lines) => lines.join("\n")).join("\n\n");
}

/**
 * Returns the width of each column; undefined where the table does not fit. The widest flexible column shrinks until
 * the table fits, but not below its widest word.
 */
function fitColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly number[] | undefined {
  const limits = columns.map((column, index) =>
    rows.reduce((most, row) => Math.max(most, displayWidth(row[index] ?? "")), displayWidth(column.title)),
  );
  let over = limits.reduce((sum, each) => sum + each + 2, -2) - width;
  if (over <= 0 || !Number.isFinite(over)) return limits;
  const smallest = columns.map(({ title, flexible, minWidth = 12 }, index) => {
    const full = limits[index] ?? 0;
    if (!flexible) return full;
    const readable = Math.max(displayWidth(title), Math.min(full, minWidth));
    return rows.reduce((most, row) => Math.max(most, smallestWidth(row[index] ?? "", index)), readable);
  });
  for (; over > 0; over--) {
    const widest = findShrinkable(limits, smallest);
    if (widest === -1) return undefined;
    limits[widest] = (limits[widest] ?? 0) - 1;
  }
  return limits;
}

function findShrinkable(widths: readonly number[], smallest: readonly number[]): number {
  let widest = -1;
  for (const [index, width] of widths.entries()) {
    if (width > (smallest[index] ?? 0) && width > (widths[widest] ?? 0)) widest = index;
  }
  return widest;
}
