import Table from "cli-table3";
import type { Style } from "./format.js";
import { hangingText } from "./format.js";
import { displayWidth, widestWord, wrap } from "./text-width.js";

export interface Column {
  readonly title: string;
  /** Wraps at spaces to fit the terminal. */
  readonly flexible?: boolean;
}

/** Formats a table without borders that fits the terminal; as a list where it is too wide. No word is ever broken. */
export function grid(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style): string {
  const limits = fitColumns(columns, rows, style.columns);
  if (limits === undefined) return list(columns, rows, style);
  const noBorders = Object.fromEntries(borders.map((border) => [border, ""]));
  const table = new Table({
    head: columns.map((column) => style.paint("bold", column.title.toUpperCase())),
    chars: { ...noBorders, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colWidths: [...limits],
  });
  table.push(
    ...rows.map((row) => row.map((cell, index) => cellLines(cell, limits[index] ?? 0, index).join("\n"))),
  );
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

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
  const titleWidth = columns.reduce((most, { title }) => Math.max(most, title.trim().length), 0);
  const place = { start: titleWidth + 2, indent: titleWidth + 2 };
  const blocks = rows.map((row) =>
    columns.flatMap(({ title }, index) => {
      const cell = (row[index] ?? "").trim();
      if (cell === "") return [];
      const name = style.paint("bold", title.trim().toUpperCase().padEnd(titleWidth));
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
    rows.reduce((most, row) => Math.max(most, displayWidth(row[index] ?? "")), column.title.length),
  );
  let over = limits.reduce((sum, each) => sum + each + 2, -2) - width;
  if (over <= 0 || !Number.isFinite(over)) return limits;
  const smallest = columns.map(({ title, flexible }, index) => {
    const full = limits[index] ?? 0;
    if (!flexible) return full;
    const readable = Math.max(title.length, Math.min(full, minFlexibleWidth));
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

const minFlexibleWidth = 12;
