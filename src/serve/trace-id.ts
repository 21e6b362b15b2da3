/** W3C Trace Context: version, trace, parent and flags; ids of noughts are none. */
const traceparent = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** The trace that something is part of; one that is malformed is to be ignored, as the standard says. */
export function traceIdOf(parent: unknown): string | undefined {
  if (typeof parent !== "string") return undefined;
  const [, version, trace, more] = traceparent.exec(parent) ?? [];
  // Only versions that are yet to come may have more behind the flags; ff never will be one.
  return version === "ff" || (version === "00" && more !== undefined) ? undefined : trace;
}
