import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import type { Command } from "commander";
import { DecisionError, fileErrorHint } from "../../errors.js";
import type { LoadedDefinition } from "../../model/definition.js";
import type { Diagnostic } from "../../model/diagnostic.js";
import { describeDiagnostic } from "../../present/diagnostics-view.js";
import type { TableFormat, UnfitPart } from "../../tables/export-table.js";
import { InvalidCell } from "../../tables/cell.js";
import type { ReadTables } from "../../tables/table.js";
import { didYouMean } from "../../text.js";
import { readDefinitionFiles } from "../definition-files.js";
import { stripByteOrderMark } from "../input.js";
import type { Io } from "../io.js";
import type { CommonFlags } from "../flags.js";
import { note, openReadableWorld, warn, warnAboutDefinitions } from "../world.js";

export function addTableCommand(parent: Command, io: Io): void {
  const table = parent
    .command("table")
    .summary("import and export decision tables")
    .description("Convert between rule tables and decision tables in CSV, spreadsheets and DMN.")
    .helpCommand(false)
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision table import rates.csv --out decisions/rates.yaml
  $ agent-33 decision table export rates --format dmn --out rates.dmn
  $ agent-33 decision table export rates --format markdown

See also: agent-33 help tables`,
    );
  addImport(table, io);
  addExport(table, io);
}

interface ImportFlags {
  readonly id?: string;
  readonly out?: string;
  readonly hitPolicy?: string;
  readonly default?: string;
  readonly sheet?: string;
  readonly quiet?: boolean;
}

function addImport(table: Command, io: Io): void {
  table
    .command("import")
    .argument("<file>", "a .csv, .xlsx or .dmn file")
    .option("--id <id>", "id of the decision (default: that in the file, or the name of the file)")
    .option("--out <file>", "file to write (default: standard output)")
    .option("--hit-policy <policy>", "hit policy, where the file has none")
    .option("--default <target>", "target if no rule matches, where the file has none")
    .option("--sheet <name>", "sheet of a spreadsheet (default: the first)")
    .option("-q, --quiet", "print only the result and errors")
    .summary("convert a decision table to a definition")
    .description(
      "Convert a CSV file, a spreadsheet or a DMN 1.1–1.6 model to a definition, and print it. A table is imported whole or " +
        "not at all: everything that cannot be converted is reported with its line and column, and the exit code is 3. " +
        "Existing files are not overwritten.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision table import rates.csv
  $ agent-33 decision table import rates.csv --hit-policy unique --default review
  $ agent-33 decision table import rates.xlsx --sheet 2027 --out decisions/rates.yaml
  $ agent-33 decision table import dish.dmn --id choose-dish

See also: agent-33 help tables`,
    )
    .action((file: string, flags: ImportFlags) => importFile(file, flags, io));
}

async function importFile(file: string, flags: ImportFlags, io: Io): Promise<void> {
  const { importTables } = await import("../../tables/import-tables.js");
  const { oneOf } = await import("../../tables/read-sheet.js");
  const { hitPolicies } = await import("../../tables/table.js");
  const { hitPolicy, id, default: target } = flags;
  if (flags.out !== undefined) assertNew(flags.out, io);
  const { text, warnings } = await importTables(file, await readTables(file, flags, io), {
    fallbackId: idOf(file),
    ...(id !== undefined && { id: checkedId(id) }),
    ...(target !== undefined && { target }),
    ...(hitPolicy !== undefined && {
      hitPolicy: parseFlag("--hit-policy", () => oneOf(hitPolicies, hitPolicy)),
    }),
  });
  if (!flags.quiet) for (const each of warnings) io.err.write(`${describeDiagnostic(each)}\n`);
  writeResult(text, flags, io);
}

/** Runs a parser of a flag, whose errors are those of a cell. */
function parseFlag<Value>(flag: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof InvalidCell)) throw error;
    throw new DecisionError("usage", `${flag}: ${error.message}`, { hint: error.hint, cause: error });
  }
}

function checkedId(id: string): string {
  if (/^[A-Za-z0-9._-]{1,128}$/.test(id)) return id;
  throw new DecisionError("usage", `invalid id \`${id}\``, {
    hint: "use up to 128 letters, digits, `.`, `_` and `-`",
  });
}

