import { casesOf, escalationTarget } from "../definition/branches.js";
import type { DeclaredFetch } from "../definition/fetches.js";
import { uniqueFetches } from "../definition/fetches.js";
import { foreignOverridesOf } from "../definition/loaded-definition.js";
import { guardrailsOf } from "../guard/guard.js";
import { defaultMinimumSample, defaultPValue } from "../guard/run-guardrail.js";
import type { Approval } from "../model/approval.js";
import type { Definition, ForeignOverride, Guardrail, LoadedDefinition } from "../model/definition.js";
import type { Endpoint, Endpoints } from "../model/endpoint.js";
import type { StoredDefinition } from "../record/stored-definition.js";
import { approvalText } from "./approval-views.js";
import type { DefinitionRows } from "./definition-rows.js";
import { definitionRows, policyRequirements } from "./definition-rows.js";
import type { Style, View } from "./format.js";
import { fieldLine } from "./format.js";
import { oneLine } from "../text.js";

export type FindApproval = (loaded: LoadedDefinition) => Approval;

/** Lists definitions, with their approvals if `approvalOf` is given. */
export function listView(loaded: readonly LoadedDefinition[], approvalOf?: FindApproval): View {
  const approvals = approvalOf && loaded.map(approvalOf);
  const items = loaded.map(({ definition, definition_hash, file, line }, index) => ({
    id: definition.id,
    ...(definition.name !== undefined && { name: definition.name }),
    type: definition.type,
    ...(definition.version !== undefined && { version: definition.version }),
    ...(definition.description !== undefined && { description: definition.description }),
    cases: countParts(definition),
    ...endpointNames(definition),
    definition_hash,
    file,
    line,
    ...(approvals !== undefined && { approval: approvals[index] }),
  }));
  const rows = items.map(({ id, type, cases, version, name, file }, index) =>
    [id, type, String(cases), version ?? "", ...approvalStates(approvals?.[index]), name ?? "", file].map(
      oneLine,
    ),
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
  const names = new Set(uniqueFetches(definition).map(({ endpoint }) => endpoint));
  return names.size === 0 ? {} : { endpoints: [...names] };
}

const approvalStates = (approval: Approval | undefined): readonly string[] =>
  approval === undefined ? [] : [approval.state];

/** Counts the cases, rules, policies or evaluators. */
function countParts(definition: Definition): number {
  switch (definition.type) {
    case "scored":
      return definition.evaluators.length;
    case "policy":
      return definition.policies?.length ?? 0;
    case "gate":
      return definition.rules.length;
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return casesOf(definition).length;
  }
}

export function definitionView(loaded: LoadedDefinition, approval?: Approval): View {
  const { definition, definition_hash, environment, environment_hash, file, line } = loaded;
  const endpoints = "endpoints" in environment ? { endpoints: environment["endpoints"] } : {};
  const foreign = foreignOverridesOf(loaded);
  return {
    value: {
      ...definition,
      ...endpoints,
      ...(foreign.length > 0 && { foreign_overrides: foreign }),
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
    table: (style) => describeDefinition(loaded, approval, style),
  };
}

async function describeDefinition(
  loaded: LoadedDefinition,
  approval: Approval | undefined,
  style: Style,
): Promise<string> {
  const { definition, definition_hash, file, line } = loaded;
  const { paint } = style;
  const field = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [fieldLine(name, oneLine(value), style, 11)];
  const policy = definition.type === "rule_table" ? ` (${definition.hit_policy ?? "first"})` : "";
  const { fields, body } = await describeParts(definition, style);
  return [
    paint("bold", definition.id) + (definition.name === undefined ? "" : `  ${oneLine(definition.name)}`),
    "",
    ...field("type", definition.type + policy),
    ...field("version", definition.version),
    ...field("description", definition.description),
    ...field("input", definition.input ?? "the whole context"),
    ...fields.flatMap(([name, value]) => field(name, value)),
    ...guardrailLines(loaded).flatMap((text) => field("guardrail", text)),
    ...fetchLines(loaded).flatMap((text) => field("fetches", text)),
    ...foreignOverridesOf(loaded).flatMap((each) => field("override", foreignOverrideText(each))),
    ...field("cache", definition.cache?.enabled ? (definition.cache.ttl ?? "1h") : undefined),
    ...field("file", file === "" ? undefined : `${file}:${line}`),
    ...field("hash", definition_hash),
    ...field("approval", approval && approvalText(approval)),
    "",
    body,
  ].join("\n");
}

/** Describes the cases, rules or policies: rules as a table with a column for each path, where that fits. */
async function describeParts(
  definition: Definition,
  style: Style,
): Promise<Pick<DefinitionRows, "fields"> & { readonly body: string }> {
  const { showRuleTable } = await import("./rule-table.js");
  const { columns, rows, fields, details } = definitionRows(definition);
  const table = showRuleTable(definition, style);
  if (table === undefined) {
    const { grid } = await import("./grid.js");
    const tables = [{ columns, rows }, ...(details === undefined ? [] : [details])];
    return { fields, body: tables.map((each) => grid(each.columns, each.rows, style)).join("\n\n") };
  }
  const paths = table.prefix === "" ? undefined : `start with ${table.prefix}`;
  return { fields: [...fields.filter(([name]) => name !== "default"), ["paths", paths]], body: table.text };
}

const foreignOverrideText = ({ decision, policies, override }: ForeignOverride): string =>
  `${override.name} of ${decision}: ${policyRequirements({ ...override, overrides: policies })}`;

/** Includes the guardrails for every decision. */
function guardrailLines(loaded: LoadedDefinition): readonly string[] {
  const own = loaded.definition.guardrails ?? [];
  return guardrailsOf(loaded).map((guardrail) => {
    const scope = own.includes(guardrail) ? "" : " (for every decision)";
    return `${guardrailText(guardrail)}${scope}`;
  });
}

/** Shows a definition from the store, which has no file. */
export function storedDefinitionView(stored: StoredDefinition): View {
  const { definition, definition_hash } = stored;
  const view = definitionView({ ...stored, environment: {}, environment_hash: "", file: "", line: 0 });
  return { ...view, value: { ...definition, definition_hash } };
}

/** Describes each fetch of a decision. A definition from the store comes without its endpoints. */
export function fetchLines({ definition, environment }: LoadedDefinition): readonly string[] {
  const endpoints = (environment["endpoints"] ?? {}) as unknown as Endpoints;
  return uniqueFetches(definition).map((fetch) => {
    const endpoint = Object.hasOwn(endpoints, fetch.endpoint) ? endpoints[fetch.endpoint] : undefined;
    const details = [
      ...(endpoint === undefined ? [] : [endpointText(endpoint)]),
      ...(fetch.required ? ["required"] : []),
    ];
    const suffix = details.length === 0 ? "" : ` (${details.join(", ")})`;
    return `${fetchTargetText(fetch)} from ${fetch.endpoint}${suffix}`;
  });
}

/** Names the context path that a fetch fills, with the mapped fields of the response. */
function fetchTargetText({ into, mapping = {} }: DeclaredFetch): string {
  const mapped = Object.entries(mapping).map(([from, to]) => (from === to ? to : `${to} = ${from}`));
  if (into === undefined) return mapped.length === 0 ? "whether data is available" : mapped.join(", ");
  return mapped.length === 0 ? into : `${into} (${mapped.join(", ")})`;
}

function endpointText({ method = "get", url, cache }: Endpoint): string {
  return `${method} ${url}${cache === undefined ? "" : `, cached for ${cache.ttl}`}`;
}

/** Describes a guardrail: what must hold, and what happens otherwise. */
const guardrailText = (guardrail: Guardrail): string =>
  `${guardrail.type}: ${guardrailRequirement(guardrail)}, else ${failureAction(guardrail)}`;

function guardrailRequirement(guardrail: Guardrail): string {
  switch (guardrail.type) {
    case "no_disabled_targets": {
      const { disabled_stages: stages = [] } = guardrail;
      return `no route to ${[...stages, "disabled targets"].join(", ")}`;
    }
    case "weight_bounds": {
      const { min_weight: min = 0, max_weight: max } = guardrail;
      return max === undefined ? `weights of at least ${min}` : `weights from ${min} to ${max}`;
    }
    case "requires_approval": {
      const { targets = ["every target"], workflows, approval_target: approval } = guardrail;
      const where = workflows === undefined ? "" : ` in ${workflows.join(", ")}`;
      const via = approval === undefined ? "" : ` via ${approval}`;
      return `${targets.join(", ")}${where} needs approval${via}`;
    }
    case "distribution_drift": {
      const { p_value: pValue = defaultPValue, minimum = defaultMinimumSample } = guardrail;
      return `e-value below 1 / ${pValue} once there are ${minimum} distinct inputs`;
    }
  }
}

function failureAction(guardrail: Guardrail): string {
  const { on_fail: onFail = "block" } = guardrail;
  const to = escalationTarget(guardrail);
  return onFail === "escalate" && to !== undefined ? `escalate to ${to}` : onFail;
}
