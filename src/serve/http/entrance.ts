import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { stopwatch } from "../../clock.js";
import type { AuthenticatedCaller } from "../../model/caller.js";
import { refusedOrigin } from "../refused-origin.js";
import { correlationOf } from "./correlation.js";
import type { HttpOptions } from "./http-server.js";
import { problem } from "./problem.js";
import type { CountRequest } from "./rate-limits.js";
import { openRateLimits } from "./rate-limits.js";
import { Refusal, overloaded, unauthenticated } from "./refusal.js";

/** Who has come in, and when. */
export interface Visitor {
  readonly caller: AuthenticatedCaller | undefined;
  readonly correlationId: string | undefined;
}

export interface Entrance {
  readonly inFlight: () => number;
  readonly isDraining: () => boolean;
  readonly drain: () => void;
  readonly countRequest: CountRequest;
}

/** Lets requests in, before anything of them is read: from where, by whom, how many. */
export async function addEntrance(app: FastifyInstance, options: HttpOptions): Promise<Entrance> {
  const { metrics, log } = options;
  const countRequest = await openRateLimits(app, options.rates);
  let draining = false;
  let inFlight = 0;
  // Whatever is told here is shared by all requests, so it is told to each of them below.
  app.decorateRequest("visitor");
  app.addHook("onRequest", (request, reply, done) => {
    inFlight++;
    request.visitor = nobody;
    const startedAt = stopwatch();
    // Unlike the hook for answers, this also comes where the other side has gone.
    reply.raw.once("close", () => {
      inFlight--;
      const milliseconds = stopwatch() - startedAt;
      tell(request, reply, { metrics, log, milliseconds });
    });
    if (draining) reply.header("connection", "close");
    if (inFlight > options.mostInFlight) throw overloaded();
    const correlationId = correlationOf(request.headers);
    if (correlationId !== undefined) reply.header("x-correlation-id", correlationId);
    refuseForeign(request, options);
    if (request.headers["content-encoding"] !== undefined) throw encoded();
    request.visitor = { caller: undefined, correlationId };
    if (options.authenticate === undefined || isOpen(request)) done();
    else letIn(request, options.authenticate, countRequest).then(() => done(), done);
  });
  return {
    inFlight: () => inFlight,
    isDraining: () => draining,
    drain: () => (draining = true),
    countRequest,
  };
}

const nobody: Visitor = { caller: undefined, correlationId: undefined };

/** Whoever looks after the machine need not be known. */
const isOpen = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as { readonly open?: boolean }).open === true;

function refuseForeign({ headers: { host, origin } }: FastifyRequest, { allowed }: HttpOptions): void {
  const why = refusedOrigin({ host, origin }, allowed);
  if (why !== undefined) throw new Refusal(problem(403, why, { code: "forbidden" }));
}

const encoded = (): Refusal =>
  new Refusal(problem(415, "the body must not be encoded", { code: "unsupported_media_type" }));

async function letIn(
  request: FastifyRequest,
  authenticate: NonNullable<HttpOptions["authenticate"]>,
  countRequest: CountRequest,
): Promise<void> {
  const caller = await authenticate(request.headers.authorization);
  if ("status" in caller) throw unauthenticated(caller);
  request.visitor = { caller, correlationId: request.visitor.correlationId };
  await countRequest(request, "caller", JSON.stringify([caller.issuer, caller.subject, caller.client_id]));
}

/** Nothing that a request holds is told: it may be a secret. */
function tell(
  request: FastifyRequest,
  reply: FastifyReply,
  { metrics, log, milliseconds }: Pick<HttpOptions, "metrics" | "log"> & { readonly milliseconds: number },
): void {
  const route = request.routeOptions.url ?? "unknown";
  const status = reply.raw.writableFinished ? reply.raw.statusCode : goneAway;
  metrics.requests.add({ method: knownMethod(request.method), route, status: String(status) });
  metrics.seconds.observe({ route }, milliseconds / 1000);
  const { caller, correlationId } = request.visitor;
  log.log(status >= 500 ? "error" : "info", "request", {
    method: request.method,
    route,
    status,
    duration_ms: Math.round(milliseconds * 1000) / 1000,
    ...(correlationId !== undefined && { correlation_id: correlationId }),
    ...(caller !== undefined && {
      caller: caller.subject,
      actors: caller.actors.map(({ subject }) => subject),
    }),
    ...(request.recordId !== undefined && { record_id: request.recordId }),
  });
}

/** Nobody was there any more to hear the answer. */
const goneAway = 499;

const knownMethod = (method: string): string =>
  ["GET", "HEAD", "POST", "DELETE", "OPTIONS"].includes(method) ? method : "other";

declare module "fastify" {
  interface FastifyRequest {
    visitor: Visitor;
    /** Of the decision that was made, where one was. */
    recordId?: string;
  }
}
