import { CircuitOpenError, NetworkError, RequestError, TimeoutError } from "../contract-errors.js";
import { frozenCopy } from "../digest/frozen-copy.js";
import { DecisionError } from "../errors.js";
import { isObject } from "../expression/equal.js";
import type { Endpoint, Endpoints, FetchFailure } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";
import { didYouMean } from "../nearest.js";
import { checkedEndpoints } from "./endpoint-check.js";
import type { OpenedFetcher } from "./fetcher.js";

/** Fetches from endpoints by their names. */
export interface DataEnrichmentClient {
  /** The data of the answer; throws where there is none. */
  fetch(
    name: string,
    options?: {
      readonly params?: JsonObject;
      /** Whether an answer that was kept will do, and the new one may be kept; absent: yes. */
      readonly use_cache?: boolean;
    },
  ): Promise<Json>;
}

export function clientOf(given: Endpoints, fetcher: () => Promise<OpenedFetcher>): DataEnrichmentClient {
  const endpoints = checkedEndpoints(given);
  return {
    async fetch(name, options = {}) {
      refuseUnknown(options);
      const { params = {}, use_cache: cached = true } = options;
      const endpoint = endpointCalled(name, endpoints);
      const asked = { name, endpoint, params: boundParams(params), cached, dryRun: false };
      const fetched = await (await fetcher()).fetch(asked);
      if (fetched.ok) return fetched.data;
      // Nothing is left out but in dry runs.
      const error = "error" in fetched ? fetched.error : ({ code: "fetch_refused", message: "" } as const);
      throw errorOf(name, error, fetched.status);
    },
  };
}

const optionNames = ["params", "use_cache"];

function refuseUnknown(options: object): void {
  const unknown = Object.keys(options).find((key) => !optionNames.includes(key));
  if (unknown === undefined) return;
  throw new DecisionError("usage", `\`fetch\` has no option \`${unknown}\``, {
    hint: didYouMean(unknown, optionNames) ?? `there is ${listed(optionNames)}`,
  });
}

function endpointCalled(name: string, endpoints: ReadonlyMap<string, Endpoint>): Endpoint {
  const endpoint = endpoints.get(name);
  if (endpoint !== undefined) return endpoint;
  throw new DecisionError("usage", `no endpoint called \`${name}\``, {
    hint: didYouMean(name, endpoints.keys()) ?? `there is ${listed([...endpoints.keys()])}`,
  });
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? "none" : names.map((name) => `\`${name}\``).join(", ");

function boundParams(params: unknown): JsonObject {
  try {
    const bound = frozenCopy(params);
    if (isObject(bound)) return bound;
  } catch (error) {
    throw new DecisionError("input_invalid", `the params cannot be sent: ${(error as Error).message}`);
  }
  throw new DecisionError("input_invalid", "the params are not an object");
}

function errorOf(name: string, { code, message }: FetchFailure, status: number | undefined): DecisionError {
  const text = `no data came from \`${name}\`: ${message}`;
  const details = { endpoint: name };
  switch (code) {
    case "request_failed":
    case "rate_limited":
      return new RequestError(text, { code, status, details });
    case "request_timeout":
      return new TimeoutError(text, { details });
    case "network_failed":
      return new NetworkError(text, { details });
    case "circuit_open":
      return new CircuitOpenError(text, { details });
    case "fetch_refused":
      return new DecisionError(code, text, { details });
  }
}
