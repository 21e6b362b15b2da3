import type { Library } from "../../definition/library.js";
import { DecisionError } from "../../errors.js";
import type { Asker } from "../question.js";

/** A token that names an organisation is good for its gates, and for what belongs to none. */
export function refuseForeignOrg(org: string | undefined, { caller }: Pick<Asker, "caller">): void {
  if (!isOwn(org, caller?.org_id)) throw foreign(`the token is not for the organisation \`${org ?? ""}\``);
}

export const isOwn = (org: string | undefined, bound: string | undefined): boolean =>
  bound === undefined || org === undefined || org === bound;

/** Whose gate a decision is; undefined: it belongs to no organisation. */
export const orgOf = (id: string, { summaries }: Pick<Library, "summaries">): string | undefined =>
  summaries.find((each) => each.id === id)?.action?.org;

export const foreign = (message: string): DecisionError =>
  new DecisionError("forbidden", message, {
    hint: "it may only ask for the organisation that its `org_id` names",
  });
