import { casesOf, defaultLabel, labelsOf } from "../definition/branches.js";
import { DecisionError } from "../errors.js";
import { pathHeading } from "../expression/column-path.js";
import type { Answer, Definition } from "../model/definition.js";
import { cellText } from "../tables/cell.js";
import type { DefinitionTable, TableDefinition } from "../tables/definition-table.js";
import { isTableDefinition, toTable } from "../tables/definition-table.js";
import { outputCells, outputHeadings } from "../tables/write-sheet.js";
import { oneLine } from "../text.js";
import type { Table } from "../tables/table.js";
import type { Style } from "./format.js";
import type { Column } from "./grid.js";
import { fittingGrid } from "./grid.js";

/** A rule table as people read it. */
interface ShownTable {
  readonly text: string;
  /** What all paths start with, if their columns are headed by the rest; else empty. */
  readonly prefix: string;
}

/**
 * Shows the rules of a decision as a table: a column for each path, a row for each rule, and the default as the last one.
 * Undefined if the decision is no table, if no condition tests a path, and if the table is too wide for the terminal.
 */
export function showRuleTable(definition: Definition, style: Style): ShownTable | undefined {
  if (!isTableDefinition(definition)) return undefined;
  const converted = convert(definition);
  if (converted === undefined || converted.table.columns.length === 0) return undefined;
  const columns = columnsOf(definition, converted);
  const prefix = commonPrefix(columns.filter(({ isPath }) => isPath).map(({ title }) => title));
  // Descriptions are left out before paths are: the lines above the table have no place for them.
  for (const shown of [columns, columns.filter(({ title }) => title !== "description")]) {
    for (const omitted of new Set(["", prefix])) {
      const text = fit(shown, omitted, style);
      if (text !== undefined) return { text, prefix: omitted };
    }
  }
  return undefined;
}

/** A definition from the store may be of a version whose expressions are not valid any more. */
function convert(definition: TableDefinition): DefinitionTable | undefined {
  try {
    return toTable(definition);
  } catch (error) {
    if (error instanceof DecisionError) return undefined;
    throw error;
  }
}

/** A column with the cells of all rules and, last, of the default. */
interface ShownColumn extends Column {
  readonly cells: readonly string[];
  readonly isPath?: boolean;
}

/** Cells are short: a table of many paths fits only if they may wrap early. */
const minWidth = 8;

function columnsOf(definition: TableDefinition, { table, rest }: DefinitionTable): readonly ShownColumn[] {
  const { rules } = table;
  const labels = labelsOf(casesOf(definition).map(({ each }) => each));
  const answers: readonly Answer[] = [...rules.map(({ answer }) => answer), definition.default];
  const outputs = outputHeadings(answers);
  const outputRows = answers.map((answer) => outputCells(answer, outputs));
  const columns: readonly ShownColumn[] = [
    { title: "label", flexible: true, minWidth, cells: [...labels, defaultLabel] },
    ...table.columns.map(({ path }, index) => ({
      title: pathHeading(path),
      isPath: true,
      isVerbatim: true,
      flexible: true,
      minWidth,
      cells: [...rules.map(({ cells }) => cellText(cells[index])), cellText(undefined)],
    })),
    { title: "condition", flexible: true, cells: [...rest.map((parts) => parts.join(" and ")), ""] },
    { title: "target", cells: answers.map(({ target = "" }) => target) },
    ...outputs.map((title, index) => ({
      title,
      isVerbatim: title !== "output",
      flexible: true,
      minWidth,
      cells: outputRows.map((row) => row[index] ?? ""),
    })),
    { title: "priority", cells: [...prioritiesOf(table), ""] },
    {
      title: "description",
      flexible: true,
      cells: [...rules.map(({ description = "" }) => description), ""],
    },
  ];
  return columns.filter(({ isPath, cells }) => isPath === true || cells.some((cell) => cell !== ""));
}

/** Empty where no rule has a priority; 0 for rules without one among others. */
function prioritiesOf({ hit_policy, rules }: Table): readonly string[] {
  const isShown = hit_policy === "priority" || rules.some(({ priority }) => priority !== undefined);
  return rules.map(({ priority = 0 }) => (isShown ? String(priority) : ""));
}

/** Returns the steps that all paths have in common, such as `input.`; each keeps at least one of its own. */
function commonPrefix([first = "", ...others]: readonly string[]): string {
  const ends = [...first.matchAll(/\./g)].map(({ index }) => index + 1).reverse();
  const prefixes = /[['"]/.test(first) ? [] : ends.map((end) => first.slice(0, end));
  return prefixes.find((prefix) => others.every((other) => other.startsWith(prefix))) ?? "";
}

/** Formats the columns, the paths without what is omitted; undefined if they are too wide. */
function fit(columns: readonly ShownColumn[], omitted: string, style: Style): string | undefined {
  const titled = columns.map(({ title, isPath, ...column }) => ({
    ...column,
    title: oneLine(isPath === true ? title.slice(omitted.length) : title),
  }));
  const rows = (columns[0]?.cells ?? []).map((_, index) =>
    columns.map(({ cells }) => oneLine(cells[index] ?? "")),
  );
  return fittingGrid(titled, rows, style);
}
