import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { originGuard } from "../refused-origin.js";
import { CallerShares } from "./caller-shares.js";
import { correlationOf } from "./correlation.js";
import { answerPage } from "./cross-origin.js";
import type { HttpOptions } from "./http-server.js";
import { nothingThere } from "./errors.js";
import { problem } from "./problem.js";
import type { CountRequest } from "./rate-limits.js";
import { openRateLimits } from "./rate-limits.js";
import { refuseUnfit } from "./refuse-unfit.js";
import { Refusal, overloaded, unauthenticated } from "./refusal.js";
import type { Visits } from "./visits.js";

export interface Entrance {
  readonly isDraining: () => boolean;
  readonly drain: () => void;
  readonly countRequest: CountRequest;
}

/** Lets requests in, before anything of them is read: from where, by whom, how many. */
export async function addEntrance(
  app: FastifyInstance,
  options: HttpOptions,
  visits: Visits,
): Promise<Entrance> {
  const { authenticate, mostInFlight } = options;
  const countRequest = await openRateLimits(app, options.rates);
  const shares = new CallerShares(mostInFlight);
  const mcp = options.mcp !== undefined;
  const whyForeign = originGuard(options.allowed);
  let draining = false;
  // Whatever is told here is shared by all requests, so it is told to each of them when it begins.
  app.decorateRequest("visitor");
  app.addHook("onRequest", (request, reply, done) => {
    visits.begin(request, reply);
    if (draining) reply.header("connection", "close");
    const isOpen = isOpenTo(request);
    if (visits.inFlight > mostInFlight && !isOpen) throw overloaded();
    refuseUnfit(request.raw);
    const { host, origin } = request.headers;
    const foreign = whyForeign({ host, origin });
    if (foreign !== undefined)
      throw new Refusal(problem(403, foreign.why, { code: "forbidden", hint: foreign.hint }));
    const correlationId = correlationOf(request.headers);
    if (correlationId !== undefined) reply.header("x-correlation-id", correlationId);
    request.visitor = { caller: undefined, correlationId };
    if (answerPage(request, reply, { mcp, origins: options.allowed.origins })) return;
    const goOn = (): void => done(request.is404 ? nothingThere(request.url, { mcp }) : undefined);
    if (authenticate === undefined || isOpen) goOn();
    else letIn(request, reply, { authenticate, shares, countRequest }).then(goOn, done);
  });
  return { isDraining: () => draining, drain: () => (draining = true), countRequest };
}

/** Whoever looks after the machine need not be known. */
const isOpenTo = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as { readonly open?: boolean }).open === true;

interface Doormen {
  readonly authenticate: NonNullable<HttpOptions["authenticate"]>;
  readonly shares: CallerShares;
  readonly countRequest: CountRequest;
}

async function letIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticate, shares, countRequest }: Doormen,
): Promise<void> {
  const caller = await authenticate(request.headers.authorization);
  if ("status" in caller) throw unauthenticated(caller);
  request.visitor = { caller, correlationId: request.visitor.correlationId };
  const name = JSON.stringify([caller.issuer, caller.subject, caller.client_id]);
  await countRequest(request, "caller", name);
  shares.take(name, reply.raw);
}
