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

/** Formats a line of a description: an indented name and its value. */
export const fieldLine = (
  name: string,
  text: string,
  { paint }: Pick<Style, "paint">,
  nameWidth = 9,
): string => `  ${paint("dim", name.padEnd(nameWidth))} ${text}`;

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
