import type { Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { permits } from "../auth/scopes.js";
import type { Asker } from "../question.js";
import { showRecord } from "../questions/explain-record.js";
import { findRecords } from "../questions/find-records.js";
import { listDecisions, showDecision } from "../questions/list-decisions.js";
import { ownIds } from "./tools.js";

const mimeType = "application/json";
const newest = 20;
const mostCompleted = 100;

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
export async function listedResources(asker: Asker): Promise<Resource[]> {
  const definitions = permits(asker.caller, listDecisions.scope) ? await definitionsFor(asker) : [];
  const records = permits(asker.caller, findRecords.scope) ? await recordsFor(asker) : [];
  return [...definitions, ...records];
}

async function definitionsFor(asker: Asker): Promise<Resource[]> {
  const { decisions } = await listDecisions.answer({}, asker);
  return decisions.map(({ id, name, description }) => ({
    uri: `agent33://definitions/${encodeURIComponent(id as string)}`,
    name: id as string,
    ...(typeof name === "string" && { title: name }),
    ...(typeof description === "string" && { description }),
    mimeType,
  }));
}

async function recordsFor(asker: Asker): Promise<Resource[]> {
  const { records } = await findRecords.answer({ limit: newest, reverse: true }, asker);
  return records.map((record) => ({
    uri: `agent33://records/${record.record_id}`,
    name: record.record_id,
    ...("decision_id" in record && { title: `${record.decision_id}, ${record.timestamp}` }),
    ...(record.intact === false && { description: "Changed since it was written." }),
    mimeType,
  }));
}

/** What a URI stands for, as JSON; undefined: it stands for nothing that we could have. */
export async function readResource(uri: string, asker: Asker): Promise<string | undefined> {
  const [, kind, name = ""] = /^agent33:\/\/(definitions|records)\/([^/?#]+)$/.exec(uri) ?? [];
  const id = decoded(name);
  if (kind === undefined || id === undefined) return undefined;
  const found =
    kind === "definitions"
      ? await showDecision.answer({ decision_id: id }, asker)
      : await showRecord.answer({ record_id: id }, asker);
  return JSON.stringify(found);
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** The ids that begin as what is written so far; undefined: there is no such argument. */
export async function completedIds(
  uriTemplate: string,
  { name, value }: { readonly name: string; readonly value: string },
  asker: Asker,
): Promise<{ values: string[]; total: number; hasMore: boolean } | undefined> {
  const template = resourceTemplates.find((each) => each.uriTemplate === uriTemplate);
  if (template?.uriTemplate.includes(`{${name}}`) !== true) return undefined;
  const ids = await idsOf(template.name, asker);
  const fitting = ids.filter((id) => id.startsWith(value));
  const values = fitting.slice(0, mostCompleted);
  return { values, total: fitting.length, hasMore: fitting.length > values.length };
}

async function idsOf(kind: string, asker: Asker): Promise<readonly string[]> {
  if (kind === "definition") return permits(asker.caller, showDecision.scope) ? ownIds(asker) : [];
  if (!permits(asker.caller, showRecord.scope)) return [];
  const { records } = await findRecords.answer({ limit: mostCompleted, reverse: true }, asker);
  return records.map(({ record_id: id }) => id);
}
