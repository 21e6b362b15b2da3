import type { Segments } from "../expression/column-path.js";
import type { Answer, ColumnType, HitPolicy, RuleTableDefinition } from "../model/definition.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { Cell } from "./cell.js";

/** A decision table: what CSV, spreadsheets, DMN and rule tables have in common. */
export interface Table extends TableSettings {
  readonly columns: readonly InputColumn[];
  /** The columns of the answers of which more is known than the rules show. */
  readonly answers: readonly OutputColumn[];
  readonly rules: readonly TableRule[];
  readonly default?: Answer;
  /** The default, if nothing says another one. */
  readonly implicitDefault?: Answer;
}

/** What a file says about the table as a whole. */
export type TableSettings = Partial<
  Pick<
    RuleTableDefinition,
    | "id"
    | "name"
    | "version"
    | "description"
    | "input"
    | "on_error"
    | "hit_policy"
    | "aggregate"
    | "output_values"
  >
>;

export interface InputColumn {
  readonly path: Segments;
  readonly label?: string;
  readonly type?: ColumnType;
  readonly values?: string;
}

export interface OutputColumn {
  /** `target`, `output`, or `output.` and a key. */
  readonly then: string;
  readonly name?: string;
  readonly label?: string;
  readonly type?: ColumnType;
  readonly values?: string;
}

export interface TableRule {
  /** One for each column; undefined: any value. */
  readonly cells: readonly (Cell | undefined)[];
  readonly answer: Answer;
  readonly label?: string;
  readonly priority?: number;
  readonly description?: string;
  /** Returns where the rule is in the file that it was read from. */
  readonly place?: () => Place;
}

export interface Place {
  readonly line: number;
  readonly column: number;
}

/** The tables of a file. Without errors among the problems, each is complete. */
export interface ReadTables {
  readonly tables: readonly Table[];
  readonly problems: readonly Diagnostic[];
}

/** How many problems of one file are reported; a table has two million cells. */
export const maxProblems = 100;
/** The number of rules that a table may have; a definition file has room for about as many. */
export const maxRules = 10_000;
/** The number of columns that a table may have. */
export const maxColumns = 200;
/** The number of conditions that a table may have; a definition file has room for fewer. */
export const maxConditions = 400_000;
/** The number of characters that a cell may have. */
export const maxCellLength = 8192;
/** The number of values that a cell may have. */
export const maxCellValues = 200;

export const hitPolicies: readonly HitPolicy[] = [
  "first",
  "unique",
  "any",
  "priority",
  "collect",
  "rule_order",
  "output_order",
];
export const aggregates = ["sum", "min", "max", "count"] as const;
