import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ProblemDocument } from "./problem.js";
import { routeOf, toFastifyPath } from "./routes.js";
import { stopwatch } from "../../clock.js";
import type { LogWriter } from "../log-writer.js";
import { callerLogFields, roundMs } from "../log-writer.js";
import type { Metrics } from "../metrics.js";
import type { RequestIdentity } from "../operations/operation.js";

/** Why a response did not reach the client, as it appears in the log and the metrics. */
export type AbortReason = Pick<ProblemDocument, "status" | "code">;

export const clientDisconnected: AbortReason = { status: 499, code: "client_disconnected" };

/** The shutdown timeout expired before the response was complete. */
const shutDown: AbortReason = { status: 503, code: "shut_down" };

/** Closes the connection after the response. Does nothing once the headers are sent. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader("connection", "close");
}

const anonymous: RequestIdentity = { caller: undefined, correlationId: undefined };

const serverErrorStatuses: readonly number[] = [500, 502, 503, 504];

const knownMethods: readonly string[] = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"];

interface EndedRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly milliseconds: number;
}

/** Follows each request to its end: counts the requests in flight, then logs and measures each one. */
export class RequestHooks {
  readonly #metrics: Metrics;
  readonly #log: LogWriter;
  readonly #ended: EndedRequest[] = [];
  readonly #inFlight = new Set<ServerResponse>();
  /** Filled by error handlers, which see the cause of an abort before the response closes. */
  readonly #abortReasons = new WeakMap<ServerResponse, AbortReason>();
  #isDraining = false;
  #isShuttingDown = false;

  constructor({ metrics, log }: { readonly metrics: Metrics; readonly log: LogWriter }) {
    this.#metrics = metrics;
    this.#log = log;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** From now on, every response closes its connection, also those to requests in progress. */
  beginDrain(): void {
    this.#isDraining = true;
    for (const response of this.#inFlight) closeAfter(response);
  }

  /** From now on, an aborted response is the fault of the shutdown, not of the client. */
  beginShutdown(): void {
    this.#isShuttingDown = true;
  }

  /** Notes why a response is aborted. The first reason counts. */
  noteAborted(response: ServerResponse, reason: AbortReason): void {
    if (!this.#abortReasons.has(response)) this.#abortReasons.set(response, reason);
  }

  begin(request: FastifyRequest, reply: FastifyReply): void {
    this.#inFlight.add(reply.raw);
    if (this.#isDraining) closeAfter(reply.raw);
    request.identity = anonymous;
    const startedAt = stopwatch();
    // Unlike the onResponse hook, this event also comes after the client has disconnected.
    reply.raw.once("close", () => {
      this.#inFlight.delete(reply.raw);
      this.#logSoon({ request, reply, milliseconds: stopwatch() - startedAt });
    });
  }

  /** Logs requests that end in the same tick together. */
  #logSoon(ended: EndedRequest): void {
    this.#ended.push(ended);
    if (this.#ended.length > 1) return;
    setImmediate(() => {
      for (const each of this.#ended.splice(0)) this.#logEnded(each);
    });
  }

  /** Logs nothing from the request itself, which may contain secrets. */
  #logEnded({ request, reply, milliseconds }: EndedRequest): void {
    const path = reply.raw.statusCode === 405 ? routeOf(request.url) : undefined;
    const route = request.routeOptions.url ?? (path === undefined ? "unknown" : toFastifyPath(path));
    const method = knownMethods.includes(request.method) ? request.method : "other";
    const aborted = this.#abortReasonOf(reply.raw);
    const status = aborted?.status ?? reply.raw.statusCode;
    this.#metrics.requests.add({ method, route, status: String(status) });
    this.#metrics.durations.observe({ route }, milliseconds / 1000);
    const { caller, correlationId } = request.identity;
    this.#log.log(serverErrorStatuses.includes(status) ? "error" : "info", "request", {
      method,
      route,
      status,
      duration_ms: roundMs(milliseconds),
      ...(correlationId !== undefined && { correlation_id: correlationId }),
      ...callerLogFields(caller),
      ...(request.recordId !== undefined && { record_id: request.recordId }),
      ...request.problem,
      ...aborted,
    });
  }

  /** Undefined: the client received the whole response. */
  #abortReasonOf(response: ServerResponse): AbortReason | undefined {
    const reason =
      this.#abortReasons.get(response) ?? (response.writableFinished ? undefined : clientDisconnected);
    return reason === clientDisconnected && this.#isShuttingDown ? shutDown : reason;
  }
}

declare module "fastify" {
  interface FastifyRequest {
    identity: RequestIdentity;
    /** The record of the decision that the request made. */
    recordId?: string;
    /** The problem that the response reports, for the log. */
    problem?: { readonly code: string; readonly detail?: string };
  }
}