/** Returns an id from the name of a file. */
function idOf(file: string): string {
  const name = basename(file, extname(file))
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .slice(0, 128);
  return /[A-Za-z0-9]/.test(name) ? name : "table";
}

const maxFileBytes = 4 * 1024 * 1024;

async function readTables(file: string, { sheet }: ImportFlags, io: Io): Promise<ReadTables> {
  const type = extname(file).toLowerCase();
  if (sheet !== undefined && type !== ".xlsx")
    throw new DecisionError("usage", "--sheet is for spreadsheets only", {
      hint: "remove --sheet, or import an .xlsx file",
    });
  switch (type) {
    case ".csv": {
      const { readCsv } = await import("../../tables/csv.js");
      return readCsv(file, decode(file, readInput(file, io)));
    }
    case ".dmn":
    case ".xml": {
      const { readDmn } = await import("../../tables/read-dmn.js");
      return readDmn(file, decode(file, readInput(file, io)));
    }
    case ".xlsx": {
      const { readXlsx } = await import("../../tables/xlsx.js");
      return readXlsx(file, Buffer.from(readInput(file, io)), sheet);
    }
    default:
      throw new DecisionError(
        "usage",
        type === ""
          ? `the name of \`${file}\` does not say what kind of table it is`
          : `\`${file}\` is not a table: its name ends in \`${type}\``,
        {
          hint: "import a .csv, .xlsx or .dmn file; in a spreadsheet program, save an older file as .xlsx or .csv",
        },
      );
  }
}

/** Reads a regular file: a device or a pipe may have no end. */
function readInput(file: string, io: Io): Uint8Array {
  const path = resolve(io.cwd, file);
  try {
    const stats = statSync(path);
    if (!stats.isFile() && !stats.isDirectory())
      throw new DecisionError("input_invalid", `\`${file}\` is not a regular file`, {
        hint: "copy it to a file",
      });
    if (stats.size > maxFileBytes)
      throw new DecisionError(
        "input_invalid",
        `\`${file}\` has ${stats.size} bytes; a table may have at most ${maxFileBytes}`,
        {
          hint: "split the table",
        },
      );
    return readFileSync(path);
  } catch (error) {
    if (error instanceof DecisionError) throw error;
    throw new DecisionError("input_invalid", `cannot read \`${file}\`: ${(error as Error).message}`, {
      hint: fileErrorHint(error, file),
      cause: error,
    });
  }
}

function decode(file: string, bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw notText(file, "is not UTF-8 text", "save it as UTF-8; in Excel: CSV UTF-8", error);
  }
  if (text.includes("\0")) throw notText(file, "contains NUL bytes, so it is not text", "save it as UTF-8");
  return stripByteOrderMark(text);
}

/** A file that is not text has no lines; the first byte is as good a place as any. */
function notText(file: string, what: string, hint: string, cause?: unknown): DecisionError {
  const problem: Diagnostic = {
    file,
    line: 1,
    column: 1,
    severity: "error",
    message: `the file ${what}`,
    hint,
  };
  return new DecisionError("definition_invalid", `cannot import \`${file}\``, {
    details: { problems: [problem] },
    cause,
  });
}

interface ExportFlags extends CommonFlags {
  readonly out?: string;
}

