import type { Endpoint, Method } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";
import { version } from "../version.js";

export interface HttpRequest {
  readonly url: URL;
  readonly method: Method;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Builds the request. `credentials` are headers that override those of the endpoint. */
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
  const full = new URL(url);
  for (const [name, value] of Object.entries(params)) full.searchParams.set(name, queryText(value));
  return full;
}

function queryText(value: Json): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Headers that the client sets itself: a wrong value allows request smuggling or an unreadable response. */
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

/** Returns why a header cannot be sent. The message never contains its value, which may be a secret. */
export function headerFault(name: string, value: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    return `\`${JSON.stringify(name).slice(1, -1)}\` is not a valid header name`;
  }
  if (reservedHeaders.has(name.toLowerCase())) return `header \`${name}\` cannot be set`;
  return isHeaderValue(value)
    ? undefined
    : `header \`${name}\` contains characters that are not allowed in a header`;
}

/** Accepts printable ASCII and tabs, which are the same in every encoding. */
export const isHeaderValue = (value: string): boolean => /^[\t\u0020-\u007e]*$/.test(value);
