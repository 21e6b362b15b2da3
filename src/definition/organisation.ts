import type { DefinitionSummary } from "./definition-file.js";
import type { Library } from "./library.js";

/**
 * Whether a caller may see something of an organisation. A caller bound to an organisation sees its own and what belongs
 * to none; a caller that is not bound sees everything.
 */
export const isVisibleTo = (callerOrg: string | undefined, org: string | undefined): boolean =>
  callerOrg === undefined || org === undefined || org === callerOrg;

/** Returns the decisions that a caller may see: for one of an organisation, without the gates of others. */
export function visibleDefinitions(
  { summaries }: Pick<Library, "summaries">,
  callerOrg: string | undefined,
): readonly DefinitionSummary[] {
  return summaries.filter(({ action }) => isVisibleTo(callerOrg, action?.org));
}
