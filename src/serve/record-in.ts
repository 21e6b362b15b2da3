/** The record that an answer tells of, so that the log of requests leads to it; of a call, that of its first decision. */
export function recordIn(answer: unknown): string | undefined {
  const { record_id, decisions } = answer as Recorded & { readonly decisions?: readonly Recorded[] };
  const id = record_id ?? decisions?.[0]?.record_id;
  return typeof id === "string" ? id : undefined;
}

interface Recorded {
  readonly record_id?: unknown;
}
