/** How often a tool has succeeded in a session. */
export const successCounter = (session: string, tool: string): string =>
  JSON.stringify(["succeeded", session, tool]);

/** The calls of a tool that were allowed in a session, whichever decisions were asked. */
export const callCounter = (session: string, tool: string): string =>
  JSON.stringify(["called", session, tool]);

/** The calls of a tool whose result is known. */
export const resultCounter = (session: string, tool: string): string =>
  JSON.stringify(["answered", session, tool]);

/** The same of calls with certain params, by their digest: calls may be on their way at the same time. */
export const callWithCounter = (session: string, tool: string, digest: string): string =>
  JSON.stringify(["called", session, tool, digest]);

export const resultWithCounter = (session: string, tool: string, digest: string): string =>
  JSON.stringify(["answered", session, tool, digest]);

/** Whether a counter is about calls that were made, whichever decisions were asked. */
export const isCallCounter = (counter: string): boolean => counter.startsWith('["called",');

/** What a policy of a decision counts. */
interface OfPolicy {
  readonly decision: string;
  readonly policy: string;
}

/** That a path was read in a session by one of the tools that the policy names. */
export const readCounter = ({ decision, policy }: OfPolicy, session: string, path: string): string =>
  JSON.stringify(["read", decision, policy, session, path]);

/** The calls that were allowed in a session, for `max_calls`. */
export const allowedCounter = ({ decision, policy }: OfPolicy, session: string): string =>
  JSON.stringify(["allowed", decision, policy, session]);

/** How often an override was applied. */
export const useCounter = ({ decision, policy }: OfPolicy): string =>
  JSON.stringify(["applied", decision, policy]);
