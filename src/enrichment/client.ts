import { settingsOf } from "./endpoint-settings.js";
import type { EndpointFetcher } from "./fetcher.js";
import { invalidUrlReason } from "../definition/checks/check-endpoints.js";
import { frozenCopy } from "../digest/freeze-json.js";
import {
  CircuitOpenError,
  NetworkError,
  RequestError,
  TimeoutError,
  DecisionError,
  InvalidConfigurationError,
} from "../errors.js";
import { isObject } from "../expression/equal.js";
import type { Endpoint, Endpoints, FetchFailure } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";
import { didYouMean } from "../text.js";

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

export function createClient(
  given: Endpoints,
  fetcher: () => Promise<EndpointFetcher>,
): DataEnrichmentClient {
  const endpoints = checkEndpoints(given);
  return {
    async fetch(name, options = {}) {
      assertKnownOptions(options);
      const { params = {}, use_cache: cached = true } = options;
      const endpoint = findEndpoint(name, endpoints);
      const asked = { name, endpoint, params: copyParams(params), cached, dryRun: false };
      const fetched = await (await fetcher()).fetch(asked);
      if (fetched.ok) return fetched.data;
      // Nothing is left out but in dry runs.
      const error = "error" in fetched ? fetched.error : ({ code: "fetch_refused", message: "" } as const);
      throw toError(name, error, fetched.status);
    },
  };
}

const optionNames = ["params", "use_cache"];

function assertKnownOptions(options: object): void {
  const unknown = Object.keys(options).find((key) => !optionNames.includes(key));
  if (unknown === undefined) return;
  throw new DecisionError("usage", `\`fetch\` has no option \`${unknown}\``, {
    hint: didYouMean(unknown, optionNames) ?? `there is ${listNames(optionNames)}`,
  });
}

function findEndpoint(name: string, endpoints: ReadonlyMap<string, Endpoint>): Endpoint {
  const endpoint = endpoints.get(name);
  if (endpoint !== undefined) return endpoint;
  throw new DecisionError("usage", `no endpoint called \`${name}\``, {
    hint: didYouMean(name, endpoints.keys()) ?? `there is ${listNames([...endpoints.keys()])}`,
  });
}

const listNames = (names: readonly string[]): string =>
  names.length === 0 ? "none" : names.map((name) => `\`${name}\``).join(", ");

function copyParams(params: unknown): JsonObject {
  try {
    const bound = frozenCopy(params);
    if (isObject(bound)) return bound;
  } catch (error) {
    throw new DecisionError("input_invalid", `the params cannot be sent: ${(error as Error).message}`);
  }
  throw new DecisionError("input_invalid", "the params are not an object");
}

function toError(name: string, { code, message }: FetchFailure, status: number | undefined): DecisionError {
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

/** Endpoints that a program gives us, of which no schema has been asked: as much as must be sure to fetch from them. */
function checkEndpoints(given: unknown): ReadonlyMap<string, Endpoint> {
  const endpoints = copyEndpoints(given);
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const fault = endpointFault(endpoint) ?? durationFault(endpoint as unknown as Endpoint);
    if (fault !== undefined) throw new InvalidConfigurationError(`the endpoint \`${name}\`: ${fault}`);
  }
  return new Map(Object.entries(endpoints as unknown as Record<string, Endpoint>));
}

function copyEndpoints(given: unknown): JsonObject {
  try {
    const copy = frozenCopy(given);
    if (isObject(copy)) return copy;
  } catch (error) {
    throw new InvalidConfigurationError(`the endpoints cannot be used: ${(error as Error).message}`);
  }
  throw new InvalidConfigurationError("a client needs its endpoints, by their names", {
    hint: 'as in { endpoints: { bureau: { url: "https://bureau.example/score" } } }',
  });
}

function endpointFault(endpoint: Json): string | undefined {
  if (!isObject(endpoint)) return "it is not an object";
  const unknown = Object.keys(endpoint).find((key) => !endpointKeys.includes(key));
  if (unknown !== undefined) return unknownKey(unknown);
  const { url, method = "get", headers = {}, auth, cache } = endpoint;
  if (typeof url !== "string") return "it has no `url`";
  const fault = invalidUrlReason(url);
  if (fault !== undefined) return `its \`url\`: ${fault}`;
  if (!methods.has(method)) return "its `method` is none of get, post, put, delete";
  if (!isObject(headers) || !Object.values(headers).every(isText)) return "its `headers` are not all text";
  if (auth !== undefined && !isAuth(auth))
    return "its `auth` does not name environment variables for all that it needs";
  if (cache !== undefined && !(isObject(cache) && isText(cache["ttl"]))) return "its `cache` has no `ttl`";
  return countFault(endpoint);
}

function durationFault(endpoint: Endpoint): string | undefined {
  try {
    settingsOf(endpoint);
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
  const meant = didYouMean(key, endpointKeys);
  return `it has an unknown key \`${key}\`${meant === undefined ? "" : ` (${meant})`}`;
}

const methods: ReadonlySet<Json> = new Set(["get", "post", "put", "delete"]);

const isText = (value: Json | undefined): boolean => typeof value === "string";

/** As a definition may name one: what is no name may be the secret itself. */
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

/** What is counted, by where it stands. */
const countKeys = {
  retry: ["attempts"],
  rate_limit: ["count"],
  circuit_breaker: ["failure_threshold", "success_threshold"],
};

function countFault(endpoint: JsonObject): string | undefined {
  for (const [part, keys] of Object.entries(countKeys)) {
    const given = endpoint[part];
    if (given === undefined) continue;
    if (!isObject(given)) return `its \`${part}\` is not an object`;
    if (part === "rate_limit" && !(isText(given["per"]) && "count" in given))
      return "its `rate_limit` has no `count` or no `per`";
    const wrong = keys.find((key) => given[key] !== undefined && !isPositive(given[key]));
    if (wrong !== undefined) return `its \`${part}.${wrong}\` is not a whole number from 1 on`;
  }
  return undefined;
}

const isPositive = (value: Json): boolean => Number.isSafeInteger(value) && (value as number) > 0;
