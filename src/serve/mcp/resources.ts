import type { Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { visibleDecisionIds } from "./tools.js";
import { hasScope } from "../auth/authenticate.js";
import { listDecisions, showDecision } from "../operations/definitions.js";
import type { Invocation } from "../operations/operation.js";
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
    description: "One line of the log, by its id or the beginning of it, its number, or `latest`.",
    mimeType,
  },
];

/** All definitions and the newest records, as far as whoever asks may see them. */
export async function listResources(asker: Invocation): Promise<Resource[]> {
  const definitions = hasScope(asker.caller, listDecisions.scope) ? await definitionResources(asker) : [];
  const records = hasScope(asker.caller, findRecords.scope) ? await recordResources(asker) : [];
  return [...definitions, ...records];
}

async function definitionResources(asker: Invocation): Promise<Resource[]> {
  const { decisions } = await listDecisions.answer({}, asker);
  return decisions.map(({ id, name, description }) => ({
    uri: `agent33://definitions/${encodeURIComponent(id as string)}`,
    name: id as string,
    ...(typeof name === "string" && { title: name }),
    ...(typeof description === "string" && { description }),
    mimeType,
  }));
}

async function recordResources(asker: Invocation): Promise<Resource[]> {
  const { records } = await findRecords.answer({ limit: listedRecords, reverse: true }, asker);
  return records.map((record) => ({
    uri: `agent33://records/${record.record_id}`,
    name: record.record_id,
    ...("decision_id" in record && { title: `${record.decision_id}, ${record.timestamp}` }),
    ...(record.intact === false && { description: "Changed since it was written." }),
    mimeType,
  }));
}

/** What a URI stands for, as JSON; undefined: it stands for nothing that we could have. */
export async function readResource(uri: string, asker: Invocation): Promise<string | undefined> {
  const [, kind, name = ""] = /^agent33:\/\/(definitions|records)\/([^/?#]+)$/.exec(uri) ?? [];
  const id = decodeName(name);
  if (kind === undefined || id === undefined) return undefined;
  const found =
    kind === "definitions"
      ? await showDecision.answer({ decision_id: id }, asker)
      : await showRecord.answer({ record_id: id }, asker);
  return JSON.stringify(found);
}

function decodeName(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** The ids that begin as what is written so far; undefined: there is no such argument. */
export async function completeIds(
  uriTemplate: string,
  { name, value }: { readonly name: string; readonly value: string },
  asker: Invocation,
): Promise<{ values: string[]; total: number; hasMore: boolean } | undefined> {
  const template = resourceTemplates.find((each) => each.uriTemplate === uriTemplate);
  if (template?.uriTemplate.includes(`{${name}}`) !== true) return undefined;
  const ids = await visibleIds(template.name, asker);
  const fitting = ids.filter((id) => id.startsWith(value));
  const values = fitting.slice(0, maxCompletions);
  return { values, total: fitting.length, hasMore: fitting.length > values.length };
}

async function visibleIds(kind: string, asker: Invocation): Promise<readonly string[]> {
  if (kind === "definition")
    return hasScope(asker.caller, showDecision.scope) ? visibleDecisionIds(asker) : [];
  if (!hasScope(asker.caller, showRecord.scope)) return [];
  const { records } = await findRecords.answer({ limit: maxCompletions, reverse: true }, asker);
  return records.map(({ record_id: id }) => id);
}
