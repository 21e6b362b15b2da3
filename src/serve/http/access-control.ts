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
import { originChecker, isHost } from "../check-origin.js";
import { correlationFromHeaders } from "../correlation.js";

export interface AccessControl {
  readonly isDraining: () => boolean;
  readonly drain: () => void;
  readonly countRequest: CountRequest;
}

/** Lets requests in, before anything of them is read: from where, by whom, how many. */
export async function addAccessControl(
  app: FastifyInstance,
  options: HttpOptions,
  visits: RequestHooks,
): Promise<AccessControl> {
  const { authenticate, mostInFlight } = options;
  const countRequest = await openRateLimits(app, options.rates);
  const shares = new CallerConcurrency(mostInFlight);
  const mcp = options.mcp !== undefined;
  const whyForeign = originChecker(options.allowed);
  let draining = false;
  // Whatever is told here is shared by all requests, so it is told to each of them when it begins.
  app.decorateRequest("visitor");
  app.addHook("onRequest", (request, reply, done) => {
    visits.begin(request, reply);
    if (draining) reply.header("connection", "close");
    const isOpen = isPublicRoute(request);
    if (visits.inFlight > mostInFlight && !isOpen) throw overloaded();
    assertWellFormedRequest(request.raw);
    const { host, origin } = request.headers;
    const foreign = whyForeign({ host, origin });
    if (foreign !== undefined)
      throw new HttpError(createProblem(403, foreign.message, { code: "forbidden", hint: foreign.hint }));
    const correlationId = correlationFromHeaders(request.headers);
    if (correlationId !== undefined) reply.header("x-correlation-id", correlationId);
    request.visitor = { caller: undefined, correlationId };
    if (applyCors(request, reply, { mcp, origins: options.allowed.origins })) return;
    const goOn = (): void => done(request.is404 ? routeNotFound(request.url, { mcp }) : undefined);
    if (authenticate === undefined || isOpen) goOn();
    else admitCaller(request, reply, { authenticate, shares, countRequest }).then(goOn, done);
  });
  return { isDraining: () => draining, drain: () => (draining = true), countRequest };
}

/** Whoever looks after the machine need not be known. */
const isPublicRoute = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as { readonly open?: boolean }).open === true;

interface CallerChecks {
  readonly authenticate: NonNullable<HttpOptions["authenticate"]>;
  readonly shares: CallerConcurrency;
  readonly countRequest: CountRequest;
}

async function admitCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticate, shares, countRequest }: CallerChecks,
): Promise<void> {
  const caller = await authenticate(request.headers.authorization);
  if ("status" in caller) throw unauthenticated(caller);
  request.visitor = { caller, correlationId: request.visitor.correlationId };
  const name = JSON.stringify([caller.issuer, caller.subject, caller.client_id]);
  await countRequest(request, "caller", name);
  shares.acquire(name, reply.raw);
}

/** How much of all that is answered at a time one caller may have. */
const maxShare = 0.5;

/** Counts what each caller has under way: who sends slowly, or asks much at once, must leave room for others. */
class CallerConcurrency {
  readonly #most: number;
  readonly #underWay = new Map<string, number>();

  constructor(mostInFlight: number) {
    this.#most = Math.max(1, Math.floor(mostInFlight * maxShare));
  }

  /** Counts until the answer is over; throws where the caller has its share already. */
  acquire(caller: string, response: ServerResponse): void {
    // Whoever has gone meanwhile will never be heard to go.
    if (response.closed) return;
    const count = this.#underWay.get(caller) ?? 0;
    if (count >= this.#most) throw tooManyRequests("at a time by this caller", 1);
    this.#underWay.set(caller, count + 1);
    response.on("close", () => this.#leave(caller));
  }

  #leave(caller: string): void {
    const count = (this.#underWay.get(caller) ?? 0) - 1;
    if (count > 0) this.#underWay.set(caller, count);
    else this.#underWay.delete(caller);
  }
}

const requestHeaders = ["authorization", "content-type", "x-correlation-id", "traceparent"];
const mcpRequestHeaders = ["mcp-session-id", "mcp-protocol-version", "last-event-id"];
const exposedHeaders = ["x-correlation-id", "retry-after", "www-authenticate"];
const mcpExposedHeaders = ["mcp-session-id"];

/** Lets a page whose origin is allowed read the answer; tells whether that was all it wanted to know. */
function applyCors(
  request: FastifyRequest,
  reply: FastifyReply,
  { mcp, origins }: { readonly mcp: boolean; readonly origins: readonly string[] },
): boolean {
  const { origin, "access-control-request-method": wanted } = request.headers;
  // Other pages of this machine may ask, but a browser must not show them the answer.
  if (origin === undefined || !origins.includes(origin)) return false;
  reply.header("vary", "origin").header("access-control-allow-origin", origin);
  reply.header(
    "access-control-expose-headers",
    [...exposedHeaders, ...(mcp ? mcpExposedHeaders : [])].join(", "),
  );
  if (request.method !== "OPTIONS" || wanted === undefined) return false;
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

/** Nobody sends more, and of very many the rest would be left out unseen. */
const maxHeaders = 100;

/** Refuses what somebody between us and the sender could understand as another request than we would. */
function assertWellFormedRequest(request: IncomingMessage): void {
  const { headers, httpVersionMajor, httpVersionMinor, rawHeaders, url = "" } = request;
  const { host } = headers;
  if (httpVersionMajor !== 1) throw malformedRequest(505, "only HTTP/1.1 is spoken here");
  if (rawHeaders.length > 2 * maxHeaders) throw malformedRequest(431, "there are too many headers");
  if (host === undefined ? httpVersionMinor > 0 : !isHost(host))
    throw malformedRequest(400, "`host` must name one host");
  if (!url.startsWith("/") && namesAnotherHost(url, host))
    throw malformedRequest(400, "the request line names another host");
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    throw malformedRequest(501, "the only transfer coding that is understood is `chunked`");
  }
  if (headers["content-encoding"] !== undefined) throw malformedRequest(415, "the body must not be encoded");
}

/** RFC 9112, section 3.2.2: a proxy may write the whole address. */
function namesAnotherHost(url: string, host = ""): boolean {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  return authority !== undefined && authority.toLowerCase() !== host.toLowerCase();
}

/** Where it ends is not sure, so nothing more is read from there. */
const malformedRequest = (status: number, detail: string): HttpError =>
  new HttpError(createProblem(status, detail, { code: codeOfStatus(status) }), { connection: "close" });
