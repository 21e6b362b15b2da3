import type * as definitionParser from "../definition/read-definitions.js";
import { diagnosticAt } from "../definition/diagnostics.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { HitPolicy, RuleTableDefinition } from "../model/definition.js";
import { DecisionError } from "../errors.js";
import { pathHeading } from "../expression/column-path.js";
import { toDefinition } from "./definition-table.js";
import type { Place, ReadTables, Table, TableRule } from "./table.js";

/** What the user says about the tables of a file. */
export interface ImportOptions {
  readonly id?: string;
  readonly hitPolicy?: HitPolicy;
  /** The target of the default. */
  readonly target?: string;
  /** The id of a table that has none. */
  readonly fallbackId: string;
}

export interface ImportedTables {
  /** YAML, a document for each table. */
  readonly text: string;
  readonly definitions: readonly RuleTableDefinition[];
  /** What the file contains that is not imported. */
  readonly warnings: readonly Diagnostic[];
}

/** Converts the tables of a file to valid definitions. Throws with all problems: a file is imported whole or not at all. */
export async function importTables(
  file: string,
  { tables, problems }: ReadTables,
  options: ImportOptions,
): Promise<ImportedTables> {
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw notImported(file, problems);
  if (tables.length === 0) throw notImported(file, [...problems, noTable(file)]);
  const [, second] = tables;
  if (second !== undefined && options.id !== undefined) {
    throw new DecisionError("usage", `\`${file}\` has ${tables.length} tables, so --id cannot name one`, {
      hint: "import them without --id: each has an id of its own",
    });
  }
  const ids = tables.flatMap(({ id = options.fallbackId }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    const message = `two tables have the id \`${twice}\``;
    throw notImported(file, [diagnosticAt({ file, line: 1, column: 1 }, { message })]);
  }
  const complete = tables.map((table) => completeTable(file, table, options));
  // Shares its bundle with the reader of definition files.
  const parser = await import("../definition/read-definitions.js");
  const { maxFileBytes, tooLargeMessage } = parser;
  // Checked before anything else is done with them: long conditions of many rules take minutes.
  if (complete.some((table) => leastLength(table) > maxFileBytes))
    throw notImported(file, [diagnosticAt({ file, line: 1, column: 1 }, { message: tooLargeMessage })]);
  const definitions = complete.map(toDefinition);
  const documents = definitions.map((decision) => parser.writeYaml({ decision }));
  const text = documents.join("---\n");
  const invalid = documents.flatMap((document, index) => validate(file, document, complete[index], parser));
  if (invalid.length > 0) throw notImported(file, invalid);
  return { text, definitions, warnings: problems };
}

/** Returns the least number of characters that the conditions of a table have: `a == 1` for each cell. */
function leastLength({ columns, rules }: Table): number {
  const lengths = columns.map(({ path }) => pathHeading(path).length + " == 1".length);
  const lengthOf = ({ cells }: TableRule): number =>
    cells.reduce((sum, cell, index) => sum + (cell === undefined ? 0 : (lengths[index] ?? 0)), 0);
  return rules.reduce((sum, rule) => sum + lengthOf(rule), 0);
}

const noTable = (file: string): Diagnostic =>
  diagnosticAt({ file, line: 1, column: 1 }, { message: "the file has no decision table" });

const notImported = (file: string, problems: readonly Diagnostic[]): DecisionError =>
  new DecisionError("definition_invalid", `cannot import \`${file}\``, { details: { problems } });

type CompleteTable = Parameters<typeof toDefinition>[0];

/** Adds what the flags say. A flag that contradicts the file is an error: one of the two is a mistake. */
function completeTable(
  file: string,
  table: Table,
  { id, hitPolicy, target, fallbackId }: ImportOptions,
): CompleteTable {
  const { hit_policy: policy = hitPolicy } = table;
  const answer = table.default ?? (target === undefined ? table.implicitDefault : { target });
  if (hitPolicy !== undefined && policy !== hitPolicy)
    throw contradiction(file, `the hit policy \`${policy ?? ""}\``, "--hit-policy");
  if (target !== undefined && table.default !== undefined)
    throw contradiction(file, "a default", "--default");
  if (answer === undefined) {
    const message = "the table has no default";
    const hint = "add a last row labelled `default`, with `-` in every `if:` cell, or use --default TARGET";
    throw notImported(file, [diagnosticAt({ file, line: lastLine(table), column: 1 }, { message, hint })]);
  }
  return {
    ...table,
    id: id ?? table.id ?? fallbackId,
    default: answer,
    ...(policy !== undefined && { hit_policy: policy }),
  };
}

const lastLine = ({ rules }: Table): number => rules.at(-1)?.place?.().line ?? 1;

function contradiction(file: string, what: string, flag: string): DecisionError {
  return new DecisionError("usage", `\`${file}\` has ${what}`, {
    hint: `remove ${flag}, or change the file`,
  });
}

type DefinitionParser = Pick<typeof definitionParser, "readDefinitions" | "readYaml">;

/** Checks a definition, and reports problems of its rules where the file has them. */
function validate(
  file: string,
  document: string,
  table: CompleteTable | undefined,
  { readDefinitions, readYaml }: DefinitionParser,
): readonly Diagnostic[] {
  const { diagnostics } = readDefinitions(file, Buffer.from(document)).summary;
  const [source] = diagnostics.length === 0 ? [] : readYaml(document).documents;
  const rules = table?.rules ?? [];
  const starts = rules.map((_, index) => source?.locate(["decision", "rules", index]).line ?? 0);
  const end = source?.locateKey(["decision"], "default").line ?? 0;
  return diagnostics.map(({ line, severity, message, hint }) => {
    const index = line < end ? starts.findLastIndex((start) => start <= line) : -1;
    const place: Place = rules[index]?.place?.() ?? { line: 1, column: 1 };
    return diagnosticAt({ file, ...place }, { severity, message, hint });
  });
}
