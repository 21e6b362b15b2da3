import {
  CircuitOpenError,
  DecisionError,
  InvalidConfigurationError,
  NetworkError,
  RequestError,
  TimeoutError,
} from "../errors.js";
import { invalidUrlReason } from "../definition/checks/check-endpoints.js";
import { frozenCopy } from "../digest/freeze-json.js";
import { isObject } from "../expression/equal.js";
import type { Endpoint, Endpoints, FetchFailure } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";
import { didYouMean } from "../text.js";
import { endpointSettings } from "./endpoint-settings.js";
import type { EndpointFetcher } from "./fetcher.js";

/** Fetches from endpoints by name. */
export interface DataEnrichmentClient {
  /** Returns the data of the response. Throws if the fetch fails. */
  fetch(
    name: string,
    options?: {
      readonly params?: JsonObject;
      /** Whether to use and fill the response cache. Default: true. */
      readonly use_cache?: boolean;
    },
  ): Promise<Json>;
}

export function createClient(
  endpoints: Endpoints,
  fetcher: () => Promise<EndpointFetcher>,
): DataEnrichmentClient {
  const checked = checkEndpoints(endpoints);
  return {
    async fetch(name, options = {}) {
      assertKnownOptions(options);
      const { params = {}, use_cache: cached = true } = options;
      const endpoint = findEndpoint(name, checked);
      const request = { name, endpoint, params: copyParams(params), cached, dryRun: false };
      const outcome = await (await fetcher()).fetch(request);
      if (outcome.ok) return outcome.data;
      // Only dry runs skip fetches.
      const error = "error" in outcome ? outcome.error : ({ code: "fetch_refused", message: "" } as const);
      throw toError(name, error, outcome.status);
    },
  };
}

const optionNames = ["params", "use_cache"];

function assertKnownOptions(options: object): void {
  const unknown = Object.keys(options).find((key) => !optionNames.includes(key));
  if (unknown === undefined) return;
  throw new DecisionError("usage", `\`fetch\` has no option \`${unknown}\``, {
    hint: didYouMean(unknown, optionNames) ?? `available options: ${listNames(optionNames)}`,
  });
}

function findEndpoint(name: string, endpoints: ReadonlyMap<string, Endpoint>): Endpoint {
  const endpoint = endpoints.get(name);
  if (endpoint !== undefined) return endpoint;
  throw new DecisionError("usage", `no endpoint called \`${name}\``, {
    hint: didYouMean(name, endpoints.keys()) ?? `available endpoints: ${listNames([...endpoints.keys()])}`,
  });
}

const listNames = (names: readonly string[]): string =>
  names.length === 0 ? "none" : names.map((name) => `\`${name}\``).join(", ");

function copyParams(params: unknown): JsonObject {
  try {
    const copy = frozenCopy(params);
    if (isObject(copy)) return copy;
  } catch (error) {
    throw new DecisionError("input_invalid", `the params cannot be sent: ${(error as Error).message}`);
  }
  throw new DecisionError("input_invalid", "the params are not an object");
}

function toError(name: string, { code, message }: FetchFailure, status: number | undefined): DecisionError {
  const text = `no data from \`${name}\`: ${message}`;
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

/** Checks endpoints that come from a program and not from a definition file, so no schema has checked them. */
function checkEndpoints(value: unknown): ReadonlyMap<string, Endpoint> {
  const endpoints = copyEndpoints(value);
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const fault = endpointFault(endpoint) ?? durationFault(endpoint as unknown as Endpoint);
    if (fault !== undefined) throw new InvalidConfigurationError(`endpoint \`${name}\`: ${fault}`);
  }
  return new Map(Object.entries(endpoints as unknown as Record<string, Endpoint>));
}

function copyEndpoints(value: unknown): JsonObject {
  try {
    const copy = frozenCopy(value);
    if (isObject(copy)) return copy;
  } catch (error) {
    throw new InvalidConfigurationError(`invalid endpoints: ${(error as Error).message}`);
  }
  throw new InvalidConfigurationError("`endpoints` is not an object of endpoints by name", {
    hint: 'write { endpoints: { bureau: { url: "https://bureau.example/score" } } }',
  });
}

function endpointFault(endpoint: Json): string | undefined {
  if (!isObject(endpoint)) return "not an object";
  const unknown = Object.keys(endpoint).find((key) => !endpointKeys.includes(key));
  if (unknown !== undefined) return unknownKey(unknown);
  const { url, method = "get", headers = {}, auth, cache } = endpoint;
  if (typeof url !== "string") return "`url` is missing";
  const fault = invalidUrlReason(url);
  if (fault !== undefined) return `\`url\`: ${fault}`;
  if (!methods.has(method)) return "`method` is not one of get, post, put, delete";
  if (!isObject(headers) || !Object.values(headers).every(isText)) return "`headers` must be strings";
  if (auth !== undefined && !isAuth(auth))
    return "`auth` does not name an environment variable for each secret it needs";
  if (cache !== undefined && !(isObject(cache) && isText(cache["ttl"]))) return "`cache` has no `ttl`";
  return countFault(endpoint);
}

function durationFault(endpoint: Endpoint): string | undefined {
  try {
    endpointSettings(endpoint);
    return undefined;
  } catch (error) {
    const { message, hint } = error as InvalidConfigurationError;
    return `${message}: ${hint ?? ""}`;
  }
}

const endpointKeys: readonly string[] = [
  "url",
  "method",
  "auth",
  "timeout",
  "headers",
  "cache",
  "retry",
  "rate_limit",
  "circuit_breaker",
  "allow_private",
];

function unknownKey(key: string): string {
  const suggestion = didYouMean(key, endpointKeys);
  return `unknown key \`${key}\`${suggestion === undefined ? "" : ` (${suggestion})`}`;
}

const methods: ReadonlySet<Json> = new Set(["get", "post", "put", "delete"]);

const isText = (value: Json | undefined): boolean => typeof value === "string";

/** Accepts what a definition accepts. Any other text may be the secret itself. */
const isVariable = (value: Json | undefined): boolean =>
  typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);

const authKeys: Readonly<Record<string, readonly string[]>> = {
  api_key: ["secret_key"],
  basic: ["username_key", "password_key"],
  bearer: ["token_key"],
};

function isAuth(auth: Json): boolean {
  if (!isObject(auth) || typeof auth["type"] !== "string" || !Object.hasOwn(authKeys, auth["type"]))
    return false;
  return (authKeys[auth["type"]] ?? []).every((key) => isVariable(auth[key]));
}

/** The keys with counts, by section. */
const countKeys = {
  retry: ["attempts"],
  rate_limit: ["count"],
  circuit_breaker: ["failure_threshold", "success_threshold"],
};

function countFault(endpoint: JsonObject): string | undefined {
  for (const [section, keys] of Object.entries(countKeys)) {
    const value = endpoint[section];
    if (value === undefined) continue;
    if (!isObject(value)) return `\`${section}\` is not an object`;
    if (section === "rate_limit" && !(isText(value["per"]) && "count" in value))
      return "`rate_limit` needs `count` and `per`";
    const wrong = keys.find((key) => value[key] !== undefined && !isPositive(value[key]));
    if (wrong !== undefined) return `\`${section}.${wrong}\` is not a whole number of 1 or more`;
  }
  return undefined;
}

const isPositive = (value: Json): boolean => Number.isSafeInteger(value) && (value as number) > 0;
