import { casesOf } from "../definition/expressions.js";
import { labelsOf } from "../definition/labels.js";
import type { Case, Definition, LoadedDefinition } from "../model/definition.js";
import type { Style, View } from "./format.js";
import { printable } from "../printable.js";

export function listView(loaded: readonly LoadedDefinition[]): View {
  const items = loaded.map(({ definition, definition_hash, file, line }) => ({
    id: definition.id,
    ...(definition.name !== undefined && { name: definition.name }),
    type: definition.type,
    ...(definition.version !== undefined && { version: definition.version }),
    ...(definition.description !== undefined && { description: definition.description }),
    cases: casesOf(definition).length,
    definition_hash,
    file,
    line,
  }));
  const rows = items.map(({ id, type, cases, version, name, file }) =>
    [id, type, String(cases), version ?? "", name ?? "", file].map(printable),
  );
  return {
    value: items,
    items,
    plain: () => rows.map((row) => row.join("\t")).join("\n"),
    table: async (style) => {
      if (rows.length === 0) return "";
      const { grid } = await import("./grid.js");
      const titles = ["id", "type", "cases", "version"].map((title) => ({ title }));
      const withoutFile = rows.map((row) => row.slice(0, -1));
      return grid([...titles, { title: "name", flexible: true }], withoutFile, style);
    },
  };
}

export function definitionView(loaded: LoadedDefinition): View {
  const { definition, definition_hash, environment_hash, file, line } = loaded;
  return {
    value: { ...definition, definition_hash, environment_hash, file, line },
    plain: () =>
      caseRows(definition)
        .map((row) => row.join("\t"))
        .join("\n"),
    table: (style) => describe(loaded, style),
  };
}

async function describe(
  { definition, definition_hash, file, line }: LoadedDefinition,
  style: Style,
): Promise<string> {
  const { grid } = await import("./grid.js");
  const { paint } = style;
  const field = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`  ${paint("dim", name.padEnd(11))} ${printable(value)}`];
  const policy = definition.type === "rule_table" ? ` (${definition.hit_policy ?? "first"})` : "";
  const second = definition.type === "weighted" ? "weight" : "condition";
  const titles = [{ title: "label" }, { title: second, flexible: true as const }, { title: "target" }];
  const columns = definition.type === "rule_table" ? [...titles, { title: "priority" }] : titles;
  return [
    `${paint("bold", definition.id)}  ${printable(definition.name ?? "")}`,
    "",
    ...field("type", definition.type + policy),
    ...field("version", definition.version),
    ...field("description", definition.description),
    ...field("input", definition.input ?? "the whole context"),
    ...field("salt", definition.type === "weighted" ? definition.salt : undefined),
    ...field("default", definition.default.target),
    ...field("cache", definition.cache?.enabled ? (definition.cache.ttl ?? "1h") : undefined),
    ...field("file", `${file}:${line}`),
    ...field("hash", definition_hash),
    "",
    grid(columns, caseRows(definition), style),
  ].join("\n");
}

function caseRows(definition: Definition): readonly (readonly string[])[] {
  const cases = casesOf(definition).map(({ each }) => each);
  const labels = labelsOf(cases);
  return cases.map((each, index) =>
    [labels[index] ?? "", middle(definition, each), each.target, ...last(definition, each)].map(printable),
  );
}

function middle(definition: Definition, each: Case): string {
  if (definition.type !== "weighted") return each.condition ?? "";
  const condition = each.condition?.trim() ? ` if ${each.condition}` : "";
  return `${each.weight ?? 0}${condition}`;
}

const last = (definition: Definition, each: Case): readonly string[] =>
  definition.type === "rule_table" ? [String(each.priority ?? 0)] : [];
