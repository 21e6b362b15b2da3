import { fetchesOf } from "../../definition/fetches.js";
import { isObject } from "../../expression/equal.js";
import { pathGetter } from "../../expression/path.js";
import type { GateDefinition } from "../../model/definition.js";
import type { ErroredPredicate } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";

/** What a gate must have fetched. */
export interface Lacking {
  readonly reads: readonly string[];
  /** One of each that did not come. */
  errorsIn(scope: Scope): readonly ErroredPredicate[];
}

export function prepareLacking(definition: GateDefinition): Lacking {
  const needed = fetchesOf(definition).filter(({ required }) => required);
  const facts = needed.map(({ key, endpoint }) => ({
    endpoint,
    get: pathGetter(["facts", "fetched", key]),
  }));
  return {
    reads: needed.map(({ key }) => `facts.fetched.${key}.ok`),
    errorsIn: (scope) =>
      facts.flatMap(({ endpoint, get }) => {
        const fact = get(scope);
        if (isObject(fact) && fact["ok"] === true) return [];
        const error = isObject(fact) && isObject(fact["error"]) ? fact["error"]["message"] : undefined;
        return [
          { source: "enrich", name: endpoint, error: typeof error === "string" ? error : "it was not asked" },
        ];
      }),
  };
}
