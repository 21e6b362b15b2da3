import { DecisionError } from "../errors.js";
import type { Records } from "../record/records.js";
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
  const [first, ...others] = made.flatMap(({ draft }) => draft ?? []);
  try {
    const refused = first === undefined ? undefined : await records?.append(first, ...others);
    if (refused !== undefined) return false;
  } catch (error) {
    for (const key of newKeysOf(made)) records?.answers.drop(key);
    throw error;
  }
  for (const key of newKeysOf(made)) await records?.publish(key);
  return true;
}

/** The keys of answers that were not in the cache before. */
const newKeysOf = (made: readonly Deliberated[]): readonly string[] =>
  made.flatMap(({ answered: { cacheKey, cached } }) => (cacheKey === undefined || cached ? [] : [cacheKey]));
