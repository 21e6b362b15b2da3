import { systemClock } from "./clock.js";
import type { Request, World } from "./decide/decide.js";
import { decide } from "./decide/decide.js";
import type { Result } from "./model/result.js";
import type { OpenedDefinitions } from "./store/definitions.js";
import { openDefinitions } from "./store/definitions.js";
import { version } from "./version.js";

export interface Configuration {
  /** The directory of definitions. */
  readonly decisions: string;
  /** Where definitions are kept as they were understood; undefined: nowhere. */
  readonly cacheHome?: string | undefined;
}

/** The world that decisions are made in. */
export interface Composed extends World {
  readonly definitions: OpenedDefinitions;
  readonly decide: (request: Request) => Promise<Result>;
}

export async function compose({ decisions, cacheHome }: Configuration): Promise<Composed> {
  const definitions = await openDefinitions({ directory: decisions, cacheHome, version });
  const world: World = { definitions, clock: systemClock };
  return { ...world, definitions, decide: (request) => decide(request, world) };
}
