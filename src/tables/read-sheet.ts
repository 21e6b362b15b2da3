import { diagnosticAt } from "../definition/diagnostics.js";
import { InvalidJson, parseJson } from "../digest/parse-json.js";
import type { Segments } from "../expression/column-path.js";
import { isSamePath, parsePath } from "../expression/column-path.js";
import { isForbiddenKey } from "../expression/path.js";
import { isObject } from "../expression/equal.js";
import { pathText, splitPath } from "../expression/syntax.js";
import type { Answer } from "../model/definition.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { Json, JsonObject } from "../model/json.js";
import { didYouMean } from "../text.js";
import type { Cell, Test } from "./cell.js";
import {
  bareTexts,
  equals,
  InvalidCell,
  numericHint,
  parseCell,
  parseText,
  parseValue,
  toCell,
} from "./cell.js";
import type { InputColumn, Place, ReadTables, Table, TableRule, TableSettings } from "./table.js";
import {
  aggregates,
  hitPolicies,
  maxCellLength,
  maxColumns,
  maxConditions,
  maxProblems,
  maxRules,
} from "./table.js";

/** A cell as the file has it: text, or a value whose type the spreadsheet knows. An empty text is an empty cell. */
export type SheetValue = string | number | boolean;

export interface SheetRow {
  /** The line of the file, or the row of the spreadsheet. */
  readonly line: number;
  readonly values: readonly SheetValue[];
}

/** Reads the rows of a CSV file or a spreadsheet: settings, a header, rules and the default. */
export function readSheet(file: string, rows: readonly SheetRow[]): ReadTables {
  const reader = new SheetReader(file);
  const table = reader.read(rows.filter(({ values }) => values.some((value) => value !== "")));
  const { problems } = reader;
  const shown = problems.slice(0, maxProblems);
  if (problems.length > maxProblems) {
    const severity = problems.some((each) => each.severity === "error") ? "error" : "warning";
    const message = `there are more ${severity === "error" ? "problems" : "warnings"}`;
    shown.push(diagnosticAt({ file, line: 1, column: 1 }, { severity, message }));
  }
  return { tables: table === undefined ? [] : [table], problems: shown };
}

/** Returns the values up to the last one that is not empty: a row can have a million commas. */
const withoutEmptyEnd = (values: readonly SheetValue[]): readonly SheetValue[] =>
  values.slice(0, values.findLastIndex((value) => value !== "") + 1);

/** What a column of the file holds. */
type Heading =
  | { readonly kind: "if"; readonly path: Segments }
  | { readonly kind: "output"; readonly path: Segments }
  | { readonly kind: "target" | "label" | "priority" | "description" }
  | { readonly kind: "none" };

const plainHeadings = ["then:target", "then:label", "priority", "description"] as const;

