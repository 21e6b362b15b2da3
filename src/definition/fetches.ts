import type { Path } from "./yaml-source.js";
import { fetchKey } from "../expression/rule/operators/fetching.js";
import type { Definition, RuleCondition } from "../model/definition.js";
import type { Enrichment, FetchCondition } from "../model/endpoint.js";

/** A fetch of a definition, with its path in the definition. */
export interface DeclaredFetch extends FetchCondition, Partial<Pick<Enrichment, "into" | "required">> {
  /** Its key among the facts. */
  readonly key: string;
  readonly path: Path;
}

/** Returns the fetches of `enrich`, then those of the rules of a scored decision; each once. */
export function uniqueFetches(definition: Definition): readonly DeclaredFetch[] {
  return [...new Map(allFetches(definition).map((fetch) => [fetch.key, fetch])).values()];
}

/** Returns every fetch of a definition, including repeated ones. */
export function allFetches(definition: Definition): readonly DeclaredFetch[] {
  const enriched = (definition.enrich ?? []).map((each, index) => ({
    ...each,
    key: fetchKey(each),
    path: ["enrich", index],
  }));
  const ofRules =
    definition.type === "scored" ? findFetchConditions(definition.evaluators, ["evaluators"]) : [];
  return [...enriched, ...ofRules.map(({ fetch, path }) => ({ ...fetch, key: fetchKey(fetch), path }))];
}

interface LocatedFetchCondition {
  readonly fetch: FetchCondition;
  readonly path: Path;
}

/** The keys of evaluators and rules whose values are never conditions. */
const withoutConditions: readonly string[] = ["then", "static", "metadata"];

/** Finds the conditions that fetch data, at any depth; the rest may be invalid. */
export function findFetchConditions(written: unknown, path: Path): readonly LocatedFetchCondition[] {
  if (typeof written !== "object" || written === null) return [];
  const { op, value } = written as Partial<Extract<RuleCondition, { readonly op: string }>>;
  if (op !== undefined)
    return op === "fetch_from_api" && isFetchCondition(value)
      ? [{ fetch: value, path: [...path, "value"] }]
      : [];
  return Object.entries(written).flatMap(([key, each]) =>
    withoutConditions.includes(key)
      ? []
      : findFetchConditions(each, [...path, Array.isArray(written) ? Number(key) : key]),
  );
}

const isFetchCondition = (value: unknown): value is FetchCondition =>
  typeof value === "object" && value !== null && "endpoint" in value && typeof value.endpoint === "string";

/** Returns the paths in the context that receive the response: `into`, or those of the mapping. */
export function destinationsOf({
  into,
  mapping,
}: Pick<DeclaredFetch, "into" | "mapping">): readonly string[] {
  return into === undefined ? Object.values(mapping ?? {}) : [into];
}

/** The longest path that data can be fetched into. */
export const maxPathLength = 256;

interface PathEntry<Value> {
  readonly path: string;
  readonly value: Value;
}

/** Maps dotted paths to values, and finds values at overlapping paths. Steps beyond `maxPathLength` are ignored. */
export class PathMap<Value> {
  readonly #at = new Map<string, PathEntry<Value>>();
  /** Entries by each of their parent paths. */
  readonly #below = new Map<string, PathEntry<Value>>();

  /** Adds a value; the first value at a path stays. */
  add(path: string, value: Value): void {
    const entry = { path, value };
    if (!this.#at.has(path)) this.#at.set(path, entry);
    for (const above of prefixesOf(path)) if (!this.#below.has(above)) this.#below.set(above, entry);
  }

  /** Returns the entry at a path or at one of its parents. */
  covering(path: string): PathEntry<Value> | undefined {
    for (const above of prefixesOf(path)) {
      const found = this.#at.get(above);
      if (found !== undefined) return found;
    }
    return this.#at.get(path);
  }

  overlapping(path: string): PathEntry<Value> | undefined {
    return this.covering(path) ?? this.#below.get(path);
  }
}

function prefixesOf(path: string): readonly string[] {
  const prefixes: string[] = [];
  for (let dot = path.indexOf("."); dot !== -1 && dot <= maxPathLength; dot = path.indexOf(".", dot + 1))
    prefixes.push(path.slice(0, dot));
  return prefixes;
}
