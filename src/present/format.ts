import { displayWidth, wrap } from "./text-width.js";
import { terminalText } from "../text.js";

/** An output format. */
export type Format = "table" | "plain" | "json" | "jsonl" | "yaml";

export const formats: readonly Format[] = ["table", "plain", "json", "jsonl", "yaml"];

/** An answer in every output format. */
export interface View {
  /** For `json` and `yaml`. */
  readonly value: unknown;
  /** The lines of `jsonl`. Absent: the value is one line. */
  readonly items?: readonly unknown[];
  plain(): string;
  table(style: Style): string | Promise<string>;
}

/** The width and colours of the terminal. */
export interface Style {
  readonly columns: number;
  readonly paint: Paint;
}

export type Colour = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";
export type Paint = (colour: Colour, text: string) => string;

/** Formats a view. Views put values on one line; what else could control a terminal is escaped here for all of them. */
export async function present(view: View, format: Format, style: Style): Promise<string> {
  switch (format) {
    case "json":
      return `${JSON.stringify(view.value, null, 2)}\n`;
    case "jsonl":
      return (view.items ?? [view.value]).map((item) => `${JSON.stringify(item)}\n`).join("");
    case "yaml":
      return (await loadYaml())(view.value);
    case "plain":
      return endLine(terminalText(view.plain()));
    case "table":
      return endLine(terminalText(await view.table(style)));
  }
}

/**
 * Formats a line of a description: an indented name and its value, which continues below itself. A value that does not
 * fit there, such as a hash, follows its name directly.
 */
export function fieldLine(name: string, text: string, style: Style, nameWidth = 9): string {
  const value = hangingText(text, style, { start: nameWidth + 3, indent: nameWidth + 3 });
  if (!value.startsWith("\n")) return `  ${style.paint("dim", name.padEnd(nameWidth))} ${value}`;
  const title = `  ${style.paint("dim", name)}`;
  return displayWidth(title) + 1 + displayWidth(text) <= style.columns ? `${title} ${text}` : title + value;
}

/** Formats the first line of a description: the answer and its detail. */
export function headline(answer: string, detail: string, style: Style): string {
  const start = displayWidth(answer) + 2;
  return displayWidth(detail) === 0
    ? answer
    : `${answer}  ${hangingText(detail, style, { start, indent: 2 })}`;
}

/** The indentation of a word that is too wide for the place of the others, such as a hash. */
const outdent = 4;

/**
 * Wraps a text that starts at a column, and indents its further lines. A word that does not fit there, but fits
 * further to the left, starts there.
 */
export function hangingText(
  text: string,
  { columns }: Pick<Style, "columns">,
  { start, indent }: { readonly start: number; readonly indent: number },
): string {
  if (!Number.isFinite(columns) || start + displayWidth(text) <= columns) return text;
  const lines = wrap(text, { first: columns - start, rest: columns - indent });
  return lines
    .map((line, index) => {
      if (index === 0 && (line === "" || start + displayWidth(line) <= columns)) return line;
      const fits = indent + displayWidth(line) <= columns;
      return `${index === 0 ? "\n" : ""}${" ".repeat(fits ? indent : Math.min(indent, outdent))}${line}`;
    })
    .join("\n");
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Loads the YAML library, which most commands do not need. */
export async function loadYaml(): Promise<(value: unknown) => string> {
  const { stringify } = await import("yaml");
  return (value) => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}

/** Loads the colour library, which output to a pipe does not need. */
export async function loadColours(): Promise<Paint> {
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level: 1 });
  return (colour, text) => chalk[colour](text);
}
