import { DecisionError } from "../errors.js";
import type { Draft, Records } from "../record/records.js";
import type { Deliberated } from "./deliberate.js";

/** Whoever is refused looks again; that often nobody can have been faster by chance. */
const mostTries = 1000;

/**
 * Deliberates and remembers in turns until both fit: what was counted meanwhile by others may have used up
 * what this decision rests on.
 */
export async function untilRemembered<Decided>(
  deliberate: () => Promise<{ readonly decided: Decided; readonly made: readonly Deliberated[] }>,
  records: Records | undefined,
): Promise<Decided> {
  for (let tries = 0; tries < mostTries; tries++) {
    const { decided, made } = await deliberate();
    if (await isRemembered(made, records)) return decided;
  }
  throw new DecisionError("store_busy", "what the decision rests on was used up by others time and again", {
    hint: "try again",
  });
}

async function isRemembered(made: readonly Deliberated[], records: Records | undefined): Promise<boolean> {
  const [first, ...others] = made.flatMap(({ draft, counting }): Draft[] =>
    draft === undefined ? [] : [{ ...draft, ...counting }],
  );
  try {
    const refused = first === undefined ? undefined : await records?.append(first, ...others);
    if (refused !== undefined) return false;
  } catch (error) {
    for (const { answered } of made) {
      if (answered.cacheKey !== undefined && !answered.cached) records?.answers.drop(answered.cacheKey);
    }
    throw error;
  }
  for (const { answered } of made) {
    if (answered.cacheKey !== undefined && !answered.cached) await records?.publish(answered.cacheKey);
  }
  return true;
}
