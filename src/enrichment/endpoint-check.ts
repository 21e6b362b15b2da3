import { InvalidConfigurationError } from "../contract-errors.js";
import { urlFault } from "../definition/endpoint-url.js";
import { frozenCopy } from "../digest/frozen-copy.js";
import { isObject } from "../expression/equal.js";
import type { Endpoint } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";
import { didYouMean } from "../nearest.js";
import { settingsOf } from "./endpoint-settings.js";

/** Endpoints that a program gives us, of which no schema has been asked: as much as must be sure to fetch from them. */
export function checkedEndpoints(given: unknown): ReadonlyMap<string, Endpoint> {
  const endpoints = copyOf(given);
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const fault = faultOf(endpoint) ?? durationFault(endpoint as unknown as Endpoint);
    if (fault !== undefined) throw new InvalidConfigurationError(`the endpoint \`${name}\`: ${fault}`);
  }
  return new Map(Object.entries(endpoints as unknown as Record<string, Endpoint>));
}

function copyOf(given: unknown): JsonObject {
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

function faultOf(endpoint: Json): string | undefined {
  if (!isObject(endpoint)) return "it is not an object";
  const unknown = Object.keys(endpoint).find((key) => !known.includes(key));
  if (unknown !== undefined) return unknownKey(unknown);
  const { url, method = "get", headers = {}, auth, cache } = endpoint;
  if (typeof url !== "string") return "it has no `url`";
  const fault = urlFault(url);
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

const known: readonly string[] = [
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
  const meant = didYouMean(key, known);
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
const counts = {
  retry: ["attempts"],
  rate_limit: ["count"],
  circuit_breaker: ["failure_threshold", "success_threshold"],
};

function countFault(endpoint: JsonObject): string | undefined {
  for (const [part, keys] of Object.entries(counts)) {
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
