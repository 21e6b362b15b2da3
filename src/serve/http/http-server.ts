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
import type { Authenticate } from "../auth/authenticate.js";
import type { AllowedOrigins } from "../check-origin.js";
import type { LogWriter } from "../log-writer.js";
import type { Metrics } from "../metrics.js";
import type { RequestIdentity } from "../operations/operation.js";
import type { ReloadingWorld } from "../reloading-world.js";

/** Handles an MCP request after access control. */
export type McpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  parsed: RequestIdentity & { readonly body: unknown },
) => Promise<void>;

export interface HttpOptions {
  readonly reloadingWorld: ReloadingWorld;
  /** Undefined: all requests are accepted without authentication. */
  readonly authenticate: Authenticate | undefined;
  readonly allowedOrigins: AllowedOrigins;
  readonly rateLimits: RateLimits;
  readonly maxInFlight: number;
  readonly maxBodyBytes: number;
  /** The time to receive a whole request, in milliseconds. */
  readonly requestTimeout: number;
  readonly publicMetrics: boolean;
  readonly metrics: Metrics;
  readonly log: LogWriter;
  readonly mcp?: McpHandler | undefined;
}

export interface HttpServer {
  listen(host: string, port: number): Promise<AddressInfo>;
  readonly inFlight: () => number;
  /** Reports that the server is not ready, and closes each connection after its response; still accepts requests. */
  beginDrain(): void;
  /** Stops accepting requests, waits for running ones, and aborts those that exceed the timeout. */
  drain(timeoutMs: number): Promise<void>;
}

/** Opens the HTTP server: every operation at its path, and MCP if a handler is given. */
export async function openHttpServer(options: HttpOptions): Promise<HttpServer> {
  const { requestTimeout } = options;
  const hooks = new RequestHooks(options);
  const app = fastify({
    bodyLimit: options.maxBodyBytes,
    requestTimeout,
    // Longer than the idle timeout of usual load balancers, which then never reuse a connection closed here.
    keepAliveTimeout: 75_000,
    forceCloseConnections: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 512 },
    // Operations check their own input; without compilers of schemas, these are not part of the bundle.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    http: {
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(1_000, requestTimeout),
      maxHeaderSize: 16 * 1024,
      // Makes duplicate headers visible; otherwise Node drops all but the first.
      joinDuplicateHeaders: true,
      requireHostHeader: false,
    },
    clientErrorHandler: clientErrorHandler(options, hooks),
    // Such requests match no route, so they do not pass access control.
    frameworkErrors: (error, request, reply) => {
      hooks.begin(request, reply);
      sendProblem(reply, problemFromError(error));
    },
  });
  answerUnroutedRequests(app.server, options);
  acceptJsonOnly(app);
  const access = await addAccessControl(app, options, hooks);
  addErrorHandlers(app, options, hooks);
  addBuiltInRoutes(app, options, access);
  addOperationRoutes(app, options, access);
  await app.ready();
  return {
    async listen(host, port) {
      await app.listen({ host, port });
      return app.server.address() as AddressInfo;
    },
    inFlight: () => hooks.inFlight,
    beginDrain: () => hooks.beginDrain(),
    drain: async (timeoutMs) => {
      hooks.beginDrain();
      await closeServer(app, timeoutMs, () => hooks.beginShutdown());
      await app.close();
    },
  };
}

/** Fastify asks for a compiler at start-up and calls it only for routes that have a schema. */
const noCompiler = () => () => {
  throw new Error("routes have no schemas");
};

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

/** Accepts no new connections, and closes existing ones as they become idle. */
async function closeServer(
  { server }: FastifyInstance,
  timeoutMs: number,
  onTimeout: () => void,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const idleCheck = setInterval(() => server.closeIdleConnections(), idleCheckMs);
  const timer = setTimeout(() => {
    onTimeout();
    server.closeAllConnections();
  }, timeoutMs);
  await closed;
  clearTimeout(timer);
  clearInterval(idleCheck);
}
