import type { WrittenFetch } from "../definition/fetches.js";
import { fetchesOf } from "../definition/fetches.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Endpoint, Endpoints } from "../model/endpoint.js";

/** What a decision fetches, and from where, one line each; of one that was kept, the endpoints are not known. */
export function fetchLines({ definition, environment }: LoadedDefinition): readonly string[] {
  const endpoints = (environment["endpoints"] ?? {}) as unknown as Endpoints;
  return fetchesOf(definition).map((fetch) => {
    const endpoint = Object.hasOwn(endpoints, fetch.endpoint) ? endpoints[fetch.endpoint] : undefined;
    const about = [
      ...(endpoint === undefined ? [] : [endpointText(endpoint)]),
      ...(fetch.required ? ["required"] : []),
    ];
    const known = about.length === 0 ? "" : ` (${about.join(", ")})`;
    return `${placeText(fetch)} from ${fetch.endpoint}${known}`;
  });
}

/** Where it goes, with the fields of the answer that do. */
function placeText({ into, mapping = {} }: WrittenFetch): string {
  const mapped = Object.entries(mapping).map(([from, to]) => (from === to ? to : `${to} = ${from}`));
  if (into === undefined) return mapped.length === 0 ? "whether data come" : mapped.join(", ");
  return mapped.length === 0 ? into : `${into} (${mapped.join(", ")})`;
}

function endpointText({ method = "get", url, cache }: Endpoint): string {
  return `${method} ${url}${cache === undefined ? "" : `, kept for ${cache.ttl}`}`;
}
