import { DecisionError } from "../errors.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { prepareLoaded } from "../evaluate/prepare-lazily.js";
import { decisionNotFound } from "../definition/library.js";
import { isBrokenVisibleTo, isVisibleTo } from "../definition/organisation.js";
import type { Definition, LoadedDefinition } from "../model/definition.js";
import type { AuthenticatedCaller } from "../model/record.js";
import type { FetchRound } from "./enrich.js";
import { planFetches } from "./enrich.js";
import type { World } from "./request.js";

/** A definition with everything that is derived from it once: compiled expressions and the order of its fetches. */
export interface ReadyDefinition {
  readonly loaded: LoadedDefinition;
  readonly prepared: Prepared;
  readonly fetchRounds: readonly FetchRound[];
}

/**
 * Finds the definition by its id and makes it ready to be evaluated. For a caller of an organisation, the gates of other
 * organisations do not exist, so that no chain of decisions can lead to one.
 */
export async function find(
  id: unknown,
  { definitions }: Pick<World, "definitions">,
  caller?: AuthenticatedCaller,
): Promise<ReadyDefinition> {
  if (typeof id !== "string") {
    throw new DecisionError("input_invalid", "a request needs a `decision_id` of type string");
  }
  if (!isBrokenVisibleTo(caller?.org_id, definitions.brokenOrgs?.get(id))) throw decisionNotFound(id, []);
  const loaded = await definitions.find(id);
  if (!isVisibleTo(caller?.org_id, orgOf(loaded.definition))) throw decisionNotFound(id, []);
  return ready.get(loaded) ?? prepareOnce(loaded);
}

const orgOf = (definition: Definition): string | undefined =>
  definition.type === "gate" ? definition.action.org : undefined;

/** Ready definitions by loaded definition. Preparing compiles every expression and takes longer than a decision. */
const ready = new WeakMap<LoadedDefinition, ReadyDefinition>();

/** Makes a definition ready, or returns it as an earlier call has made it. */
export async function prepareOnce(loaded: LoadedDefinition): Promise<ReadyDefinition> {
  const earlier = ready.get(loaded);
  if (earlier !== undefined) return earlier;
  const prepared = await prepareLoaded(loaded);
  const definition = { loaded, prepared, fetchRounds: planFetches(loaded) };
  ready.set(loaded, definition);
  return definition;
}
