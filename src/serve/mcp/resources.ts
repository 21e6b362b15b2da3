import type { Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { hasScope } from "../auth/authenticate.js";
import { listDecisions, showDecision } from "../operations/definitions.js";
import type { Invocation } from "../operations/operation.js";
import { visibleDecisionIds } from "../operations/org-access.js";
import { showRecord, findRecords } from "../operations/records.js";

const mimeType = "application/json";
const listedRecords = 20;
const maxCompletions = 100;

export const resourceTemplates: ResourceTemplateType[] = [
  {
    uriTemplate: "agent33://definitions/{id}",
    name: "definition",
    title: "A decision",
    description: "The definition of a decision, by its id.",
    mimeType,
  },
  {
    uriTemplate: "agent33://records/{record_id}",
    name: "record",
    title: "A record",
    description: "A record of the log, by its id or a prefix of it, its number, or `latest`.",
    mimeType,
  },
];

/** Lists the definitions and the newest records that the caller may see. */
export async function listResources(invocation: Invocation): Promise<Resource[]> {
  const definitions = hasScope(invocation, listDecisions.scope) ? await definitionResources(invocation) : [];
  const records = hasScope(invocation, findRecords.scope) ? await recordResources(invocation) : [];
  return [...definitions, ...records];
}

async function definitionResources(invocation: Invocation): Promise<Resource[]> {
  const { decisions } = await listDecisions.run({}, invocation);
  return decisions.map(({ id, name, description }) => ({
    uri: `agent33://definitions/${encodeURIComponent(id as string)}`,
    name: id as string,
    ...(typeof name === "string" && { title: name }),
    ...(typeof description === "string" && { description }),
    mimeType,
  }));
}

async function recordResources(invocation: Invocation): Promise<Resource[]> {
  const { records } = await findRecords.run({ limit: listedRecords, reverse: true }, invocation);
  return records.map((record) => ({
    uri: `agent33://records/${record.record_id}`,
    name: record.record_id,
    ...("decision_id" in record && { title: `${record.decision_id}, ${record.timestamp}` }),
    ...(record.intact === false && { description: "Changed after it was written." }),
    mimeType,
  }));
}

/** Reads a resource as JSON; undefined: the URI is not valid. */
export async function readResource(uri: string, invocation: Invocation): Promise<string | undefined> {
  const [, kind, name = ""] = /^agent33:\/\/(definitions|records)\/([^/?#]+)$/.exec(uri) ?? [];
  const id = decodeName(name);
  if (kind === undefined || id === undefined) return undefined;
  const content =
    kind === "definitions"
      ? await showDecision.run({ decision_id: id }, invocation)
      : await showRecord.run({ record_id: id }, invocation);
  return JSON.stringify(content);
}

function decodeName(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** Completes an id; undefined: the template has no such argument. */
export async function completeIds(
  uriTemplate: string,
  { name, value }: { readonly name: string; readonly value: string },
  invocation: Invocation,
): Promise<{ values: string[]; total: number; hasMore: boolean } | undefined> {
  const template = resourceTemplates.find((each) => each.uriTemplate === uriTemplate);
  if (template?.uriTemplate.includes(`{${name}}`) !== true) return undefined;
  const ids = await visibleIds(template.name, invocation);
  const matching = ids.filter((id) => id.startsWith(value));
  const values = matching.slice(0, maxCompletions);
  return { values, total: matching.length, hasMore: matching.length > values.length };
}

async function visibleIds(kind: string, invocation: Invocation): Promise<readonly string[]> {
  if (kind === "definition")
    return hasScope(invocation, showDecision.scope) ? visibleDecisionIds(invocation) : [];
  if (!hasScope(invocation, showRecord.scope)) return [];
  const { records } = await findRecords.run({ limit: maxCompletions, reverse: true }, invocation);
  return records.map(({ record_id: id }) => id);
}
