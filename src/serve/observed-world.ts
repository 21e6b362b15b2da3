import type { Result } from "../model/result.js";
import type { ServedWorld } from "./question.js";

/** The same world, and somebody who hears of each decision that is made in it. */
export function observedWorld(world: ServedWorld, onDecided: (result: Result) => void): ServedWorld {
  return {
    ...world,
    async decide(request) {
      const result = await world.decide(request);
      if (!result.dry_run) onDecided(result);
      return result;
    },
    follow: (request) =>
      world.follow(request, (result) => {
        if (!result.dry_run) onDecided(result);
      }),
    async check(request) {
      const checked = await world.check(request);
      if (!request.dry_run) for (const result of checked.decisions) onDecided(result);
      return checked;
    },
  };
}
