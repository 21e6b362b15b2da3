import { duration, text } from "./common.js";

/** Looked at more closely by endpoint-faults.ts, whose words tell nothing of what may be a secret. */
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
    ...Object.fromEntries(required.map((key) => [key, variable])),
    ...more,
  },
});

const auths = [
  auth("api_key", ["secret_key"], {
    header: { ...headerName, description: "The header it is sent in; X-API-Key when left out." },
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
    url: { type: "string", minLength: 1, maxLength: 2048, description: "http or https." },
    method: { enum: ["get", "post", "put", "delete"], description: "get when left out." },
    auth: {
      type: "object",
      required: ["type"],
      discriminator: { propertyName: "type" },
      oneOf: auths,
      description: "How it knows who asks; secrets are named by environment variables.",
    },
    timeout: {
      ...duration,
      description: "How long a fetch may take with all its retries; 5s when left out.",
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
      properties: { ttl: duration },
      description: "How long an answer stands for those after it; none is kept when left out.",
    },
    retry: {
      type: "object",
      additionalProperties: false,
      properties: {
        attempts: count(1, 10, "How often it is tried in all; 3 when left out."),
        base: {
          ...duration,
          description: "The first pause at most, doubled each time; 100ms when left out.",
        },
        max: { ...duration, description: "No pause is longer; 2s when left out." },
      },
      description: "Tried once only when left out.",
    },
    rate_limit: {
      type: "object",
      required: ["count", "per"],
      additionalProperties: false,
      properties: { count: count(1, 1000, "How many requests."), per: duration },
      description: "At most so many requests in any stretch of that length.",
    },
    circuit_breaker: {
      type: "object",
      additionalProperties: false,
      properties: {
        failure_threshold: count(1, 1000, "It opens with so many failures in a row; 5 when left out."),
        timeout: { ...duration, description: "It stays open so long; 60s when left out." },
        success_threshold: count(1, 1000, "It closes with so many successes in a row; 2 when left out."),
      },
      description: "When it is left alone for a while; always on.",
    },
    allow_private: {
      type: "boolean",
      description: "Lets it be on this machine or in a private network.",
    },
  },
} as const;

/** By their names. */
export const endpoints = {
  type: "object",
  propertyNames: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" },
  additionalProperties: endpoint,
  description: "Where decisions may fetch data from.",
} as const;

/** What one decision fetches. */
export const enrich = {
  type: "array",
  items: {
    type: "object",
    required: ["endpoint", "into"],
    additionalProperties: false,
    properties: {
      endpoint: { ...text, description: "The name of an endpoint." },
      params: { type: "object", description: "What it is asked with; {{ … }} is filled in." },
      into: { ...text, description: "Where in the context its answer goes, such as credit." },
      mapping: {
        type: "object",
        minProperties: 1,
        additionalProperties: text,
        description: "Which fields of the answer go where below `into`; all of it when left out.",
      },
      required: { type: "boolean", description: "Without it there is no decision; false when left out." },
    },
  },
  description: "What is fetched before it is decided.",
} as const;
