import { readSheet as readCells } from "read-excel-file/universal";
import { diagnosticAt } from "../definition/diagnostics.js";
import { isExactNumber } from "../digest/parse-json.js";
import { printable, didYouMean } from "../text.js";
import type { SheetRow, SheetValue } from "./read-sheet.js";
import { readSheet } from "./read-sheet.js";
import type { Place, ReadTables } from "./table.js";
import { maxColumns, maxProblems, maxRules } from "./table.js";
import type { XmlVisitor } from "./xml.js";
import { InvalidXml, readXml } from "./xml.js";
import { InvalidZip, readZip, writeZip } from "./zip.js";

/** Reads a table from a sheet of an .xlsx file; the first sheet, if none is named. */
export async function readXlsx(file: string, bytes: Buffer, sheet?: string): Promise<ReadTables> {
  try {
    const parts = readZip(bytes, (name) => /\.(?:xml|rels)$/i.test(name));
    const sheets = sheetsOf(parts);
    const index = sheet === undefined ? 0 : sheets.findIndex(({ name }) => name === sheet);
    const chosen = sheets[index];
    if (chosen === undefined) throw noSheet(sheet, sheets);
    const problems = inspectSheet(parts, chosen.path);
    if (problems.length > 0) {
      const shown = problems
        .slice(0, maxProblems)
        .map(({ row, column, ...text }) => diagnosticAt({ file, line: row, column }, text));
      return { tables: [], problems: shown };
    }
    for (const name of parts.keys()) if (name !== chosen.path) readPart(parts, name, ignoreXml);
    return readSheet(file, toRows(await readRows(parts, index + 1)));
  } catch (error) {
    if (!(error instanceof InvalidZip)) throw error;
    const { line, column } = error instanceof InvalidSheet ? error.place : { line: 1, column: 1 };
    return {
      tables: [],
      problems: [diagnosticAt({ file, line, column }, { message: error.message, hint: error.hint })],
    };
  }
}

/** A sheet with a cell that a table must not have. */
class InvalidSheet extends InvalidZip {
  /** The row and the column of the cell. */
  readonly place: Place;

  constructor(message: string, hint: string, place: Place) {
    super(message, hint);
    this.place = place;
  }
}

const ignoreXml = { open: () => undefined, text: () => undefined, close: () => undefined };

type Parts = ReadonlyMap<string, Buffer>;

function textOf(parts: Parts, name: string): string {
  const content = parts.get(name);
  if (content === undefined)
    throw new InvalidZip(`the spreadsheet has no \`${printable(name)}\``, "save the file again");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    throw new InvalidZip(`\`${printable(name)}\` is not UTF-8 text`, "save the file again");
  }
}

/** Reads the XML of a part. Throws `InvalidZip`, with the place in the part, which no spreadsheet program shows. */
function readPart(parts: Parts, name: string, visitor: XmlVisitor): void {
  const text = textOf(parts, name);
  try {
    readXml(text, {}, visitor);
  } catch (error) {
    if (!(error instanceof InvalidXml)) throw error;
    const { line, column } = error.place;
    throw new InvalidZip(
      `\`${printable(name)}\`, line ${line}, column ${column}: ${error.message}`,
      error.hint,
    );
  }
}

interface Sheet {
  readonly name: string;
  readonly path: string;
}

/** Returns the sheets of a workbook, in their order. */
function sheetsOf(parts: Parts): readonly Sheet[] {
  const targets = new Map<string, string>();
  readPart(parts, "xl/_rels/workbook.xml.rels", {
    ...ignoreXml,
    open(_name, { Id: id = "", Target: target = "" }) {
      targets.set(id, target.startsWith("/") ? target.slice(1) : `xl/${target}`);
    },
  });
  const sheets: Sheet[] = [];
  readPart(parts, "xl/workbook.xml", {
    ...ignoreXml,
    open(element, attributes) {
      if (!/(?:^|:)sheet$/.test(element)) return;
      const id = Object.entries(attributes).find(([key]) => /(?:^|:)id$/.test(key))?.[1] ?? "";
      sheets.push({ name: attributes["name"] ?? "", path: targets.get(id) ?? "" });
    },
  });
  return sheets;
}

function noSheet(sheet: string | undefined, sheets: readonly Sheet[]): InvalidZip {
  const names = sheets.map(({ name }) => name);
  if (sheet === undefined) return new InvalidZip("the spreadsheet has no sheet");
  return new InvalidZip(
    `the spreadsheet has no sheet \`${sheet}\``,
    didYouMean(sheet, names) ?? `its sheets are ${names.slice(0, 10).map(printable).join(", ")}`,
  );
}

