import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import type { LookupFunction } from "node:net";
import { isIPv6 } from "node:net";
import type { ExchangeOutcome } from "./exchange.js";
import type { HttpRequest } from "./request.js";

export interface HttpResponse {
  readonly kind: "received";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty unless the status is 2xx. */
  readonly bytes: Buffer;
}

type ConnectionFailure = Extract<ExchangeOutcome, { readonly kind: "timeout" | "network" | "broken" }>;

/** The checked addresses of the host. */
interface PinnedAddresses {
  readonly addresses: readonly string[];
}

interface SendOptions extends PinnedAddresses {
  readonly connections: Connections;
  readonly signal: AbortSignal;
}

/** Sends a request to one of the given addresses, and to no other. */
export async function send(
  request: HttpRequest,
  { addresses, connections, signal }: SendOptions,
): Promise<HttpResponse | ConnectionFailure> {
  const client = await connections(request.url.protocol);
  const options = { ...optionsFor(request), lookup: pinnedLookup(addresses), addresses, signal };
  // The server may just have closed an idle connection. A POST cannot be repeated then, so it uses a new one.
  const reuses = request.method !== "post";
  let response = await attempt(client, request, { ...options, agent: reuses ? client.agent : false });
  if (response === "closed while idle")
    response = await attempt(client, request, { ...options, agent: false });
  if (response === "closed while idle") return toFailure({ code: "ECONNRESET" });
  return response.kind !== "received" && signal.aborted ? { kind: "timeout" } : response;
}

function optionsFor({ method, headers }: HttpRequest): RequestOptions {
  return { method: method.toUpperCase(), headers, insecureHTTPParser: false, maxHeaderSize: 16 * 1024 };
}

/** Returns the checked addresses instead of looking them up again, which could give a forbidden one. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, { all }, callback) => {
    if (all) callback(null, found);
    else callback(null, found[0]?.address ?? "", found[0]?.family);
  };
}

type AttemptOutcome = HttpResponse | ConnectionFailure | "closed while idle";

function attempt(client: HttpClient, request: HttpRequest, options: RequestOptions): Promise<AttemptOutcome> {
  return new Promise((resolve) => {
    const sent = client.request(request.url, options);
    let hasResponse = false;
    sent.on("error", (error) => {
      if (hasResponse) resolve(truncatedResponse);
      else resolve(isClosedWhileIdle(sent, error) ? "closed while idle" : toFailure(error));
    });
    sent.on("response", (response) => {
      hasResponse = true;
      void readResponse(response).then(resolve);
    });
    sent.on("upgrade", (_response, socket) => {
      socket.destroy();
      resolve({ kind: "broken", message: "the response switches to another protocol" });
    });
    sent.end(request.body);
  });
}

function isClosedWhileIdle(sent: ClientRequest, { code }: NodeJS.ErrnoException): boolean {
  return sent.reusedSocket && (code === "ECONNRESET" || code === "EPIPE");
}

async function readResponse(response: IncomingMessage): Promise<HttpResponse | ConnectionFailure> {
  const { statusCode: status = 0, headers } = response;
  if (status < 200 || status > 299) {
    response.destroy();
    return { kind: "received", status, headers, bytes: Buffer.alloc(0) };
  }
  const body = await readBody(response);
  return body.kind === "body" ? { kind: "received", status, headers, bytes: body.bytes } : body;
}

const maxResponseBytes = 1024 * 1024;

type ResponseBody = { readonly kind: "body"; readonly bytes: Buffer } | ConnectionFailure;

const tooLarge: ConnectionFailure = { kind: "broken", message: "the response is larger than 1 MiB" };
const truncatedResponse: ConnectionFailure = { kind: "broken", message: "the response is incomplete" };

/** Reads the body up to the size limit. Counts the bytes, whatever the `Content-Length` says. */
function readBody(response: IncomingMessage): Promise<ResponseBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (body: ResponseBody): void => {
      resolve(body);
      if (body.kind !== "body") response.destroy();
    };
    if (Number(response.headers["content-length"]) > maxResponseBytes) {
      end(tooLarge);
      return;
    }
    response.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxResponseBytes) end(tooLarge);
      else chunks.push(chunk);
    });
    response.on("end", () => {
      end(response.complete ? { kind: "body", bytes: Buffer.concat(chunks) } : truncatedResponse);
    });
    response.on("error", () => end(truncatedResponse));
    response.on("close", () => end(truncatedResponse));
  });
}

/** The HTTP client of one URL scheme. */
interface HttpClient {
  /** Keeps connections open for further requests. An idle one does not keep the process running. */
  readonly agent: Agent;
  request(url: URL, options: RequestOptions): ClientRequest;
}

/** Returns the client for a URL scheme, loaded when first needed. */
type Connections = (protocol: string) => Promise<HttpClient>;

/** Shorter than the five seconds after which most servers close an idle connection. */
const keepAliveOptions = { keepAlive: true, timeout: 4000 };

/** `authorities` are the trusted certificates in PEM format. Absent: those that Node trusts. */
export function openConnections(authorities?: string): Connections {
  let plain: Promise<HttpClient> | undefined;
  let secure: Promise<HttpClient> | undefined;
  return (protocol) =>
    protocol === "https:" ? (secure ??= openSecure(authorities)) : (plain ??= openPlain());
}

async function openPlain(): Promise<HttpClient> {
  const { Agent, request } = await import("node:http");
  return { agent: separateByAddress(new Agent(keepAliveOptions)), request };
}

async function openSecure(authorities: string | undefined): Promise<HttpClient> {
  const { Agent, request } = await import("node:https");
  // Overrides NODE_TLS_REJECT_UNAUTHORIZED: secrets are sent only to the host that the certificate names.
  const trust = { rejectUnauthorized: true, ...(authorities !== undefined && { ca: authorities }) };
  return {
    agent: separateByAddress(new Agent(keepAliveOptions)),
    request: (url, options) => request(url, { ...options, ...trust }),
  };
}

/** Reuses a connection only for the same addresses: a host name may resolve to a forbidden one later. */
function separateByAddress(agent: Agent): Agent {
  const nameOf = agent.getName.bind(agent);
  agent.getName = (options) => {
    const { addresses = [] } = (options ?? {}) as Partial<PinnedAddresses>;
    return `${nameOf(options)} ${addresses.join(" ")}`;
  };
  return agent;
}

const errorMessages: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was closed without a response",
  EPIPE: "the connection was closed without a response",
  ETIMEDOUT: "the connection timed out",
  EHOSTUNREACH: "its address is unreachable",
  ENETUNREACH: "its address is unreachable",
  EADDRNOTAVAIL: "its address is unreachable",
  EPROTO: "the TLS handshake failed",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  CERT_REVOKED: "its certificate was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
};

/** Translates an error of a request that has no response yet. */
function toFailure(error: unknown): ConnectionFailure {
  const code = errorCode(error);
  if (code.startsWith("HPE_")) return { kind: "broken", message: "the response is not valid HTTP" };
  const message = errorMessages[code];
  if (message !== undefined) return { kind: "network", message };
  if (/^ERR_(?:SSL|TLS)_/.test(code))
    return { kind: "network", message: `${errorMessages["EPROTO"]} (${code})` };
  if (/CERT|SIGNATURE|ISSUER|CRL/.test(code)) {
    return { kind: "network", message: `its certificate is not trusted (${code})` };
  }
  return { kind: "network", message: `the connection failed (${code})` };
}

function errorCode(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "unknown error";
}
