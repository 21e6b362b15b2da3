import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions, Agent } from "node:http";
import type { LookupFunction } from "node:net";
import { isIPv6 } from "node:net";
import type { ExchangeOutcome } from "./exchange.js";
import type { HttpRequest } from "./request.js";

/** An answer as it came. */
export interface HttpResponse {
  readonly kind: "received";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Read only where the status is 2xx. */
  readonly bytes: Buffer;
}

interface SendOptions extends PinnedAddresses {
  readonly connections: Connections;
  readonly signal: AbortSignal;
}

/** Sends a request to one of the addresses that were found in order, and to no other. */
export async function send(
  request: HttpRequest,
  { addresses, connections, signal }: SendOptions,
): Promise<HttpResponse | ConnectionFailure> {
  const line = await connections(request.url.protocol);
  const options = { ...optionsFor(request), lookup: pinnedLookup(addresses), addresses, signal };
  // A kept connection may just have ended, and nobody would know whether a post was carried out.
  const kept = request.method !== "post";
  let received = await attempt(line, request, { ...options, agent: kept ? line.agent : false });
  if (received === "ended while idle") received = await attempt(line, request, { ...options, agent: false });
  if (received === "ended while idle") return toFailure({ code: "ECONNRESET" });
  return received.kind !== "received" && signal.aborted ? { kind: "timeout" } : received;
}

function optionsFor({ method, headers }: HttpRequest): RequestOptions {
  return { method: method.toUpperCase(), headers, insecureHTTPParser: false, maxHeaderSize: 16 * 1024 };
}

/** Answers as a look-up does, but was made before: another one could lead elsewhere. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, { all }, callback) => {
    if (all) callback(null, found);
    else callback(null, found[0]?.address ?? "", found[0]?.family);
  };
}

type AttemptOutcome = HttpResponse | ConnectionFailure | "ended while idle";

function attempt(line: HttpClient, request: HttpRequest, options: RequestOptions): Promise<AttemptOutcome> {
  return new Promise((resolve) => {
    const sent = line.request(request.url, options);
    let begun = false;
    sent.on("error", (error) => {
      if (begun) resolve(truncatedResponse);
      else resolve(endedWhileIdle(sent, error) ? "ended while idle" : toFailure(error));
    });
    sent.on("response", (answer) => {
      begun = true;
      void readResponse(answer).then(resolve);
    });
    sent.on("upgrade", (_answer, socket) => {
      socket.destroy();
      resolve({ kind: "broken", message: "it answers in another protocol than HTTP" });
    });
    sent.end(request.body);
  });
}

function endedWhileIdle(sent: ClientRequest, { code }: NodeJS.ErrnoException): boolean {
  return sent.reusedSocket && (code === "ECONNRESET" || code === "EPIPE");
}

async function readResponse(answer: IncomingMessage): Promise<HttpResponse | ConnectionFailure> {
  const { statusCode: status = 0, headers } = answer;
  if (status < 200 || status > 299) {
    answer.destroy();
    return { kind: "received", status, headers, bytes: Buffer.alloc(0) };
  }
  const body = await readBody(answer);
  return body.kind === "body" ? { kind: "received", status, headers, bytes: body.bytes } : body;
}

/** Makes requests of one scheme. */
interface HttpClient {
  /** Keeps connections for further requests; none of them keeps the process running. */
  readonly agent: Agent;
  request(url: URL, options: RequestOptions): ClientRequest;
}

/** The line for a scheme, which is loaded when it is first needed. */
type Connections = (protocol: string) => Promise<HttpClient>;

/** Servers mostly wait for five seconds; whoever comes when they give up finds the connection closed. */
const keepAliveOptions = { keepAlive: true, timeout: 4000 };

/** `authorities` are the certificates that are trusted; absent: those that Node trusts. */
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
  // Whatever the environment says: secrets go only to whom the certificate names.
  const trust = { rejectUnauthorized: true, ...(authorities !== undefined && { ca: authorities }) };
  return {
    agent: separateByAddress(new Agent(keepAliveOptions)),
    request: (url, options) => request(url, { ...options, ...trust }),
  };
}

/** The addresses that were found in order when a request was made. */
interface PinnedAddresses {
  readonly addresses: readonly string[];
}

/** A connection to one address is not used where a name leads to another by now, which may be a forbidden one. */
function separateByAddress(agent: Agent): Agent {
  const nameOf = agent.getName.bind(agent);
  agent.getName = (options) => {
    const { addresses = [] } = (options ?? {}) as Partial<PinnedAddresses>;
    return `${nameOf(options)} ${addresses.join(" ")}`;
  };
  return agent;
}

const maxResponseBytes = 1024 * 1024;

type ResponseBody = { readonly kind: "body"; readonly bytes: Buffer } | ConnectionFailure;

const tooLarge: ConnectionFailure = { kind: "broken", message: "its answer is larger than 1 MiB" };
const truncatedResponse: ConnectionFailure = { kind: "broken", message: "its answer broke off" };

/** Reads an answer to its end, or to where it is too large: whatever it says of its length, the bytes are counted. */
function readBody(answer: IncomingMessage): Promise<ResponseBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (body: ResponseBody): void => {
      resolve(body);
      if (body.kind !== "body") answer.destroy();
    };
    if (Number(answer.headers["content-length"]) > maxResponseBytes) {
      end(tooLarge);
      return;
    }
    answer.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxResponseBytes) end(tooLarge);
      else chunks.push(chunk);
    });
    answer.on("end", () => {
      end(answer.complete ? { kind: "body", bytes: Buffer.concat(chunks) } : truncatedResponse);
    });
    answer.on("error", () => end(truncatedResponse));
    answer.on("close", () => end(truncatedResponse));
  });
}

type ConnectionFailure = Extract<ExchangeOutcome, { readonly kind: "timeout" | "network" | "broken" }>;

const errorMessages: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing answers at its address",
  ECONNRESET: "it ended the connection without an answer",
  EPIPE: "it ended the connection without an answer",
  ETIMEDOUT: "it could not be reached in time",
  EHOSTUNREACH: "there is no way to its address",
  ENETUNREACH: "there is no way to its address",
  EADDRNOTAVAIL: "there is no way to its address",
  EPROTO: "it does not speak TLS as it should",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  CERT_REVOKED: "its certificate was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

/** What an error of a request means before an answer has begun. */
function toFailure(error: unknown): ConnectionFailure {
  const code = errorCode(error);
  if (code.startsWith("HPE_")) return { kind: "broken", message: "its answer is not HTTP as it should be" };
  const known = errorMessages[code];
  if (known !== undefined) return { kind: "network", message: known };
  if (/^ERR_(?:SSL|TLS)_/.test(code))
    return { kind: "network", message: `${errorMessages["EPROTO"]} (${code})` };
  if (/CERT|SIGNATURE|ISSUER|CRL/.test(code)) {
    return { kind: "network", message: `its certificate is not trusted (${code})` };
  }
  return { kind: "network", message: `the connection failed (${code})` };
}

function errorCode(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "for an unknown reason";
}
