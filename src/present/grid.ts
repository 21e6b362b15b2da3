import Table from "cli-table3";
import type { Style } from "./format.js";

export interface Column {
  readonly title: string;
  /** May be broken over several lines to fit the terminal; ids never are. */
  readonly flexible?: true;
}

/** A table without lines, as wide as the terminal at most. */
export function grid(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style): string {
  const limits = [...fitColumns(columns, rows, style.columns)];
  const nothing = Object.fromEntries(borders.map((border) => [border, ""]));
  const table = new Table({
    head: columns.map((column) => style.paint("bold", column.title.toUpperCase())),
    chars: { ...nothing, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colWidths: limits,
    wordWrap: true,
  });
  table.push(...rows.map((row) => [...row]));
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

/** How long each column's cells may be: the widest flexible ones give way until all fits. */
function fitColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly number[] {
  const wanted = columns.map((column, index) =>
    Math.max(column.title.length, ...rows.map((row) => visibleLength(row[index] ?? ""))),
  );
  const limits = [...wanted];
  let over = wanted.reduce((sum, each) => sum + each + 2, -2) - width;
  for (; over > 0 && Number.isFinite(over); over--) {
    const widest = findWidestFlexible(columns, limits);
    if (widest === -1) break;
    limits[widest] = (limits[widest] ?? 0) - 1;
  }
  return limits;
}

function findWidestFlexible(columns: readonly Column[], widths: readonly number[]): number {
  let widest = -1;
  for (const [index, { flexible }] of columns.entries()) {
    const width = widths[index] ?? 0;
    if (flexible && width > minFlexibleWidth && width > (widths[widest] ?? 0)) widest = index;
  }
  return widest;
}

const minFlexibleWidth = 12;

// eslint-disable-next-line no-control-regex -- the escape character is what colour codes begin with
const colourCodes = /\u001b\[\d+m/g;

function visibleLength(text: string): number {
  return text.replace(colourCodes, "").length;
}
