import type { ServerResponse, IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { routeNotFound } from "./error-handlers.js";
import type { HttpOptions } from "./http-server.js";
import {
  createProblem,
  codeOfStatus,
  HttpError,
  overloaded,
  unauthenticated,
  tooManyRequests,
} from "./problem.js";
import type { CountRequest } from "./rate-limits.js";
import { openRateLimits } from "./rate-limits.js";
import type { RequestHooks } from "./request-hooks.js";
import { allowedMethods } from "./routes.js";
import { isUnauthenticated } from "../auth/authenticate.js";
import { originChecker, isHost } from "../check-origin.js";
import { correlationFromHeaders } from "../correlation.js";

export interface AccessControl {
  readonly isDraining: () => boolean;
  readonly countRequest: CountRequest;
}

/** Checks every request before its body is read: its form, host and origin, caller, and rate. */
export async function addAccessControl(
  app: FastifyInstance,
  options: HttpOptions,
  hooks: RequestHooks,
): Promise<AccessControl> {
  const { authenticate, maxInFlight } = options;
  const countRequest = await openRateLimits(app, options.rateLimits);
  const concurrency = new CallerConcurrency(maxInFlight);
  const mcp = options.mcp !== undefined;
  const checkOrigin = originChecker(options.allowedOrigins);
  // A value given here would be shared by all requests, so each request sets its own.
  app.decorateRequest("identity");
  app.addHook("onRequest", (request, reply, done) => {
    hooks.begin(request, reply);
    const isPublic = isPublicRoute(request);
    if (hooks.inFlight > maxInFlight && !isPublic) throw overloaded();
    assertWellFormedRequest(request.raw);
    const { host, origin } = request.headers;
    const refusal = checkOrigin({ host, origin });
    if (refusal !== undefined)
      throw new HttpError(createProblem(403, refusal.message, { code: "forbidden", hint: refusal.hint }));
    const correlationId = correlationFromHeaders(request.headers);
    if (correlationId !== undefined) reply.header("x-correlation-id", correlationId);
    request.identity = { caller: undefined, correlationId };
    if (applyCors(request, reply, { mcp, origins: options.allowedOrigins.origins })) return;
    const proceed = (): void => done(request.is404 ? routeNotFound(request.url, { mcp }) : undefined);
    if (authenticate === undefined || isPublic) proceed();
    else admitCaller(request, reply, { authenticate, concurrency, countRequest }).then(proceed, done);
  });
  return { isDraining: () => hooks.isDraining, countRequest };
}

/** Whether a route needs no authentication, such as the health check. */
const isPublicRoute = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as { readonly isPublic?: boolean }).isPublic === true;

interface CallerChecks {
  readonly authenticate: NonNullable<HttpOptions["authenticate"]>;
  readonly concurrency: CallerConcurrency;
  readonly countRequest: CountRequest;
}

async function admitCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticate, concurrency, countRequest }: CallerChecks,
): Promise<void> {
  const caller = await authenticate(request.headers.authorization);
  if (isUnauthenticated(caller)) throw unauthenticated(caller);
  request.identity = { caller, correlationId: request.identity.correlationId };
  const callerKey = JSON.stringify([caller.issuer, caller.subject, caller.client_id, caller.org_id]);
  await countRequest(request, "caller", callerKey);
  concurrency.acquire(callerKey, reply.raw);
}

/** The share of the concurrent requests that one caller may use. */
const maxShare = 0.5;

/** Limits the concurrent requests of each caller, so that slow or many requests leave room for other callers. */
class CallerConcurrency {
  readonly #maxPerCaller: number;
  readonly #inFlight = new Map<string, number>();

  constructor(maxInFlight: number) {
    this.#maxPerCaller = Math.max(1, Math.floor(maxInFlight * maxShare));
  }

  /** Counts a request until its response is closed. Throws if the caller has reached its limit. */
  acquire(caller: string, response: ServerResponse): void {
    // A closed response emits no further close event, so it would be counted forever.
    if (response.closed) return;
    const count = this.#inFlight.get(caller) ?? 0;
    if (count >= this.#maxPerCaller) throw tooManyRequests("at the same time from this caller", 1);
    this.#inFlight.set(caller, count + 1);
    response.on("close", () => this.#release(caller));
  }

  #release(caller: string): void {
    const count = (this.#inFlight.get(caller) ?? 0) - 1;
    if (count > 0) this.#inFlight.set(caller, count);
    else this.#inFlight.delete(caller);
  }
}

const requestHeaders = ["authorization", "content-type", "x-correlation-id", "traceparent"];
const mcpRequestHeaders = ["mcp-session-id", "mcp-protocol-version", "last-event-id"];
const exposedHeaders = ["x-correlation-id", "retry-after", "www-authenticate"];
const mcpExposedHeaders = ["mcp-session-id"];

/** Adds CORS headers for allowed origins. Returns true if the request was a preflight, which is answered here. */
function applyCors(
  request: FastifyRequest,
  reply: FastifyReply,
  { mcp, origins }: { readonly mcp: boolean; readonly origins: readonly string[] },
): boolean {
  const { origin, "access-control-request-method": requestedMethod } = request.headers;
  // Pages from loopback addresses may send requests, but get no CORS headers: the browser hides the response.
  if (origin === undefined || !origins.includes(origin)) return false;
  reply.header("vary", "origin").header("access-control-allow-origin", origin);
  reply.header(
    "access-control-expose-headers",
    [...exposedHeaders, ...(mcp ? mcpExposedHeaders : [])].join(", "),
  );
  if (request.method !== "OPTIONS" || requestedMethod === undefined) return false;
  const methods = allowedMethods(request.url, { mcp });
  if (methods.length === 0) return false;
  reply
    .code(204)
    .header("access-control-allow-methods", methods.join(", "))
    .header("access-control-allow-headers", [...requestHeaders, ...(mcp ? mcpRequestHeaders : [])].join(", "))
    .header("access-control-max-age", "600")
    .send();
  return true;
}

/** Node silently drops headers beyond its own, larger limit. */
const maxHeaders = 100;

/** Rejects requests that a proxy could interpret differently (request smuggling). */
function assertWellFormedRequest(request: IncomingMessage): void {
  const { headers, httpVersionMajor, httpVersionMinor, rawHeaders, url = "" } = request;
  const { host } = headers;
  if (httpVersionMajor !== 1) throw malformedRequest(505, "only HTTP/1.1 is supported");
  if (rawHeaders.length > 2 * maxHeaders) throw malformedRequest(431, "the request has too many headers");
  if (host === undefined ? httpVersionMinor > 0 : !isHost(host))
    throw malformedRequest(400, "`host` must be one valid host");
  if (!url.startsWith("/") && namesAnotherHost(url, host))
    throw malformedRequest(400, "the request line names another host");
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    throw malformedRequest(501, "the only supported transfer coding is `chunked`");
  }
  if (headers["content-encoding"] !== undefined)
    throw malformedRequest(415, "`content-encoding` is not supported");
}

/** Whether an absolute URL in the request line (RFC 9112, section 3.2.2) contradicts `host`. */
function namesAnotherHost(url: string, host = ""): boolean {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  return authority !== undefined && authority.toLowerCase() !== host.toLowerCase();
}

/** Closes the connection, because the end of the request is not certain. */
const malformedRequest = (status: number, detail: string): HttpError =>
  new HttpError(createProblem(status, detail, { code: codeOfStatus(status) }), { connection: "close" });
