import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ProblemDocument } from "./problem.js";
import { stopwatch } from "../../clock.js";
import type { AuthenticatedCaller } from "../../model/record.js";
import type { LogWriter } from "../log-writer.js";
import type { Metrics } from "../metrics.js";

/** Who has come in. */
interface RequestIdentity {
  readonly caller: AuthenticatedCaller | undefined;
  readonly correlationId: string | undefined;
}

const anonymous: RequestIdentity = { caller: undefined, correlationId: undefined };

/** The time to end was over before the answer was there. */
const shutDown: AbortReason = { status: 503, code: "cut_off" };

const serverErrorStatuses: readonly number[] = [500, 502, 503, 504];

const knownMethods: readonly string[] = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"];

interface EndedRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly milliseconds: number;
}

/** The requests that are being answered; each of them is told of once it is over. */
export class RequestHooks {
  readonly #metrics: Metrics;
  readonly #log: LogWriter;
  readonly #ended: EndedRequest[] = [];
  #inFlight = 0;
  #isCutOff = false;

  constructor({ metrics, log }: { readonly metrics: Metrics; readonly log: LogWriter }) {
    this.#metrics = metrics;
    this.#log = log;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** From here on nobody goes away by itself. */
  beginShutdown(): void {
    this.#isCutOff = true;
  }

  begin(request: FastifyRequest, reply: FastifyReply): void {
    this.#inFlight++;
    request.visitor = anonymous;
    const startedAt = stopwatch();
    // Unlike the hook for answers, this also comes where the other side has gone.
    reply.raw.once("close", () => {
      this.#inFlight--;
      this.#tellSoon({ request, reply, milliseconds: stopwatch() - startedAt });
    });
  }

  /** Together with the others that ended in the same moment. */
  #tellSoon(visit: EndedRequest): void {
    this.#ended.push(visit);
    if (this.#ended.length > 1) return;
    setImmediate(() => {
      for (const each of this.#ended.splice(0)) this.#tell(each);
    });
  }

  /** Nothing that a request holds is told: it may be a secret. */
  #tell({ request, reply, milliseconds }: EndedRequest): void {
    const route = request.routeOptions.url ?? "unknown";
    const method = knownMethods.includes(request.method) ? request.method : "other";
    const cut = this.#whyCutShort(reply);
    const status = cut?.status ?? reply.raw.statusCode;
    this.#metrics.requests.add({ method, route, status: String(status) });
    this.#metrics.durations.observe({ route }, milliseconds / 1000);
    const { caller, correlationId } = request.visitor;
    this.#log.log(serverErrorStatuses.includes(status) ? "error" : "info", "request", {
      method,
      route,
      status,
      duration_ms: Math.round(milliseconds * 1000) / 1000,
      ...(correlationId !== undefined && { correlation_id: correlationId }),
      ...(caller !== undefined && {
        caller: caller.subject,
        actors: caller.actors.map(({ subject }) => subject),
      }),
      ...(request.recordId !== undefined && { record_id: request.recordId }),
      ...request.problem,
      ...cut,
    });
  }

  #whyCutShort({ raw }: FastifyReply): AbortReason | undefined {
    const why = findAbortReason(raw);
    return why === clientDisconnected && this.#isCutOff ? shutDown : why;
  }
}

declare module "fastify" {
  interface FastifyRequest {
    visitor: RequestIdentity;
    /** Of the decision that was made, where one was. */
    recordId?: string;
    /** Why it was not answered. */
    problem?: { readonly code: string; readonly detail?: string };
  }
}

export type AbortReason = Pick<ProblemDocument, "status" | "code">;

/** Nobody was there any more to hear the answer. */
export const clientDisconnected: AbortReason = { status: 499, code: "gone_away" };

const abortReasons = new WeakMap<ServerResponse, AbortReason>();

/** Remembers why an answer reached nobody, whatever becomes of it; what was said first counts. */
export function noteAborted(response: ServerResponse, why: AbortReason): void {
  if (!abortReasons.has(response)) abortReasons.set(response, why);
}

/** Undefined: the answer is what it says. */
function findAbortReason(response: ServerResponse): AbortReason | undefined {
  return abortReasons.get(response) ?? (response.writableFinished ? undefined : clientDisconnected);
}
