import type { FastifyReply, FastifyRequest } from "fastify";
import { stopwatch } from "../../clock.js";
import type { AuthenticatedCaller } from "../../model/caller.js";
import type { LogLines } from "../log-lines.js";
import type { Metrics } from "../metrics/metrics.js";
import type { CutShort } from "./cut-short.js";
import { cutShort, goneAway } from "./cut-short.js";

/** Who has come in. */
export interface Visitor {
  readonly caller: AuthenticatedCaller | undefined;
  readonly correlationId: string | undefined;
}

const nobody: Visitor = { caller: undefined, correlationId: undefined };

/** The time to end was over before the answer was there. */
const cutOff: CutShort = { status: 503, code: "cut_off" };

const ourFaults: readonly number[] = [500, 502, 503, 504];

const knownMethods: readonly string[] = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"];

interface Ended {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly milliseconds: number;
}

/** The requests that are being answered; each of them is told of once it is over. */
export class Visits {
  readonly #metrics: Metrics;
  readonly #log: LogLines;
  readonly #ended: Ended[] = [];
  #inFlight = 0;
  #isCutOff = false;

  constructor({ metrics, log }: { readonly metrics: Metrics; readonly log: LogLines }) {
    this.#metrics = metrics;
    this.#log = log;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** From here on nobody goes away by itself. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  begin(request: FastifyRequest, reply: FastifyReply): void {
    this.#inFlight++;
    request.visitor = nobody;
    const startedAt = stopwatch();
    // Unlike the hook for answers, this also comes where the other side has gone.
    reply.raw.once("close", () => {
      this.#inFlight--;
      this.#tellSoon({ request, reply, milliseconds: stopwatch() - startedAt });
    });
  }

  /** Together with the others that ended in the same moment. */
  #tellSoon(visit: Ended): void {
    this.#ended.push(visit);
    if (this.#ended.length > 1) return;
    setImmediate(() => {
      for (const each of this.#ended.splice(0)) this.#tell(each);
    });
  }

  /** Nothing that a request holds is told: it may be a secret. */
  #tell({ request, reply, milliseconds }: Ended): void {
    const route = request.routeOptions.url ?? "unknown";
    const method = knownMethods.includes(request.method) ? request.method : "other";
    const cut = this.#whyCutShort(reply);
    const status = cut?.status ?? reply.raw.statusCode;
    this.#metrics.requests.add({ method, route, status: String(status) });
    this.#metrics.seconds.observe({ route }, milliseconds / 1000);
    const { caller, correlationId } = request.visitor;
    this.#log.log(ourFaults.includes(status) ? "error" : "info", "request", {
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

  #whyCutShort({ raw }: FastifyReply): CutShort | undefined {
    const why = cutShort(raw);
    return why === goneAway && this.#isCutOff ? cutOff : why;
  }
}

declare module "fastify" {
  interface FastifyRequest {
    visitor: Visitor;
    /** Of the decision that was made, where one was. */
    recordId?: string;
    /** Why it was not answered. */
    problem?: { readonly code: string; readonly detail?: string };
  }
}
