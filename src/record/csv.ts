import type { Json, JsonObject } from "../model/json.js";
import type { LogRecord } from "../model/record.js";

/** What a spreadsheet is given of a record; the whole of it is in the JSON lines. */
export const csvColumns = [
  "seq",
  "record_id",
  "timestamp",
  "kind",
  "decision_id",
  "decision_name",
  "decision_version",
  "type",
  "selected_labels",
  "selected_targets",
  "input_value",
  "because",
  "warnings",
  "cached",
  "blocked",
  "escalated",
  "workflow_id",
  "stage_id",
  "session_id",
  "correlation_id",
  "definition_hash",
  "deterministic_hash",
  "hash",
] as const;

export const csvHeader = `${csvColumns.join(",")}\r\n`;

/** A record as a line of RFC 4180; what it does not have stays empty. */
export function csvLine(record: LogRecord): string {
  const fields = record as unknown as Partial<JsonObject>;
  return `${csvColumns.map((column) => quoteCell(cell(column, fields[column]))).join(",")}\r\n`;
}

function cell(column: (typeof csvColumns)[number], value: Json | undefined): string {
  if (value === undefined) return "";
  // Begins with a quote, a bracket, a digit, a minus that belongs to a number: never with a formula.
  if (column === "input_value") return JSON.stringify(value);
  if (Array.isArray(value)) return escapeFormula(value.map(textOf).join("; "));
  return typeof value === "string" ? escapeFormula(value) : textOf(value);
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Spreadsheets run what begins like this; behind an apostrophe it is text. */
const formula = /^[=+\-@\t\r]/;

const escapeFormula = (text: string): string => (formula.test(text) ? `'${text}` : text);

/** The semicolon too: where commas are decimal, spreadsheets take it for the end of a cell. */
const special = /[",;\t\r\n]/;

const quoteCell = (text: string): string => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
