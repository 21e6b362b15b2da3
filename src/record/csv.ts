import type { Json, JsonObject } from "../model/json.js";
import type { LogRecord } from "../model/record.js";
import { callersOf } from "./record-keys.js";

/** The columns of an export as CSV; the JSON lines have every field. */
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
  "caller",
  "outputs",
] as const;

export const csvHeader = `${csvColumns.join(",")}\r\n`;

/** Formats a record as a line of CSV (RFC 4180); missing fields are empty. `escape` changes the text of each cell. */
export function csvLine(record: LogRecord, escape: (text: string) => string = (text) => text): string {
  const caller = callersOf(record).join(", by ");
  const fields = { ...record, ...(caller !== "" && { caller }) } as unknown as Partial<JsonObject>;
  return `${csvColumns.map((column) => quoteCell(escape(cell(column, fields[column])))).join(",")}\r\n`;
}

function cell(column: (typeof csvColumns)[number], value: Json | undefined): string {
  if (value === undefined) return "";
  // JSON starts with a quote, a bracket, a digit or the minus of a number, never with a formula.
  if (column === "input_value" || column === "outputs") return JSON.stringify(value);
  if (Array.isArray(value)) return escapeFormula(value.map(textOf).join("; "));
  return typeof value === "string" ? escapeFormula(value) : textOf(value);
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * Spreadsheets evaluate cells that start like this; a leading apostrophe makes them text. Some skip white space before a
 * formula, and those for East Asian languages take full-width characters for the others.
 */
const formula = /^[=+\-@＝＋－＠\t\r\n]/;

const escapeFormula = (text: string): string => (formula.test(text) ? `'${text}` : text);

/** The semicolon too: in locales with decimal commas, spreadsheets use it as the separator. */
const special = /[",;\t\r\n]/;

const quoteCell = (text: string): string => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
