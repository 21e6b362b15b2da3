import type { Endpoint, Method } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";
import { version } from "../version.js";

/** What is sent. */
export interface Request {
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
): Request {
  const common = {
    accept: "application/json",
    "user-agent": `agent-33/${version}`,
    ...lowerCased(headers),
    ...lowerCased(credentials),
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

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function withQuery(url: string, params: JsonObject): URL {
  const whole = new URL(url);
  for (const [name, value] of Object.entries(params)) whole.searchParams.set(name, textOf(value));
  return whole;
}

function textOf(value: Json): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