class SheetReader {
  readonly problems: Diagnostic[] = [];
  readonly #file: string;
  #headings: readonly Heading[] = [];
  /** The texts of the header, for messages. */
  #titles: readonly string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  read(rows: readonly SheetRow[]): Table | undefined {
    const start = rows.findIndex(({ values }) => !isSetting(values[0]));
    const settings = this.#settings(rows.slice(0, start === -1 ? rows.length : start));
    const header = rows[start];
    if (header === undefined) {
      this.#report({ line: 1, column: 1 }, "the file has no header", headerHint);
      return undefined;
    }
    if (!this.#readHeader(header)) return undefined;
    const body = rows.slice(start + 1);
    if (body.length > maxRules + 1) {
      this.#report(
        { line: header.line, column: 1 },
        `a table may have at most ${maxRules} rules (got ${body.length})`,
      );
      return undefined;
    }
    return this.#readBody(settings, body, header.line);
  }

  #report({ line, column }: Place, message: string, hint?: string): void {
    this.problems.push(diagnosticAt({ file: this.#file, line, column }, { message, hint }));
  }

  /** Runs a reader of a cell, and reports its error at the place of the cell. */
  #attempt<Result>(place: Place, what: string, read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof InvalidCell) && !(error instanceof InvalidJson)) throw error;
      this.#report(place, `${what}: ${error.message}`, error.hint);
      return undefined;
    }
  }

  #settings(rows: readonly SheetRow[]): TableSettings {
    let settings: TableSettings = {};
    const seen = new Set<string>();
    for (const { line, values } of rows) {
      const name = String(values[0]).trim().toLowerCase();
      const given = withoutEmptyEnd(values).slice(1);
      if (seen.has(name))
        this.#report({ line, column: 1 }, `\`${name}\` is set twice`, "remove one of the two lines");
      seen.add(name);
      const setting = this.#attempt({ line, column: 2 }, `\`${name}\``, () => readSetting(name, given));
      settings = { ...settings, ...setting };
    }
    return settings;
  }

  #readHeader({ line, values }: SheetRow): boolean {
    const written = withoutEmptyEnd(values);
    const before = this.problems.length;
    if (written.length > maxColumns) {
      this.#report(
        { line, column: maxColumns + 1 },
        `a table may have at most ${maxColumns} columns (got ${written.length})`,
      );
      return false;
    }
    this.#titles = written.map((value) => String(value).trim());
    const headings: Heading[] = [];
    for (const [index, title] of this.#titles.entries()) {
      const place = { line, column: index + 1 };
      const heading = readHeading(title);
      if (heading === undefined) {
        this.#report(
          place,
          title === "" ? "the column has no heading" : `unknown column \`${title}\``,
          headingHint(title),
        );
      } else if (headings.some((other) => isSameHeading(heading, other))) {
        this.#report(place, `there are two columns \`${title}\``, "remove one of the two");
      }
      headings.push(heading ?? { kind: "none" });
    }
    this.#headings = headings;
    const hasAnswer = headings.some(({ kind }) => kind === "target" || kind === "output");
    if (this.problems.length === before && !hasAnswer)
      this.#report(
        { line, column: 1 },
        "no column says what a rule answers with",
        this.#titles.some((title) => title.includes(";")) ? semicolonHint : headerHint,
      );
    return this.problems.length === before;
  }

  #readBody(settings: TableSettings, body: readonly SheetRow[], header: number): Table {
    const columns = this.#headings.flatMap((each): InputColumn[] =>
      each.kind === "if" ? [{ path: each.path }] : [],
    );
    const rules: TableRule[] = [];
    const ruleRows: SheetRow[] = [];
    let conditions = 0;
    let fallback: Answer | undefined;
    for (const [index, row] of body.entries()) {
      if (this.problems.length > maxProblems) break;
      if (!this.#hasAllCells(row)) continue;
      const rule = this.#readRule(row);
      conditions += rule.cells.filter((cell) => cell !== undefined).length;
      if (conditions > maxConditions) {
        this.#report(rule.place(), `a table may have at most ${maxConditions} conditions`, "split the table");
        break;
      }
      if (rule.label !== "default") {
        rules.push(rule);
        ruleRows.push(row);
      } else if (index < body.length - 1)
        this.#report(
          rule.place(),
          "the default must be the last row",
          "move the row labelled `default` to the end",
        );
      else fallback = this.#readDefault(rule, row);
    }
    if (rules.length === 0 && this.problems.length === 0)
      this.#report(
        { line: header, column: 1 },
        "the table has no rules",
        "add a row for each rule below the header",
      );
    if (this.problems.length === 0) this.#warnAboutTexts(rules, ruleRows);
    return { ...settings, columns, answers: [], rules, ...(fallback !== undefined && { default: fallback }) };
  }

  /** Warns about texts without quotes in columns that compare numbers: they were meant to match numbers, too. */
  #warnAboutTexts(rules: readonly TableRule[], rows: readonly SheetRow[]): void {
    const inputs = [...this.#headings.keys()].filter((index) => this.#kindAt(index) === "if");
    for (const [position, index] of inputs.entries()) {
      const cells = rules.map((rule) => rule.cells[position]);
      if (!cells.some((cell) => cell?.tests.some(comparesNumbers))) continue;
      for (const [at, { line, values }] of rows.entries()) {
        if (this.problems.length > maxProblems) return;
        const value = values[index];
        if (typeof value !== "string" || cells[at]?.tests.some(isText) !== true) continue;
        for (const text of bareTexts(value)) {
          const place = { file: this.#file, line, column: index + 1 };
          const message = `\`${this.#titles[index] ?? ""}\`: \`${text}\` is a text here, and equal to no number`;
          this.problems.push(diagnosticAt(place, { severity: "warning", message, hint: numericHint(text) }));
        }
      }
    }
  }

  #hasAllCells({ line, values }: SheetRow): boolean {
    const expected = this.#headings.length;
    const surplus = values.findIndex((value, index) => value !== "" && this.#kindAt(index) === "none");
    if (surplus !== -1) {
      this.#report({ line, column: surplus + 1 }, "the cell is in a column without a heading", quotesHint);
      return false;
    }
    if (values.length >= expected) return true;
    this.#report(
      { line, column: values.length + 1 },
      `the row has ${values.length} cells, the header has ${expected}`,
      quotesHint,
    );
    return false;
  }

  #kindAt(index: number): Heading["kind"] {
    return this.#headings[index]?.kind ?? "none";
  }

  #readRule({ line, values }: SheetRow): PlacedRule {
    const cells: (Cell | undefined)[] = [];
    const texts: { target?: string; label?: string; description?: string } = {};
    let priority: number | undefined;
    const outputs: OutputPart[] = [];
    for (const [index, heading] of this.#headings.entries()) {
      const value = values[index] ?? "";
      const place = { line, column: index + 1 };
      const title = `\`${this.#titles[index] ?? ""}\``;
      if (String(value).length > maxCellLength) {
        this.#report(place, `${title}: the cell is longer than ${maxCellLength} characters`);
        continue;
      }
      switch (heading.kind) {
        case "if":
          cells.push(this.#attempt(place, title, () => readCondition(value)));
          break;
        case "target":
        case "label":
        case "description":
          if (value !== "") texts[heading.kind] = this.#attempt(place, title, () => readText(value)) ?? "";
          break;
        case "priority":
          if (value !== "") priority = this.#attempt(place, title, () => readNumber(value));
          break;
        case "output":
          if (value !== "") {
            const read = this.#attempt(place, title, () => readValue(value));
            if (read !== undefined) outputs.push({ path: heading.path, value: read });
          }
          break;
        case "none":
          break;
      }
    }
    const { target, label, description } = texts;
    const output = this.#attempt({ line, column: 1 }, "the output", () => joinOutputs(outputs));
    if (target === undefined && outputs.length === 0)
      this.#report(
        { line, column: 1 },
        "the rule has neither a target nor an output",
        "fill in `then:target` or `then:output`",
      );
    return {
      cells,
      answer: { ...(target !== undefined && { target }), ...(output !== undefined && { output }) },
      ...(label !== undefined && { label }),
      ...(priority !== undefined && { priority }),
      ...(description !== undefined && { description }),
      place: () => ({ line, column: 1 }),
    };
  }

  #readDefault({ cells, answer, priority, description, place }: PlacedRule, { values }: SheetRow): Answer {
    const tested = this.#headings.findIndex(
      ({ kind }, index) => kind === "if" && String(values[index]).trim() !== "-",
    );
    if (cells.some((cell) => cell !== undefined))
      this.#report(
        { ...place(), column: tested + 1 },
        "the default has no conditions",
        "write `-` in every `if:` cell of the row labelled `default`",
      );
    if (priority !== undefined || description !== undefined)
      this.#report(
        place(),
        "the default has neither a priority nor a description",
        "leave these cells empty",
      );
    return answer;
  }
}

