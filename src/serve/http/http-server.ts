import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { fastify } from "fastify";
import { addAccessControl } from "./access-control.js";
import { addBuiltInRoutes } from "./built-in-routes.js";
import {
  answerUnroutedRequests,
  clientErrorHandler,
  addErrorHandlers,
  sendProblem,
} from "./error-handlers.js";
import { parseJsonBody } from "./json-body.js";
import { addOperationRoutes } from "./operation-routes.js";
import { problemFromError } from "./problem.js";
import type { RateLimits } from "./rate-limits.js";
import { RequestHooks } from "./request-hooks.js";
import type { AuthenticatedCaller } from "../../model/record.js";
import type { Authenticate } from "../auth/authenticate.js";
import type { AllowedOrigins } from "../check-origin.js";
import type { LogWriter } from "../log-writer.js";
import type { Metrics } from "../metrics.js";
import type { ReloadingWorld } from "../reloading-world.js";

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
  readonly living: ReloadingWorld;
  /** Undefined: whoever can reach us may ask. */
  readonly authenticate: Authenticate | undefined;
  readonly allowed: AllowedOrigins;
  readonly rates: RateLimits;
  readonly mostInFlight: number;
  readonly largestBody: number;
  /** A request must have come within this time, in milliseconds. */
  readonly requestTimeout: number;
  readonly publicMetrics: boolean;
  readonly metrics: Metrics;
  readonly log: LogWriter;
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
  const visits = new RequestHooks(options);
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
    clientErrorHandler: clientErrorHandler(options),
    // These come to no route, so not through the entrance either.
    frameworkErrors: (error, request, reply) => {
      visits.begin(request, reply);
      sendProblem(reply, problemFromError(error));
    },
  });
  answerUnroutedRequests(app.server, options);
  acceptJsonOnly(app);
  const entrance = await addAccessControl(app, options, visits);
  addErrorHandlers(app, options);
  addBuiltInRoutes(app, options, entrance);
  addOperationRoutes(app, options, entrance);
  await app.ready();
  return {
    async listen(host, port) {
      await app.listen({ host, port });
      return app.server.address() as AddressInfo;
    },
    inFlight: () => visits.inFlight,
    drain: async (milliseconds) => {
      entrance.drain();
      await closeServer(app, milliseconds, () => visits.beginShutdown());
      await app.close();
    },
  };
}

function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/json(?:;\s*charset="?utf-8"?)?$/i,
    { parseAs: "buffer" },
    (_request, body, done) => {
      try {
        done(null, parseJsonBody(body as Buffer));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

const idleCheckMs = 50;

/** No new connection is taken from here on, and each that is not needed any more is let go. */
async function closeServer(
  { server }: FastifyInstance,
  milliseconds: number,
  onCutOff: () => void,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const letGo = setInterval(() => server.closeIdleConnections(), idleCheckMs);
  const timer = setTimeout(() => {
    onCutOff();
    server.closeAllConnections();
  }, milliseconds);
  await closed;
  clearTimeout(timer);
  clearInterval(letGo);
}
