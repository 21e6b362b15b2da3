import { CsvError, parse } from "csv-parse/sync";
import { diagnosticAt } from "../definition/diagnostics.js";
import { readSheet } from "./read-sheet.js";
import type { SheetRow } from "./read-sheet.js";
import type { ReadTables, Table } from "./table.js";
import { maxCellLength } from "./table.js";
import { writeSheet } from "./write-sheet.js";

/** Reads a table from CSV (RFC 4180). */
export function readCsv(file: string, text: string): ReadTables {
  let rows: readonly SheetRow[];
  try {
    rows = parseRows(text);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { tables: [], problems: [diagnosticAt({ file, ...placeOf(error) }, describe(error))] };
  }
  return readSheet(file, rows);
}

/** About 200 cells, each of the greatest length. */
const maxRecordLength = 200 * maxCellLength;

function parseRows(text: string): readonly SheetRow[] {
  const parsed = parse(text, {
    relax_column_count: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    skip_empty_lines: true,
    max_record_size: maxRecordLength,
    info: true,
  }) as unknown as readonly {
    readonly record: readonly string[];
    readonly info: { readonly lines: number };
  }[];
  return parsed.map(({ record, info }) => ({ line: startOf(record, info.lines), values: record }));
}

/** Returns the line where a record starts; the parser counts that of its end. */
const startOf = (record: readonly string[], end: number): number =>
  end - record.reduce((breaks, value) => breaks + (value.match(/\r\n|\n|\r/g)?.length ?? 0), 0);

function placeOf(error: CsvError): { readonly line: number; readonly column: number } {
  const { lines, column } = error as unknown as { readonly lines?: number; readonly column?: number };
  return { line: lines ?? 1, column: typeof column === "number" ? column + 1 : 1 };
}

function describe({ code }: CsvError): { readonly message: string; readonly hint: string } {
  switch (code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return {
        message: "a quoted cell is not closed before the end of the file",
        hint: "add the closing double quote",
      };
    case "CSV_MAX_RECORD_SIZE":
      return {
        message: `the row is longer than ${maxRecordLength} characters`,
        hint: "check the double quotes: one that is not closed joins rows",
      };
    default:
      return {
        message: "a double quote is in the wrong place",
        hint: 'put the whole cell in double quotes, and write each of its own twice, as in "say ""a"""',
      };
  }
}

/** Writes a table as CSV; spreadsheets and `readCsv` read it. */
export function writeCsv(table: Table): string {
  const { settings, header, rows } = writeSheet(table);
  return [...settings, header, ...rows].map((row) => `${row.map(quoteCell).join(",")}\n`).join("");
}

/** The semicolon too: in locales with decimal commas, spreadsheets use it as the separator. */
const special = /[",;\t\r\n]/;

const quoteCell = (text: string): string => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
