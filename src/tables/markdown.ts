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
      label === undefined ? code(pathHeading(path)) : escape(label),
    ),
    ...(hasRest ? ["condition"] : []),
    ...header.slice(inputs).map((title) => escape(title.replace("then:", ""))),
  ];
  const lines = rows.map((row, index) => [
    ...row.slice(0, inputs).map((cell) => escape(isDefault(index) ? cellText(undefined) : cell)),
    ...(hasRest ? [(rest[index] ?? []).map(code).join(" and ")] : []),
    ...row.slice(inputs).map(escape),
  ]);
  const about = settings
    .map(([name = "", ...values]) => `${name}: ${values.map(code).join(", ")}`)
    .join(" · ");
  return [
    `### ${escape(table.name ?? table.id ?? "")}`,
    "",
    ...(table.description === undefined ? [] : [escape(table.description), ""]),
    ...(about === "" ? [] : [about, ""]),
    row(titles),
    row(titles.map(() => "---")),
    ...lines.map(row),
    "",
  ].join("\n");
}

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Escapes what markdown would read as markup. */
const escape = (text: string): string =>
  text.replace(/[\\|`*_<&]|(?<=\])\(/g, "\\$&").replace(/\r\n|[\r\n]/g, "<br>");

/** Writes code; within a table, a bar must be escaped even there. */
function code(text: string): string {
  const fence = "`".repeat(Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length)) + 1);
  const padding = /^`|`$/.test(text) ? " " : "";
  return `${fence}${padding}${text.replaceAll("|", "\\|").replace(/\r\n|[\r\n]/g, " ")}${padding}${fence}`;
}
