import { pathHeading } from "../expression/column-path.js";
import { isObject } from "../expression/equal.js";
import { pathText } from "../expression/syntax.js";
import type { Answer } from "../model/definition.js";
import type { Json } from "../model/json.js";
import { cellText, textCell, valueCell } from "./cell.js";
import type { Table, TableRule } from "./table.js";

/** The texts of a table, as CSV and markdown show them. */
interface SheetTexts {
  /** Lines above the header: a name and its values. */
  readonly settings: readonly (readonly string[])[];
  readonly header: readonly string[];
  /** The rules and the default. */
  readonly rows: readonly (readonly string[])[];
}

/** Writes a table so that `readSheet` reads the same. */
export function writeSheet(table: Table): SheetTexts {
  const { rules, default: fallback } = table;
  const hasPriority = rules.some(({ priority }) => priority !== undefined);
  const hasDescription = rules.some(({ description }) => description !== undefined);
  const hasLabel = fallback !== undefined || rules.some(({ label }) => label !== undefined);
  const answers = [...rules.map(({ answer }) => answer), ...(fallback === undefined ? [] : [fallback])];
  const hasTarget = answers.some(({ target }) => target !== undefined);
  const outputs = outputHeadings(answers);
  const toRow = ({ cells, answer, label, priority, description }: TableRule): readonly string[] => [
    ...table.columns.map((_, index) => cellText(cells[index])),
    ...(hasTarget ? [optional(answer.target, textCell)] : []),
    ...(hasLabel ? [optional(label, textCell)] : []),
    ...outputCells(answer, outputs),
    ...(hasPriority ? [optional(priority, valueCell)] : []),
    ...(hasDescription ? [optional(description, textCell)] : []),
  ];
  return {
    settings: settingLines(table),
    header: [
      ...table.columns.map(({ path }) => `if:${pathHeading(path)}`),
      ...(hasTarget ? ["then:target"] : []),
      ...(hasLabel ? ["then:label"] : []),
      ...outputs.map((heading) => `then:${heading}`),
      ...(hasPriority ? ["priority"] : []),
      ...(hasDescription ? ["description"] : []),
    ],
    rows: [
      ...rules.map(toRow),
      ...(fallback === undefined ? [] : [toRow({ cells: [], answer: fallback, label: "default" })]),
    ],
  };
}

function optional<Value>(value: Value | undefined, write: (value: Value) => string): string {
  return value === undefined ? "" : write(value);
}

function settingLines({
  hit_policy,
  aggregate,
  output_values,
  input,
  on_error,
}: Table): readonly (readonly string[])[] {
  return [
    ...(hit_policy === undefined ? [] : [["hit_policy", hit_policy]]),
    ...(aggregate === undefined ? [] : [["aggregate", aggregate]]),
    ...(output_values === undefined ? [] : [["output_values", ...output_values.map(jsonCell)]]),
    ...(input === undefined ? [] : [["input", textCell(input)]]),
    ...(on_error === undefined ? [] : [["on_error", on_error]]),
  ];
}

/** The deepest part of an output that has a column of its own. */
const maxDepth = 8;

/** Splits an output into the values of its columns: each key of an object has one. */
function partsOf(
  output: Json,
  heading: readonly string[] = ["output"],
): readonly (readonly [heading: string, value: Json])[] {
  const entries = isObject(output) && heading.length <= maxDepth ? Object.entries(output) : [];
  if (entries.length === 0) return [[pathText(heading), output]];
  return entries.flatMap(([key, value]) => partsOf(value, [...heading, key]));
}

/** Returns the columns of the outputs: `output`, or `output.` and a key. */
export const outputHeadings = (answers: readonly Answer[]): readonly string[] => [
  ...new Set(
    answers.flatMap(({ output }) =>
      output === undefined ? [] : partsOf(output).map(([heading]) => heading),
    ),
  ),
];

/** Writes an output as the cells of its columns. */
export function outputCells({ output }: Answer, headings: readonly string[]): readonly string[] {
  const parts = new Map(output === undefined ? [] : partsOf(output));
  return headings.map((heading) => optional(parts.get(heading), jsonCell));
}

const jsonCell = (value: Json): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : valueCell(value);
