import type { Segments } from "../expression/column-path.js";
import { isSamePath } from "../expression/column-path.js";
import type { Literal } from "../expression/syntax.js";
import type { ColumnType } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Bound, Call, Cell, Instant, Test } from "./cell.js";
import { InvalidCell, isInstant } from "./cell.js";
import { dateType, readPath } from "./feel.js";

/** Writes a cell as unary tests. Throws `InvalidCell` for what FEEL cannot express. */
export function writeUnaryTests(cell: Cell | undefined, type?: ColumnType): string {
  if (cell === undefined) return "-";
  const { negated, tests } = cell;
  const [only, ...others] = tests;
  if (only !== undefined && others.length === 0) {
    if (only.kind === "call") return writeCall(only, negated);
    if (only.kind === "equals" && only.value === null) return `? ${negated ? "!=" : "="} null`;
  }
  const text = tests.map((test) => writeTest(test, type)).join(", ");
  return negated ? `not(${text})` : text;
}

function writeTest(test: Test, type: ColumnType | undefined): string {
  switch (test.kind) {
    case "equals":
      return test.value === null ? "? = null" : writeLiteral(test.value, type);
    case "order":
      return `${test.operator} ${writeLiteral(test.bound, type)}`;
    case "range": {
      const [open, close] = [test.fromOpen ? "(" : "[", test.toOpen ? ")" : "]"];
      return `${open}${writeLiteral(test.from, type)}..${writeLiteral(test.to, type)}${close}`;
    }
    case "call":
      // In a list, `not(null)` would be a function of null.
      if (test.name === "exists") return test.negated ? "null" : "? != null";
      return writeCall(test, false);
  }
}

const functions: Readonly<Partial<Record<string, string>>> = {
  contains: "contains",
  starts_with: "starts with",
  ends_with: "ends with",
};

/** Writes a test that calls a function; the only one of its cell, if it is negated. */
function writeCall(test: Call, negated: boolean): string {
  const { name, args } = test;
  const isNegated = test.negated !== negated;
  if (name === "exists") return isNegated ? "null" : "not(null)";
  const known = functions[name];
  const [text, ...others] = args;
  if (known === undefined || typeof text !== "string" || others.length > 0) throw unwritable(test);
  const call = `${known}(?, ${writeString(text)})`;
  return isNegated ? `not(${call})` : call;
}

const unwritable = ({ name }: Call): InvalidCell =>
  new InvalidCell(
    `\`${name}\` cannot be written in FEEL here`,
    "export the table as CSV, or write the condition in another way",
  );

function writeLiteral(value: Literal | Bound | Instant, type: ColumnType | undefined): string {
  if (isInstant(value)) return `date and time(${writeString(toFeelInstant(value.instant))})`;
  if (typeof value === "number") return writeNumber(value);
  return typeof value === "string" ? writeText(value, type) : String(value);
}

/** Writes a text; in a column of dates, a date. */
function writeText(text: string, type: ColumnType | undefined): string {
  const isDate = (type === "date" || type === "time") && dateType(text) === type;
  return isDate ? `${type}(${writeString(text)})` : writeString(text);
}

/** FEEL requires seconds, and a colon in the zone. */
function toFeelInstant(text: string): string {
  const [, day = "", time = "00:00", seconds = ":00", fraction = "", zone = "Z"] =
    /^(.{10})(?:.(\d\d:\d\d)(:\d\d)?([.,]\d+)?(.+)?)?$/.exec(text) ?? [];
  return `${day}T${time}${seconds}${fraction.replace(",", ".")}${zone.toUpperCase().replace(/^(...)(\d\d)$/, "$1:$2")}`;
}

const writeString = (text: string): string =>
  `"${text.replace(/["\\\n\r\t]/g, (character) => escapes[character] ?? `\\${character}`)}"`;

const escapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Writes a number without an exponent, which FEEL had not until DMN 1.5. */
function writeNumber(value: number): string {
  const [mantissa = "", exponent] = String(value).split("e");
  if (exponent === undefined) return mantissa;
  const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(mantissa) ?? [];
  const shift = Number(exponent);
  if (shift > 0) return sign + whole + fraction.padEnd(shift, "0");
  return `${sign}0.${"0".repeat(-shift - whole.length)}${whole}${fraction}`;
}

/** Writes a value as a literal, a list or a context. */
export function writeFeelValue(value: Json, type?: ColumnType): string {
  if (typeof value === "string")
    return type === "dateTime" && dateType(value) === type
      ? `date and time(${writeString(value)})`
      : writeText(value, type);
  if (typeof value === "number") return writeNumber(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((each: Json) => writeFeelValue(each)).join(", ")}]`;
  const entries = Object.entries(value).map(
    ([key, each]: [string, Json]) => `${writeString(key)}: ${writeFeelValue(each)}`,
  );
  return `{${entries.join(", ")}}`;
}

/** Writes a path as an input expression. Throws `InvalidCell` if FEEL cannot name one of its steps. */
export function writePath(path: Segments): string {
  const text = path.join(".");
  if (isReadAs(text, path)) return text;
  throw new InvalidCell(
    `the path \`${text}\` cannot be written in FEEL`,
    "rename the keys: letters, digits, `_` and single spaces are allowed",
  );
}

function isReadAs(text: string, path: Segments): boolean {
  try {
    return isSamePath(readPath(text, []), path);
  } catch (error) {
    if (error instanceof InvalidCell) return false;
    throw error;
  }
}
