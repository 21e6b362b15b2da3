import { casesOf, labelsOf } from "../definition/branches.js";
import { DecisionError } from "../errors.js";
import type { Segments } from "../expression/column-path.js";
import { isSamePath, parsePath, pathHeading } from "../expression/column-path.js";
import type { Answer, Case, Definition, RuleTableDefinition, TableColumn } from "../model/definition.js";
import type { ColumnCell } from "./condition.js";
import { conditionText, splitCondition } from "./condition.js";
import type { InputColumn, OutputColumn, Table, TableRule } from "./table.js";

/** A definition whose conditions are those of a table. */
export type TableDefinition = Extract<Definition, { readonly type: "rule_table" | "switch" | "binary" }>;

/** Returns whether a definition of this type can be a table: the first of its matching rules is selected, or several. */
export const isTableDefinition = (definition: Definition): definition is TableDefinition =>
  definition.type === "rule_table" || definition.type === "switch" || definition.type === "binary";

/** A rule that cannot be written in columns. */
export interface UnfitRule {
  readonly label: string;
  readonly index: number;
  readonly message: string;
  readonly hint?: string;
}

export interface DefinitionTable {
  readonly table: Table;
  /** What the columns cannot express of each rule; empty for most. */
  readonly rest: readonly (readonly string[])[];
  /** The rules that a table without `rest` would change. */
  readonly unfit: readonly UnfitRule[];
  /** The labels of rules whose conditions test their values in another order than that of the columns. */
  readonly reordered: readonly string[];
}

/** Returns the rules of a definition as a table. */
export function toTable(definition: TableDefinition): DefinitionTable {
  const cases = casesOf(definition).map(({ each }) => each);
  const labels = labelsOf(cases);
  const declared = definition.type === "rule_table" ? (definition.columns ?? []) : [];
  // Callers get the error from a value that is neither true nor false, too.
  const readFlags = definition.on_error !== "fail";
  const split = cases.map(({ condition = "" }) => splitCondition(condition, { readFlags }));
  const known = inputColumns(declared);
  const columns = orderColumns([
    known.map(({ path }) => path),
    ...split.map(({ cells }) => cells.map(({ path }) => path)),
  ]);
  const unfit: UnfitRule[] = [];
  const reordered: string[] = [];
  for (const [index, { cells, rest, isReordered }] of split.entries()) {
    const label = labels[index] ?? "";
    unfit.push(
      ...rest.map((part) => ({ label, index, message: `\`${part}\` cannot be written in a column` })),
    );
    if (isReordered || !isInOrder(cells, columns)) reordered.push(label);
    if (definition.on_error !== "fail" || !reordered.includes(label)) continue;
    unfit.push({
      label,
      index,
      message: "the condition tests its values in another order than that of the columns",
      hint: "with `on_error: fail` the order counts: change the condition, or the order of `columns`",
    });
  }
  const rules = cases.map((each, index) => toRule(each, split[index]?.cells ?? [], columns));
  return {
    table: {
      ...settingsOf(definition),
      columns: columns.map((path) => known.find((each) => isSamePath(each.path, path)) ?? { path }),
      answers: declared.flatMap((each) => ("then" in each ? [each] : [])),
      rules,
      // Without what declares whether it is expected.
      default: answerOf({ target: definition.default.target, output: definition.default.output }),
    },
    rest: split.map(({ rest }) => rest),
    unfit,
    reordered,
  };
}

const inputColumns = (declared: readonly TableColumn[]): readonly InputColumn[] =>
  declared.flatMap((column) => {
    if (!("if" in column)) return [];
    const { if: heading, ...more } = column;
    const path = parsePath(heading);
    return path === undefined ? [] : [{ path, ...more }];
  });

/** Orders paths so that every list is in this order, if that is possible; else as they are first mentioned. */
function orderColumns(lists: readonly (readonly Segments[])[]): readonly Segments[] {
  const keyOf = (path: Segments): string => JSON.stringify(path);
  const paths = new Map(lists.flat().map((path) => [keyOf(path), path]));
  const after = new Map<string, Set<string>>();
  for (const list of lists) {
    for (const [index, path] of list.entries()) {
      const previous = list[index - 1];
      if (previous !== undefined) mapSet(after, keyOf(path)).add(keyOf(previous));
    }
  }
  const ordered: Segments[] = [];
  while (paths.size > 0) {
    const [first] = paths.keys();
    const isFree = (key: string): boolean => ![...(after.get(key) ?? [])].some((other) => paths.has(other));
    const next = [...paths.keys()].find(isFree) ?? first ?? "";
    ordered.push(paths.get(next) ?? []);
    paths.delete(next);
  }
  return ordered;
}

