import type { DefinitionSummary } from "./definition-file.js";
import type { BrokenGate } from "./checks/check-library.js";
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

/**
 * Whether a caller may learn that an invalid definition exists: not if it may be a gate of another organisation, because
 * then it is answered like an unknown one.
 */
export function isBrokenVisibleTo(
  callerOrg: string | undefined,
  orgs: readonly string[] | "any" | undefined,
): boolean {
  if (callerOrg === undefined) return true;
  return orgs === undefined || (orgs !== "any" && orgs.every((org) => isVisibleTo(callerOrg, org)));
}

/**
 * Returns the invalid gates that concern a caller. Of a file that may contain gates of several organisations, no name is
 * used: the answer would tell the names of the others.
 */
export function visibleBrokenGates(
  gates: readonly BrokenGate[],
  callerOrg: string | undefined,
): readonly BrokenGate[] {
  if (callerOrg === undefined) return gates;
  return gates
    .filter(({ orgs }) => orgs === "any" || orgs.includes(callerOrg))
    .map((gate) => (isBrokenVisibleTo(callerOrg, gate.orgs) ? gate : { ...gate, actions: "any" }));
}
