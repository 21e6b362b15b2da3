import { fetchKey } from "../expression/rule/fetch-key.js";
import type { Definition, RuleCondition } from "../model/definition.js";
import type { Enrichment, FetchCondition } from "../model/endpoint.js";
import type { Path } from "./yaml-source.js";

/** Something that a definition fetches, and where it is written. */
export interface WrittenFetch extends FetchCondition, Partial<Pick<Enrichment, "into" | "required">> {
  /** What it is called among the facts. */
  readonly key: string;
  readonly path: Path;
}

const known = new WeakMap<Definition, readonly WrittenFetch[]>();

/** What `enrich` fetches, then what the rules of a scored decision do; each once. */
export function fetchesOf(definition: Definition): readonly WrittenFetch[] {
  const fetches = known.get(definition) ?? findFetches(definition);
  known.set(definition, fetches);
  return fetches;
}

function findFetches(definition: Definition): readonly WrittenFetch[] {
  const enriched = (definition.enrich ?? []).map((each, index) => ({
    ...each,
    key: fetchKey(each),
    path: ["enrich", index],
  }));
  const asked = definition.type === "scored" ? conditionsIn(definition.evaluators, ["evaluators"]) : [];
  const all = [...enriched, ...asked.map(({ fetch, path }) => ({ ...fetch, key: fetchKey(fetch), path }))];
  return [...new Map(all.map((each) => [each.key, each])).values()];
}

interface FoundCondition {
  readonly fetch: FetchCondition;
  readonly path: Path;
}

/** Goes through all that is written there: a condition may stand deep within others. */
function conditionsIn(written: unknown, path: Path): readonly FoundCondition[] {
  if (typeof written !== "object" || written === null) return [];
  const { op, value } = written as Partial<Extract<RuleCondition, { readonly op: string }>>;
  if (op === "fetch_from_api")
    return [{ fetch: value as unknown as FetchCondition, path: [...path, "value"] }];
  return Object.entries(written).flatMap(([key, each]) =>
    conditionsIn(each, [...path, Array.isArray(written) ? Number(key) : key]),
  );
}

/** Where in the context its answer goes: to one place, or to each that its mapping names. */
export function destinationsOf({ into, mapping }: Pick<WrittenFetch, "into" | "mapping">): readonly string[] {
  return into === undefined ? Object.values(mapping ?? {}) : [into];
}
