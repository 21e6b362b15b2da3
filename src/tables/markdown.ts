import { pathHeading } from "../expression/column-path.js";
import { cellText } from "./cell.js";
import type { DefinitionTable } from "./definition-table.js";
import { writeSheet } from "./write-sheet.js";

/** Writes a table for people to read, such as in a pull request. What has no column is in a column of its own. */
export function writeMarkdown({ table, rest }: DefinitionTable): string {
  const { header, rows, settings } = writeSheet(table);
  const inputs = table.columns.length;
  const hasRest = rest.some((parts) => parts.length > 0);
  const isDefault = (index: number): boolean => index >= table.rules.length;
  const titles = [
    ...table.columns.map(({ path, label }) =>
      label === undefined ? markdownCode(pathHeading(path)) : markdownText(label),
    ),
    ...(hasRest ? ["condition"] : []),
    ...header.slice(inputs).map((title) => markdownText(title.replace("then:", ""))),
  ];
  const lines = rows.map((row, index) => [
    ...row.slice(0, inputs).map((cell) => markdownText(isDefault(index) ? cellText(undefined) : cell)),
    ...(hasRest ? [(rest[index] ?? []).map(markdownCode).join(" and ")] : []),
    ...row.slice(inputs).map(markdownText),
  ]);
  const about = settings
    .map(([name = "", ...values]) => `${name}: ${values.map(markdownCode).join(", ")}`)
    .join(" · ");
  return [
    `### ${markdownText(table.name ?? table.id ?? "")}`,
    "",
    ...(table.description === undefined ? [] : [markdownText(table.description), ""]),
    ...(about === "" ? [] : [about, ""]),
    markdownRow(titles),
    markdownRow(titles.map(() => "---")),
    ...lines.map(markdownRow),
    "",
  ].join("\n");
}

/** Writes a row of a table. */
export const markdownRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Escapes what markdown would read as markup. */
export const markdownText = (text: string): string =>
  text.replace(/[\\|`*_<&]|(?<=\])\(/g, "\\$&").replace(/\r\n|[\r\n]/g, "<br>");

/** Writes code; within a table, a bar must be escaped even there. */
export function markdownCode(text: string): string {
  const fence = "`".repeat(Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length)) + 1);
  const padding = /^`|`$/.test(text) ? " " : "";
  return `${fence}${padding}${text.replaceAll("|", "\\|").replace(/\r\n|[\r\n]/g, " ")}${padding}${fence}`;
}

/** Escapes a text but for its code in backticks. */
export const markdownProse = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? markdownCode(part.slice(1, -1)) : markdownText(part)))
    .join("");
