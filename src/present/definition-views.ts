import { casesOf } from "../definition/expressions.js";
import { fetchesOf } from "../definition/fetches.js";
import { guardrailsOf } from "../guard/guard.js";
import type { Definition, LoadedDefinition } from "../model/definition.js";
import { definitionRows } from "./definition-rows.js";
import type { Style, View } from "./format.js";
import { fetchLines } from "./fetch-text.js";
import { guardrailText } from "./guardrail-text.js";
import { printable } from "../printable.js";

export function listView(loaded: readonly LoadedDefinition[]): View {
  const items = loaded.map(({ definition, definition_hash, file, line }) => ({
    id: definition.id,
    ...(definition.name !== undefined && { name: definition.name }),
    type: definition.type,
    ...(definition.version !== undefined && { version: definition.version }),
    ...(definition.description !== undefined && { description: definition.description }),
    cases: partsIn(definition),
    ...endpointNames(definition),
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

function endpointNames(definition: Definition): { readonly endpoints?: readonly string[] } {
  const names = new Set(fetchesOf(definition).map(({ endpoint }) => endpoint));
  return names.size === 0 ? {} : { endpoints: [...names] };
}

/** Cases, rules, policies or evaluators: whatever it is made of. */
function partsIn(definition: Definition): number {
  switch (definition.type) {
    case "scored":
      return definition.evaluators.length;
    case "policy":
      return definition.policies?.length ?? 0;
    case "gate":
      return definition.rules.length;
    default:
      return casesOf(definition).length;
  }
}

export function definitionView(loaded: LoadedDefinition): View {
  const { definition, definition_hash, environment, environment_hash, file, line } = loaded;
  const endpoints = "endpoints" in environment ? { endpoints: environment["endpoints"] } : {};
  return {
    value: { ...definition, ...endpoints, definition_hash, environment_hash, file, line },
    plain: () =>
      definitionRows(definition)
        .rows.map((row) => row.join("\t"))
        .join("\n"),
    table: (style) => describe(loaded, style),
  };
}

async function describe(loaded: LoadedDefinition, style: Style): Promise<string> {
  const { definition, definition_hash, file, line } = loaded;
  const { grid } = await import("./grid.js");
  const { paint } = style;
  const field = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`  ${paint("dim", name.padEnd(11))} ${printable(value)}`];
  const policy = definition.type === "rule_table" ? ` (${definition.hit_policy ?? "first"})` : "";
  const { columns, rows, fields } = definitionRows(definition);
  return [
    `${paint("bold", definition.id)}  ${printable(definition.name ?? "")}`,
    "",
    ...field("type", definition.type + policy),
    ...field("version", definition.version),
    ...field("description", definition.description),
    ...field("input", definition.input ?? "the whole context"),
    ...fields.flatMap(([name, value]) => field(name, value)),
    ...guardrailLines(loaded).flatMap((text) => field("guardrail", text)),
    ...fetchLines(loaded).flatMap((text) => field("fetches", text)),
    ...field("cache", definition.cache?.enabled ? (definition.cache.ttl ?? "1h") : undefined),
    ...field("file", `${file}:${line}`),
    ...field("hash", definition_hash),
    "",
    grid(columns, rows, style),
  ].join("\n");
}

/** Those for every decision too. */
function guardrailLines(loaded: LoadedDefinition): readonly string[] {
  const own = loaded.definition.guardrails ?? [];
  return guardrailsOf(loaded).map((guardrail) => {
    const whose = own.includes(guardrail) ? "" : " (for every decision)";
    return `${guardrailText(guardrail)}${whose}`;
  });
}