function mapSet(map: Map<string, Set<string>>, key: string): Set<string> {
  const set = map.get(key) ?? new Set<string>();
  map.set(key, set);
  return set;
}

function isInOrder(cells: readonly ColumnCell[], columns: readonly Segments[]): boolean {
  const positions = cells.map(({ path }) => columns.findIndex((each) => isSamePath(each, path)));
  return positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0));
}

function toRule(each: Case, cells: readonly ColumnCell[], columns: readonly Segments[]): TableRule {
  const { target, output, label, priority, description } = each;
  return {
    cells: columns.map((path) => cells.find((cell) => isSamePath(cell.path, path))?.cell),
    answer: answerOf({ target, output }),
    ...(label !== undefined && { label }),
    ...(priority !== undefined && { priority }),
    ...(description !== undefined && { description }),
  };
}

const answerOf = ({ target, output }: { [Key in keyof Answer]: Answer[Key] | undefined }): Answer => ({
  ...(target !== undefined && { target }),
  ...(output !== undefined && { output }),
});

function settingsOf(definition: TableDefinition): Omit<Table, "columns" | "answers" | "rules" | "default"> {
  const { id, name, version, description, input, on_error } = definition;
  const common = {
    id,
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    ...(input !== undefined && { input }),
    ...(on_error !== undefined && { on_error }),
  };
  if (definition.type !== "rule_table") return { ...common, hit_policy: "first" };
  const { hit_policy, aggregate, output_values } = definition;
  return {
    ...common,
    ...(hit_policy !== undefined && { hit_policy }),
    ...(aggregate !== undefined && { aggregate }),
    ...(output_values !== undefined && { output_values }),
  };
}

/** Returns the definition of a table with a default. */
export function toDefinition(
  table: Table & { readonly id: string; readonly default: Answer },
): RuleTableDefinition {
  const { id, name, version, description, input, on_error, hit_policy, aggregate, output_values } = table;
  const head = {
    id,
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    type: "rule_table" as const,
    ...(input !== undefined && { input }),
    ...(on_error !== undefined && { on_error }),
    ...(hit_policy !== undefined && { hit_policy }),
    ...(aggregate !== undefined && { aggregate }),
    ...(output_values !== undefined && { output_values }),
  };
  const body = { rules: table.rules.map((rule) => toCase(rule, table.columns)), default: table.default };
  const columns = columnsToDeclare(table, { ...head, ...body });
  return { ...head, ...(columns.length > 0 && { columns }), ...body };
}

function toCase(
  { cells, answer, label, priority, description }: TableRule,
  columns: readonly InputColumn[],
): Case {
  const tested = columns.flatMap(({ path }, index) => {
    const cell = cells[index];
    return cell === undefined ? [] : [{ path, cell }];
  });
  return {
    condition: conditionText(tested),
    ...answer,
    ...(label !== undefined && { label }),
    ...(priority !== undefined && { priority }),
    ...(description !== undefined && { description }),
  };
}

/** Returns the columns that the rules do not show as they are: none for most tables. */
function columnsToDeclare(table: Table, definition: RuleTableDefinition): readonly TableColumn[] {
  const derived = columnsOf(definition);
  const isDerived =
    derived.length === table.columns.length &&
    table.columns.every(({ path, ...more }, index) => {
      const other = derived[index];
      return other !== undefined && isSamePath(path, other.path) && Object.keys(more).length === 0;
    });
  const inputs = isDerived
    ? []
    : table.columns.map(({ path, ...more }) => ({ if: pathHeading(path), ...more }));
  return [...inputs, ...table.answers.filter(hasDetails)];
}

/** Returns the columns that the rules show; none if a condition is too long, which the check of the definition reports. */
function columnsOf(definition: RuleTableDefinition): readonly InputColumn[] {
  try {
    return toTable(definition).table.columns;
  } catch (error) {
    if (error instanceof DecisionError) return [];
    throw error;
  }
}

const hasDetails = (column: OutputColumn): boolean => Object.keys(column).length > 1;
