import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import type { LookupFunction } from "node:net";
import { isIPv6 } from "node:net";
import type { Connections, Line, Pinned } from "./connections.js";
import type { Failure } from "./failure.js";
import { failureOf } from "./failure.js";
import { brokenOff, readBody } from "./read-body.js";
import type { Request } from "./request.js";

/** An answer as it came. */
export interface Received {
  readonly kind: "received";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Read only where the status is 2xx. */
  readonly bytes: Buffer;
}

export interface Sending extends Pinned {
  readonly connections: Connections;
  readonly signal: AbortSignal;
}

/** Sends a request to one of the addresses that were found in order, and to no other. */
export async function send(
  request: Request,
  { addresses, connections, signal }: Sending,
): Promise<Received | Failure> {
  const line = await connections(request.url.protocol);
  const options = { ...optionsFor(request), lookup: onlyFrom(addresses), addresses, signal };
  // A kept connection may just have ended, and nobody would know whether a post was carried out.
  const kept = request.method !== "post";
  let received = await attempt(line, request, { ...options, agent: kept ? line.agent : false });
  if (received === "ended while idle") received = await attempt(line, request, { ...options, agent: false });
  if (received === "ended while idle") return failureOf({ code: "ECONNRESET" });
  return received.kind !== "received" && signal.aborted ? { kind: "timeout" } : received;
}

function optionsFor({ method, headers }: Request): RequestOptions {
  return { method: method.toUpperCase(), headers, insecureHTTPParser: false, maxHeaderSize: 16 * 1024 };
}

/** Answers as a look-up does, but was made before: another one could lead elsewhere. */
function onlyFrom(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, { all }, callback) => {
    if (all) callback(null, found);
    else callback(null, found[0]?.address ?? "", found[0]?.family);
  };
}

type Attempted = Received | Failure | "ended while idle";

function attempt(line: Line, request: Request, options: RequestOptions): Promise<Attempted> {
  return new Promise((resolve) => {
    const sent = line.request(request.url, options);
    let begun = false;
    sent.on("error", (error) => {
      if (begun) resolve(brokenOff);
      else resolve(endedWhileIdle(sent, error) ? "ended while idle" : failureOf(error));
    });
    sent.on("response", (answer) => {
      begun = true;
      void receive(answer).then(resolve);
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

async function receive(answer: IncomingMessage): Promise<Received | Failure> {
  const { statusCode: status = 0, headers } = answer;
  if (status < 200 || status > 299) {
    answer.destroy();
    return { kind: "received", status, headers, bytes: Buffer.alloc(0) };
  }
  const body = await readBody(answer);
  return body.kind === "body" ? { kind: "received", status, headers, bytes: body.bytes } : body;
}
