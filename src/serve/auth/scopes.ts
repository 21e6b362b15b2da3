import type { AuthenticatedCaller } from "../../model/caller.js";

/** What a token can permit: to decide and to tell how calls went, to see what is defined, to see what was decided. */
export const scopes = ["decide", "read", "audit"] as const;

export type Scope = (typeof scopes)[number];

/** Whether a caller may do this; where nobody is asked for a token, everybody may do everything. */
export function permits(caller: AuthenticatedCaller | undefined, scope: Scope): boolean {
  return caller === undefined || caller.scopes.includes(scope);
}
