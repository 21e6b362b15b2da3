import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { fastify } from "fastify";
import type { AuthenticatedCaller } from "../../model/caller.js";
import type { Authenticate } from "../auth/authenticate.js";
import type { LivingWorld } from "../living-world.js";
import type { LogLines } from "../log-lines.js";
import type { Metrics } from "../metrics/metrics.js";
import type { AllowedOrigins } from "../refused-origin.js";
import { answerTheRest, clientErrors } from "./client-error.js";
import { addEntrance } from "./entrance.js";
import { addErrorHandlers, sendProblem } from "./errors.js";
import { jsonBody } from "./json-body.js";
import { addOwnRoutes } from "./own-routes.js";
import { problemOf } from "./problem.js";
import { addQuestionRoutes } from "./question-routes.js";
import type { Rates } from "./rate-limits.js";
import { Visits } from "./visits.js";

/** What handles a request of MCP, once it is known who asks. */
export type McpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  asked: {
    readonly body: unknown;
    readonly caller: AuthenticatedCaller | undefined;
    readonly correlationId: string | undefined;
  },
) => Promise<void>;

export interface HttpOptions {
  readonly living: LivingWorld;
  /** Undefined: whoever can reach us may ask. */
  readonly authenticate: Authenticate | undefined;
  readonly allowed: AllowedOrigins;
  readonly rates: Rates;
  readonly mostInFlight: number;
  readonly largestBody: number;
  /** A request must have come within this time, in milliseconds. */
  readonly requestTimeout: number;
  readonly publicMetrics: boolean;
  readonly metrics: Metrics;
  readonly log: LogLines;
  readonly mcp?: McpHandler | undefined;
}

export interface HttpServer {
  listen(host: string, port: number): Promise<AddressInfo>;
  readonly inFlight: () => number;
  /** Lets what is being answered be answered, then ends; whoever has not sent all of a request by then is left. */
  drain(milliseconds: number): Promise<void>;
}

/** The door for programs: every question at its path. */
export async function openHttpServer(options: HttpOptions): Promise<HttpServer> {
  const { requestTimeout, largestBody: bodyLimit } = options;
  const visits = new Visits(options);
  const app = fastify({
    bodyLimit,
    requestTimeout,
    // Longer than those who balance loads keep theirs, so that they never use one that we have just ended.
    keepAliveTimeout: 75_000,
    forceCloseConnections: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 512 },
    http: {
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(1_000, requestTimeout),
      maxHeaderSize: 16 * 1024,
      // Else the first of two counts, and nobody sees that there are two.
      joinDuplicateHeaders: true,
      requireHostHeader: false,
    },
    clientErrorHandler: clientErrors(options),
    // These come to no route, so not through the entrance either.
    frameworkErrors: (error, request, reply) => {
      visits.begin(request, reply);
      sendProblem(reply, problemOf(error));
    },
  });
  answerTheRest(app.server, options);
  readJsonOnly(app);
  const entrance = await addEntrance(app, options, visits);
  addErrorHandlers(app, options);
  addOwnRoutes(app, options, entrance);
  addQuestionRoutes(app, options, entrance);
  await app.ready();
  return {
    async listen(host, port) {
      await app.listen({ host, port });
      return app.server.address() as AddressInfo;
    },
    inFlight: () => visits.inFlight,
    drain: async (milliseconds) => {
      entrance.drain();
      await ended(app, milliseconds, () => visits.cutOff());
      await app.close();
    },
  };
}

function readJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/json(?:;\s*charset="?utf-8"?)?$/i,
    { parseAs: "buffer" },
    (_request, body, done) => {
      try {
        done(null, jsonBody(body as Buffer));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

const lookForIdle = 50;

/** No new connection is taken from here on, and each that is not needed any more is let go. */
async function ended({ server }: FastifyInstance, milliseconds: number, onCutOff: () => void): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const letGo = setInterval(() => server.closeIdleConnections(), lookForIdle);
  const timer = setTimeout(() => {
    onCutOff();
    server.closeAllConnections();
  }, milliseconds);
  await closed;
  clearTimeout(timer);
  clearInterval(letGo);
}
