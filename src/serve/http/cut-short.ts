import type { ServerResponse } from "node:http";
import type { ProblemDocument } from "./problem.js";

export type CutShort = Pick<ProblemDocument, "status" | "code">;

/** Nobody was there any more to hear the answer. */
export const goneAway: CutShort = { status: 499, code: "gone_away" };

const known = new WeakMap<ServerResponse, CutShort>();

/** Remembers why an answer reached nobody, whatever becomes of it; what was said first counts. */
export function noteCutShort(response: ServerResponse, why: CutShort): void {
  if (!known.has(response)) known.set(response, why);
}

/** Undefined: the answer is what it says. */
export function cutShort(response: ServerResponse): CutShort | undefined {
  return known.get(response) ?? (response.writableFinished ? undefined : goneAway);
}
