import type { Endpoint, Method } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";
import { version } from "../version.js";

/** What is sent. */
export interface HttpRequest {
  readonly url: URL;
  readonly method: Method;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The request for some params; `credentials` are headers that stand above those of the endpoint. */
export function requestFor(
  { url, method = "get", headers = {} }: Endpoint,
  params: JsonObject,
  credentials: Readonly<Record<string, string>>,
): HttpRequest {
  const common = {
    accept: "application/json",
    "user-agent": `agent-33/${version}`,
    ...lowerCaseNames(headers),
    ...lowerCaseNames(credentials),
    "accept-encoding": "identity",
  };
  if (method === "get" || method === "delete") {
    return { url: withQuery(url, params), method, headers: common };
  }
  const body = JSON.stringify(params);
  const described = { "content-type": "application/json", ...common };
  const length = { "content-length": String(Buffer.byteLength(body)) };
  return { url: new URL(url), method, headers: { ...described, ...length }, body };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function withQuery(url: string, params: JsonObject): URL {
  const whole = new URL(url);
  for (const [name, value] of Object.entries(params)) whole.searchParams.set(name, queryText(value));
  return whole;
}

function queryText(value: Json): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What only we may say: a wrong word of these makes another request of it, or an answer that cannot be read. */
const reservedHeaders = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "expect",
  "te",
  "trailer",
  "accept-encoding",
]);

/** Why a header cannot be sent; its value is never repeated. */
export function headerFault(name: string, value: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    return `\`${JSON.stringify(name).slice(1, -1)}\` cannot be the name of a header`;
  }
  if (reservedHeaders.has(name.toLowerCase())) return `the header \`${name}\` cannot be chosen`;
  return isHeaderValue(value) ? undefined : `the header \`${name}\` holds what no header can carry`;
}

/** Only what is written the same in every encoding. */
export const isHeaderValue = (value: string): boolean => /^[\t\u0020-\u007e]*$/.test(value);