interface CellProblem {
  readonly row: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Finds what a table must not contain, before the library reads the cells: formulas, whose stored values may be of any
 * age, errors, numbers that would be rounded, and cells far away, for which the library would fill in all cells in
 * between.
 */
function inspectSheet(parts: Parts, part: string): readonly CellProblem[] {
  const problems: CellProblem[] = [];
  let row = 0;
  let column = 0;
  let address = "";
  /** The text of the value that is open, if it is a number. */
  let number: string | undefined;
  let isNumber = false;
  const report = (message: string, hint: string): void => {
    problems.push({ row, column, message: `the cell \`${address}\` ${message}`, hint });
  };
  readPart(parts, part, {
    open(element, { r: reference, t: type = "n" }) {
      switch (element.replace(/^.*:/, "")) {
        case "row":
          row = reference === undefined ? row + 1 : Number(reference);
          column = 0;
          if (!Number.isSafeInteger(row) || row < 1 || row > maxRows)
            throw new InvalidZip(
              `the sheet has a row \`${printable(reference ?? "")}\`; a table has at most ${maxRules} rules`,
            );
          return;
        case "c": {
          if (reference === undefined)
            throw new InvalidZip(
              "the sheet has cells without an address",
              "open it in a spreadsheet program and save it again, or save it as .csv",
            );
          ({ row, column } = parseAddress(reference));
          address = reference;
          isNumber = type === "n";
          if (column > maxColumns || row > maxRows)
            throw new InvalidZip(
              `the cell \`${printable(address)}\` is too far away: a table has at most ${maxColumns} columns and ${maxRules} rules`,
            );
          if (type === "e") report("contains an error", "replace it by a value");
          return;
        }
        case "v":
          if (isNumber) number = "";
          return;
        case "f":
          report("contains a formula", "replace it by its value: copy it, and paste the value only");
      }
    },
    text(text) {
      if (number !== undefined) number += text;
    },
    close() {
      if (number === undefined) return;
      const written = number.trim();
      number = undefined;
      if (isExactNumber(written) && Number.isFinite(Number(written) || 0)) return;
      const isFinite = Number.isFinite(Number(written));
      report(
        `contains a number that is ${isFinite ? "rounded" : "too large"}: ${printable(written.slice(0, 40))}`,
        "write it as text",
      );
    },
  });
  return problems;
}

/** Room for settings, the header, the default, and some empty rows. */
const maxRows = maxRules + 1000;

function parseAddress(address: string): { readonly row: number; readonly column: number } {
  const [, letters = "", digits = ""] = /^([A-Z]{1,3})([1-9]\d{0,6})$/.exec(address) ?? [];
  if (letters === "")
    throw new InvalidZip(
      `the sheet has a cell with the address \`${printable(address.slice(0, 20))}\``,
      "save the file again",
    );
  const column = Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return { row: Number(digits), column };
}

type CellValue = string | number | boolean | Date | null;

/** Reads the cells with the library, which receives only what was checked. */
async function readRows(parts: Parts, sheet: number): Promise<readonly (readonly CellValue[])[]> {
  const archive = writeZip(parts);
  try {
    const content = archive.buffer.slice(archive.byteOffset, archive.byteOffset + archive.byteLength);
    return (await readCells(content as ArrayBuffer, sheet, {
      trim: false,
    })) as unknown as (readonly CellValue[])[];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const [, row, column] = /row (\d+),? col(?:umn)? (\d+)/.exec(reason) ?? [];
    throw new InvalidSheet(
      `the spreadsheet cannot be read: ${printable(reason).slice(0, 200)}`,
      "save the file again, or save it as .csv",
      { line: Number(row ?? 1), column: Number(column ?? 1) },
    );
  }
}

function toRows(rows: readonly (readonly CellValue[])[]): readonly SheetRow[] {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  return rows.map((row, index) => ({
    line: index + 1,
    values: Array.from({ length: width }, (_, at) =>
      toSheetValue(row[at] ?? null, { line: index + 1, column: at + 1 }),
    ),
  }));
}

/** Dates become ISO 8601 text; a spreadsheet has no zones, so a time is in UTC. */
function toSheetValue(value: CellValue, place: Place): SheetValue {
  if (value === null) return "";
  if (!(value instanceof Date)) return value;
  // A time without a date counts from the end of 1899.
  if (!(value.getUTCFullYear() >= 1900))
    throw new InvalidSheet("the cell contains a time without a date", "write it as text", place);
  const iso = value.toISOString();
  return iso.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : `${iso.slice(0, 19)}Z`;
}