const comparesNumbers = (test: Test): boolean =>
  (test.kind === "order" && typeof test.bound === "number") ||
  (test.kind === "range" && typeof test.from === "number");

const isText = (test: Test): boolean => test.kind === "equals" && typeof test.value === "string";

type PlacedRule = TableRule & { readonly place: () => Place };

const quotesHint = 'put a cell that contains a comma in double quotes, as in "a, b"';
const headerHint = "the first row names the columns, such as if:severity, if:attempts, then:target";

const semicolonHint = "separate the columns with commas, not with semicolons";

const settingNames = ["hit_policy", "aggregate", "output_values", "input", "on_error"];

const isSetting = (value: SheetValue | undefined): boolean =>
  typeof value === "string" && settingNames.includes(value.trim().toLowerCase());

function readSetting(name: string, values: readonly SheetValue[]): TableSettings {
  if (values.length > maxRules) throw new InvalidCell(`the line has more than ${maxRules} values`);
  if (name === "output_values") return { output_values: values.map(readValue) };
  const [value, ...others] = values;
  if (value === undefined || others.length > 0) throw new InvalidCell("the line needs one value");
  const text = readText(value);
  switch (name) {
    case "hit_policy":
      return { hit_policy: oneOf(hitPolicies, text) };
    case "aggregate":
      return { aggregate: oneOf(aggregates, text) };
    case "on_error":
      return { on_error: oneOf(["no_match", "fail"] as const, text) };
    default:
      return { input: text };
  }
}

