import Table from "cli-table3";
import type { Style } from "./format.js";
import { displayWidth } from "./text-width.js";

export interface Column {
  readonly title: string;
  /** Wraps to fit the terminal. Other columns, such as ids, are never broken. */
  readonly flexible?: boolean;
}

/** Formats a table without borders that fits the terminal. */
export function grid(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style): string {
  const limits = fitColumns(columns, rows, style.columns);
  const noBorders = Object.fromEntries(borders.map((border) => [border, ""]));
  const table = new Table({
    head: columns.map((column) => style.paint("bold", column.title.toUpperCase())),
    chars: { ...noBorders, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colWidths: [...limits],
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

/** Returns the width of each column. The widest flexible column shrinks until the table fits. */
function fitColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly number[] {
  const limits = columns.map((column, index) =>
    rows.reduce((most, row) => Math.max(most, displayWidth(row[index] ?? "")), column.title.length),
  );
  let over = limits.reduce((sum, each) => sum + each + 2, -2) - width;
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
