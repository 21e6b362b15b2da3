import { casesOf } from "../definition/expressions.js";
import { fetchesOf } from "../definition/fetches.js";
import { guardrailsOf } from "../guard/guard.js";
import type { Approval } from "../model/approval.js";
import type { Definition, LoadedDefinition } from "../model/definition.js";
import { approvalText } from "./approval-views.js";
import { definitionRows } from "./definition-rows.js";
import type { Style, View } from "./format.js";
import { fetchLines } from "./fetch-text.js";
import { guardrailText } from "./guardrail-text.js";
import { printable } from "../printable.js";

/** What is known of the approval of a definition. */
export type ApprovalOf = (loaded: LoadedDefinition) => Approval;

/** Approvals are shown where they are known of. */
export function listView(loaded: readonly LoadedDefinition[], approvalOf?: ApprovalOf): View {
  const approvals = approvalOf && loaded.map(approvalOf);
  const items = loaded.map(({ definition, definition_hash, file, line }, index) => ({
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
    ...(approvals !== undefined && { approval: approvals[index] }),
  }));
  const rows = items.map(({ id, type, cases, version, name, file }, index) =>
    [id, type, String(cases), version ?? "", ...states(approvals?.[index]), name ?? "", file].map(printable),
  );
  return {
    value: items,
    items,
    plain: () => rows.map((row) => row.join("\t")).join("\n"),
    table: async (style) => {
      if (rows.length === 0) return "";
      const { grid } = await import("./grid.js");
      const names = ["id", "type", "cases", "version", ...(approvals === undefined ? [] : ["approval"])];
      const titles = names.map((title) => ({ title }));
      const withoutFile = rows.map((row) => row.slice(0, -1));
      return grid([...titles, { title: "name", flexible: true }], withoutFile, style);
    },
  };
}

function endpointNames(definition: Definition): { readonly endpoints?: readonly string[] } {
  const names = new Set(fetchesOf(definition).map(({ endpoint }) => endpoint));
  return names.size === 0 ? {} : { endpoints: [...names] };
}

const states = (approval: Approval | undefined): readonly string[] =>
  approval === undefined ? [] : [approval.state];

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

export function definitionView(loaded: LoadedDefinition, approval?: Approval): View {
  const { definition, definition_hash, environment, environment_hash, file, line } = loaded;
  const endpoints = "endpoints" in environment ? { endpoints: environment["endpoints"] } : {};
  return {
    value: {
      ...definition,
      ...endpoints,
      definition_hash,
      environment_hash,
      file,
      line,
      ...(approval !== undefined && { approval }),
    },
    plain: () =>
      definitionRows(definition)
        .rows.map((row) => row.join("\t"))
        .join("\n"),
    table: (style) => describe(loaded, approval, style),
  };
}

async function describe(
  loaded: LoadedDefinition,
  approval: Approval | undefined,
  style: Style,
): Promise<string> {
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
    ...field("approval", approval && approvalText(approval)),
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
