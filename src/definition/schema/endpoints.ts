import { cacheAdapter, duration, text } from "./common.js";

/** The messages about a violation never contain the value, which may be a secret written by mistake. */
const variable = {
  type: "string",
  pattern: "^[A-Za-z_][A-Za-z0-9_]{0,255}$",
  description: "The name of an environment variable, never the secret itself.",
} as const;

const headerName = { type: "string", pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$" } as const;

const auth = (type: string, required: readonly string[], more: object = {}): object => ({
  type: "object",
  required: ["type", ...required],
  additionalProperties: false,
  properties: {
    type: { const: type },
    ...more,
    ...Object.fromEntries(required.map((key) => [key, variable])),
  },
});

const auths = [
  auth("api_key", ["secret_key"], {
    header: { ...headerName, description: "The header that the key is sent in. Default: X-API-Key." },
  }),
  auth("basic", ["username_key", "password_key"]),
  auth("bearer", ["token_key"]),
] as const;

const count = (least: number, most: number, description: string): object => ({
  type: "integer",
  minimum: least,
  maximum: most,
  description,
});

const endpoint = {
  type: "object",
  required: ["url"],
  additionalProperties: false,
  properties: {
    url: { type: "string", minLength: 1, maxLength: 2048, description: "An http or https URL." },
    method: { enum: ["get", "post", "put", "delete"], description: "The HTTP method. Default: get." },
    auth: {
      type: "object",
      required: ["type"],
      discriminator: { propertyName: "type" },
      oneOf: auths,
      description: "How requests are authenticated. Secrets are read from environment variables.",
    },
    timeout: {
      ...duration,
      description: "How long a fetch may take, including all retries. Default: 5s.",
    },
    headers: {
      type: "object",
      propertyNames: headerName,
      additionalProperties: { type: "string", maxLength: 4096, pattern: "^[\\t\\u0020-\\u007e]*$" },
    },
    cache: {
      type: "object",
      required: ["ttl"],
      additionalProperties: false,
      properties: { ttl: duration, adapter: cacheAdapter },
      description: "How long responses are cached. Default: not at all.",
    },
    retry: {
      type: "object",
      additionalProperties: false,
      properties: {
        attempts: count(1, 10, "The number of attempts. Default: 3."),
        base: {
          ...duration,
          description: "The longest first pause. It doubles with every retry. Default: 100ms.",
        },
        max: { ...duration, description: "The longest pause. Default: 2s." },
      },
      description: "Repeats failed requests. Default: no retries.",
    },
    rate_limit: {
      type: "object",
      required: ["count", "per"],
      additionalProperties: false,
      properties: { count: count(1, 1000, "The number of requests."), per: duration },
      description: "Allows at most `count` requests in any period of this length.",
    },
    circuit_breaker: {
      type: "object",
      additionalProperties: false,
      properties: {
        failure_threshold: count(
          1,
          1000,
          "The number of consecutive failures that open the circuit. Default: 5.",
        ),
        timeout: { ...duration, description: "How long the circuit stays open. Default: 60s." },
        success_threshold: count(
          1,
          1000,
          "The number of consecutive successes that close the circuit. Default: 2.",
        ),
      },
      description: "Stops requests to a failing endpoint for a while. It is always enabled.",
    },
    allow_private: {
      type: "boolean",
      description: "Allows requests to this machine and to private networks.",
    },
  },
} as const;

/** The endpoints of a document, by name. */
export const endpoints = {
  type: "object",
  propertyNames: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" },
  additionalProperties: endpoint,
  description: "The endpoints that decisions may fetch data from, by name.",
} as const;

/** The data that one decision fetches. */
export const enrich = {
  type: "array",
  items: {
    type: "object",
    required: ["endpoint", "into"],
    additionalProperties: false,
    properties: {
      endpoint: { ...text, description: "The name of an endpoint." },
      params: { type: "object", description: "The parameters of the request. {{ … }} is filled in." },
      into: { ...text, description: "The path in the context that receives the response, such as credit." },
      mapping: {
        type: "object",
        minProperties: 1,
        additionalProperties: text,
        description: "The fields of the response, and their paths below `into`. Default: the whole response.",
      },
      required: {
        type: "boolean",
        description: "Whether the decision fails without this data. Default: false.",
      },
    },
  },
  description: "Data to fetch before the decision is made.",
} as const;