function addExport(table: Command, io: Io): void {
  table
    .command("export")
    .argument("<id>", "id of the decision")
    .option("--format <format>", "csv, dmn or markdown (default: csv, or that of --out: .csv, .dmn or .md)")
    .option("--out <file>", "file to write (default: standard output)")
    .option("--decisions <dir>", "directory of definitions")
    .option("--no-color", "disable colours")
    .option("-q, --quiet", "print only the result and errors")
    .option("-v, --verbose", "print the sources of settings")
    .summary("convert a definition to a decision table")
    .description(
      "Print a rule table as CSV, DMN 1.3 or markdown. The rules of a binary or switch decision are those of a table with " +
        "the hit policy first. A condition that has no place in a column is an error for CSV and DMN, and nothing is " +
        "written; in markdown it has a column of its own. Existing files are not overwritten.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision table export rates
  $ agent-33 decision table export rates --out rates.dmn
  $ agent-33 decision table export rates --format markdown

See also: agent-33 help tables`,
    )
    .action((id: string, flags: ExportFlags) => exportDecision(id, flags, io));
}

async function exportDecision(id: string, flags: ExportFlags, io: Io): Promise<void> {
  const { exportTable, tableFormats } = await import("../../tables/export-table.js");
  const format = exportFormat(flags, tableFormats);
  if (flags.out !== undefined) assertNew(flags.out, io);
  const { definitions } = await openReadableWorld(flags, io);
  const loaded = await definitions.findForInspection(id);
  const exported = await exportTable(loaded.definition, format);
  if ("unfit" in exported) throw await notExported(loaded, format, exported.unfit);
  for (const message of exported.warnings) warn(flags, io, message);
  writeResult(exported.text, flags, io);
  warnAboutDefinitions(flags, io, definitions.diagnostics);
}

const formatsByName: Readonly<Partial<Record<string, TableFormat>>> = {
  ".csv": "csv",
  ".dmn": "dmn",
  ".md": "markdown",
};

function exportFormat({ format, out }: ExportFlags, formats: readonly TableFormat[]): TableFormat {
  if (format === undefined) return out ? formatOfName(out) : "csv";
  const found = formats.find((each) => each === format);
  if (found !== undefined) return found;
  throw new DecisionError("usage", `unknown format \`${format}\``, {
    hint: didYouMean(format, formats) ?? `choose one of ${formats.join(", ")}`,
  });
}

function formatOfName(file: string): TableFormat {
  const extension = extname(file);
  const format = formatsByName[extension.toLowerCase()];
  if (format !== undefined) return format;
  throw new DecisionError("usage", `cannot tell the format from \`${extension || file}\``, {
    hint: "use a name that ends in .csv, .dmn or .md, or add --format csv, dmn or markdown",
  });
}

/** Reports the parts of a definition that a table cannot express, where its file has them. */
async function notExported(
  { definition, file, line }: LoadedDefinition,
  format: TableFormat,
  unfit: readonly UnfitPart[],
): Promise<DecisionError> {
  const { located } = await readDefinitionFiles(file, false);
  const source = located.find(({ summary }) => summary.id === definition.id)?.source;
  const key = definition.type === "rule_table" && definition.rules !== undefined ? "rules" : "cases";
  const problems = unfit.map(({ label, index, key: part, message, hint }): Diagnostic => {
    const path = index === undefined ? ["default"] : [key, index];
    const place =
      index === undefined && part === undefined
        ? undefined
        : source?.locate(["decision", ...path, part ?? "condition"]);
    return {
      file,
      ...(place ?? { line, column: 1 }),
      severity: "error",
      message: label === undefined ? message : `rule \`${label}\`: ${message}`,
      ...(hint !== undefined && { hint }),
    };
  });
  return new DecisionError(
    "definition_invalid",
    `\`${definition.id}\` cannot be written as ${formatNames[format]}`,
    {
      hint: "`agent-33 decision table export ID --format markdown` shows every condition",
      details: { problems },
    },
  );
}

const formatNames: Readonly<Record<TableFormat, string>> = { csv: "CSV", dmn: "DMN", markdown: "markdown" };

/** Throws before anything is read if the file must not be written. */
function assertNew(out: string, io: Io): void {
  if (out === "") throw new DecisionError("usage", "--out must not be empty", { hint: "specify a file" });
  if (existsSync(resolve(io.cwd, out))) {
    throw new DecisionError("file_exists", `\`${out}\` already exists`, {
      hint: "choose another file with --out FILE",
    });
  }
}

interface OutFlags {
  readonly out?: string;
  readonly quiet?: boolean;
}

function writeResult(text: string, { out, quiet }: OutFlags, io: Io): void {
  if (out === undefined) {
    io.out.write(text);
    return;
  }
  try {
    writeFileSync(resolve(io.cwd, out), text, { flag: "wx" });
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new DecisionError(
      isTaken ? "file_exists" : "file_unwritable",
      isTaken ? `\`${out}\` already exists` : `cannot write \`${out}\`: ${(error as Error).message}`,
      { hint: isTaken ? "choose another file with --out FILE" : fileErrorHint(error, out), cause: error },
    );
  }
  if (!quiet) note(io, `wrote ${out}`);
}
