import type { Library } from "../../definition/library.js";
import { DecisionError } from "../../errors.js";
import { isObject } from "../../expression/equal.js";
import type { Json } from "../../model/json.js";
import type { LogRecord } from "../../model/record.js";
import type { Store } from "../../model/store.js";
import { keptDefinition } from "../../record/kept-definition.js";
import type { Asker } from "../question.js";

/** A token that names an organisation is good for its gates, and for what belongs to none. */
export function refuseForeignOrg(org: string | undefined, { caller }: Pick<Asker, "caller">): void {
  if (isOwn(org, caller?.org_id)) return;
  throw new DecisionError("forbidden", `the token is not for the organisation \`${org ?? ""}\``, {
    hint: "it may only ask for the organisation that its `org_id` names",
  });
}

export const isOwn = (org: string | undefined, bound: string | undefined): boolean =>
  bound === undefined || org === undefined || org === bound;

/** Whose gate a decision is; undefined: it belongs to no organisation. */
export const orgOf = (id: string, { summaries }: Pick<Library, "summaries">): string | undefined =>
  summaries.find((each) => each.id === id)?.action?.org;

/**
 * The same of a record: of a gate by the definition that it was made with, where one that is lost belongs to nobody;
 * of anything else by who asked.
 */
export async function orgOfRecord(record: LogRecord, store: Store): Promise<string | undefined> {
  if (record.kind !== "decision") return undefined;
  if (record.type !== "gate") return callerOrg(record.facts["authenticated_caller"]);
  const definition = await keptDefinition(record.definition_hash, store);
  return definition?.type === "gate" ? definition.action.org : "";
}

function callerOrg(caller: Json | undefined): string | undefined {
  const org = caller !== undefined && isObject(caller) ? caller["org_id"] : undefined;
  return typeof org === "string" ? org : undefined;
}