/** Returns the value that a text names; case, spaces and hyphens do not matter. */
export function oneOf<Value extends string>(allowed: readonly Value[], text: string): Value {
  const name = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
  const value = allowed.find((each) => each === name);
  if (value !== undefined) return value;
  throw new InvalidCell(
    `unknown value \`${text}\``,
    didYouMean(name, allowed) ?? `use one of ${allowed.join(", ")}`,
  );
}

function readHeading(title: string): Heading | undefined {
  const name = title.toLowerCase();
  const plain = plainHeadings.find((each) => each === name);
  if (plain !== undefined)
    return { kind: plain.replace("then:", "") as "target" | "label" | "priority" | "description" };
  if (name.startsWith("if:")) {
    const path = parsePath(title.slice("if:".length));
    return path && { kind: "if", path };
  }
  if (!/^then:output(?:[.[]|$)/.test(name)) return undefined;
  const written = `output${title.slice("then:output".length)}`;
  const [, ...path] = splitPath(written);
  const isPath = pathText(["output", ...path]) === written && !path.some(isForbiddenKey);
  return isPath ? { kind: "output", path } : undefined;
}

function isSameHeading(one: Heading, other: Heading): boolean {
  if (one.kind === "none" || one.kind !== other.kind) return false;
  return "path" in one && "path" in other ? isSamePath(one.path, other.path) : true;
}

function headingHint(title: string): string {
  if (title.includes(";")) return semicolonHint;
  if (/^if:/i.test(title)) return "write a path after `if:`, such as if:customer.tier";
  return (
    didYouMean(title, [...plainHeadings, "then:output"]) ??
    "columns are if:PATH, then:target, then:label, then:output, then:output.KEY, priority and description"
  );
}

function readCondition(value: SheetValue): Cell | undefined {
  return typeof value === "string" ? parseCell(value) : toCell([equals(value)]);
}

const readText = (value: SheetValue): string =>
  typeof value === "string" ? parseText(value) : String(value);

function readNumber(value: SheetValue): number {
  const read = readValue(value);
  if (typeof read === "number") return read;
  throw new InvalidCell(`\`${String(value).slice(0, 40)}\` is not a number`);
}

function readValue(value: SheetValue): Json {
  if (typeof value !== "string") return value;
  const read = parseValue(value);
  if ("value" in read) return read.value;
  try {
    return parseJson(read.json, { maxDepth: 32 }) as Json;
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    throw new InvalidCell(
      `invalid JSON: ${error.message}`,
      error.hint ?? "put text that starts with a bracket in quotes",
    );
  }
}

/** A value, and where it is in the output of a rule; an empty path is the whole output. */
interface OutputPart {
  readonly path: Segments;
  readonly value: Json;
}

function joinOutputs(parts: readonly OutputPart[]): Json | undefined {
  const [whole, ...others] = parts;
  if (whole === undefined) return undefined;
  if (whole.path.length === 0 && others.length === 0) return whole.value;
  return parts.reduce<JsonObject>((output, { path, value }) => addPart(output, path, value), {});
}

function addPart(output: JsonObject, [step, ...rest]: Segments, value: Json): JsonObject {
  if (step === undefined || (rest.length === 0 && Object.hasOwn(output, step))) throw outputConflict();
  if (rest.length === 0) return { ...output, [step]: value };
  const inner = Object.hasOwn(output, step) ? output[step] : {};
  if (!isObject(inner)) throw outputConflict();
  return { ...output, [step]: addPart(inner, rest, value) };
}

const outputConflict = (): InvalidCell =>
  new InvalidCell("two columns set the same part of it", "fill in either the whole or its parts");
