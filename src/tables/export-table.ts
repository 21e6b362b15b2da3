import type { Definition } from "../model/definition.js";
import { writeCsv } from "./csv.js";
import type { UnfitRule } from "./definition-table.js";
import { isTableDefinition, toTable } from "./definition-table.js";
import { writeMarkdown } from "./markdown.js";

export const tableFormats = ["csv", "dmn", "markdown"] as const;
export type TableFormat = (typeof tableFormats)[number];

/** A definition as a table, or all reasons why it cannot be one. */
export type ExportedTable =
  { readonly text: string; readonly warnings: readonly string[] } | { readonly unfit: readonly UnfitPart[] };

/** What a table cannot express; `index` is that of the rule, `key` what of it, if that is not its condition. */
export interface UnfitPart extends Omit<UnfitRule, "label" | "index"> {
  readonly label?: string;
  readonly index?: number;
  readonly key?: "output";
}

/** Writes a definition as a table. */
export async function exportTable(definition: Definition, format: TableFormat): Promise<ExportedTable> {
  if (!isTableDefinition(definition)) {
    const hint = "rule tables, binary and switch decisions can be exported";
    return { unfit: [{ message: `a \`${definition.type}\` decision is not a table`, hint }] };
  }
  const converted = toTable(definition);
  const { table, unfit, reordered } = converted;
  if (format === "markdown") return { text: writeMarkdown(converted), warnings: [] };
  if (unfit.length > 0) return { unfit };
  const warnings = [...leftOut(definition), ...reordered.map(reorderedWarning)];
  if (format === "csv") return { text: writeCsv(table), warnings };
  const { writeDmn } = await import("./write-dmn.js");
  const written = await writeDmn({ ...table, id: definition.id });
  if ("xml" in written) return { text: written.xml, warnings };
  return { unfit: written.unwritable };
}

/** What a decision has besides its rules. */
const otherKeys = ["guardrails", "enrich", "entities", "artifacts", "logging", "cache"] as const;

function leftOut(definition: Definition): readonly string[] {
  const isMarked = "default" in definition && definition.default.unexpected !== undefined;
  const keys = [
    ...(isMarked ? (["unexpected"] as const) : []),
    ...otherKeys.filter((key) => definition[key] !== undefined),
  ];
  return keys.length === 0 ? [] : [`a table has no place for ${keys.map((key) => `\`${key}\``).join(", ")}`];
}

const reorderedWarning = (label: string): string =>
  `the rule \`${label}\` tests its values in another order than that of the columns, which matters only for values that ` +
  "cannot be tested";
