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
  let fetches = known.get(definition);
  if (fetches === undefined) {
    fetches = [...new Map(writtenFetches(definition).map((each) => [each.key, each])).values()];
    known.set(definition, fetches);
  }
  return fetches;
}

/** The same as often as they are written. */
export function writtenFetches(definition: Definition): readonly WrittenFetch[] {
  const enriched = (definition.enrich ?? []).map((each, index) => ({
    ...each,
    key: fetchKey(each),
    path: ["enrich", index],
  }));
  const asked = definition.type === "scored" ? fetchConditions(definition.evaluators, ["evaluators"]) : [];
  return [...enriched, ...asked.map(({ fetch, path }) => ({ ...fetch, key: fetchKey(fetch), path }))];
}

export interface FoundCondition {
  readonly fetch: FetchCondition;
  readonly path: Path;
}

/** The conditions that fetch, whatever else is written there: one may stand deep within others. */
export function fetchConditions(written: unknown, path: Path): readonly FoundCondition[] {
  if (typeof written !== "object" || written === null) return [];
  const { op, value } = written as Partial<Extract<RuleCondition, { readonly op: string }>>;
  if (op !== undefined)
    return op === "fetch_from_api" && isFetch(value) ? [{ fetch: value, path: [...path, "value"] }] : [];
  return Object.entries(written).flatMap(([key, each]) =>
    fetchConditions(each, [...path, Array.isArray(written) ? Number(key) : key]),
  );
}

const isFetch = (value: unknown): value is FetchCondition =>
  typeof value === "object" && value !== null && "endpoint" in value && typeof value.endpoint === "string";

/** Where in the context its answer goes: to one place, or to each that its mapping names. */
export function destinationsOf({ into, mapping }: Pick<WrittenFetch, "into" | "mapping">): readonly string[] {
  return into === undefined ? Object.values(mapping ?? {}) : [into];
}
