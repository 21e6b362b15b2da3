import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { HttpOptions } from "./http-server.js";
import { allowedMethods } from "./routes.js";
import type { ProblemDocument } from "./problem.js";
import {
  createProblem,
  problemFromError,
  problemContentType,
  HttpError,
  codeOfStatus,
  titleOf,
} from "./problem.js";
import type { AbortReason, RequestHooks } from "./request-hooks.js";
import { clientDisconnected } from "./request-hooks.js";
import { DecisionError } from "../../errors.js";
import type { LogWriter } from "../log-writer.js";
import type { Metrics } from "../metrics.js";

/** Answers every error with a problem document, and logs server errors. */
export function addErrorHandlers(
  app: FastifyInstance,
  { log, mcp, maxBodyBytes }: HttpOptions,
  hooks: RequestHooks,
): void {
  app.setErrorHandler((error, request, reply) => {
    const { complete, destroyed } = request.raw;
    if (destroyed && !complete) hooks.noteAborted(reply.raw, clientDisconnected);
    if (error instanceof HttpError) return sendProblem(reply.headers(error.headers), error.document);
    const document = problemFromError(error, { maxBodyBytes });
    const { status } = document;
    if (status === 403) reply.header("www-authenticate", insufficientScopeChallenge(error));
    if (status === 503) reply.header("retry-after", "1");
    if (status >= 500)
      logServerError(error, document, { log, correlationId: request.identity.correlationId });
    return sendProblem(reply, document);
  });
  app.setNotFoundHandler((request) => {
    throw routeNotFound(request.url, { mcp: mcp !== undefined });
  });
}

/** The error for an unknown path (404), or a known path with another method (405). */
export function routeNotFound(url: string, { mcp }: { readonly mcp: boolean }): HttpError {
  const methods = allowedMethods(url, { mcp });
  if (methods.length > 0) {
    const detail = `this path only supports ${methods.join(", ")}`;
    return new HttpError(createProblem(405, detail, { code: "method_not_allowed" }), {
      allow: methods.join(", "),
    });
  }
  const isMcp = allowedMethods(url, { mcp: true }).length > 0;
  const hint = isMcp
    ? "start the server with --mcp to enable this path"
    : "`GET /openapi.json` lists all paths";
  return new HttpError(createProblem(404, "this path does not exist", { code: "not_found", hint }));
}

export function sendProblem(reply: FastifyReply, document: ProblemDocument): FastifyReply {
  const { status, code, detail } = document;
  // The detail may quote the request, so it is not logged; those on tokens never quote the token.
  reply.request.problem = status === 401 ? { code, detail } : { code };
  return reply.code(status).type(problemContentType).send(JSON.stringify(document));
}

/** Logs details that the client does not get. */
function logServerError(
  error: unknown,
  { code, detail }: ProblemDocument,
  { log, correlationId }: { readonly log: LogWriter; readonly correlationId: string | undefined },
): void {
  const { message = detail, stack } = error instanceof Error ? error : {};
  log.log("error", message, {
    code,
    ...(error instanceof DecisionError && error.hint !== undefined && { hint: error.hint }),
    ...(correlationId !== undefined && { correlation_id: correlationId }),
    ...(code === "bug" && { stack: stack ?? String(error) }),
  });
}

function insufficientScopeChallenge(error: unknown): string {
  const { scope } = ((error instanceof DecisionError ? error.details : undefined) ?? {}) as {
    scope?: string;
  };
  const base = `Bearer realm="agent-33", error="insufficient_scope"`;
  return scope === undefined ? base : `${base}, scope="${scope}"`;
}

interface ClientErrorOptions {
  readonly metrics: Metrics;
  readonly log: LogWriter;
  /** In milliseconds. */
  readonly requestTimeout: number;
}

type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: Socket) => void;

/** Answers bytes that are not a readable request, and closes the connection. */
export function clientErrorHandler(options: ClientErrorOptions, hooks: RequestHooks): ClientErrorHandler {
  const answer: ClientErrorHandler = (error, socket) => {
    if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const pending = pendingResponse(socket);
    if (pending?.req.complete === true) {
      // A complete request came first on this connection: it is answered before the error.
      pending.once("close", () => answer(error, socket));
      return;
    }
    if (pending?.headersSent === true) {
      socket.destroy();
      return;
    }
    const document = clientErrorProblem(error, options);
    // A request that has begun is logged by its own hooks.
    if (pending === undefined) logUnreadable(document, options);
    else
      hooks.noteAborted(pending, error.code === unexpectedEnd ? clientDisconnected : toAbortReason(document));
    sendRawProblem(socket, document);
  };
  return answer;
}

/** Answers CONNECT and unknown expectations, which Node would answer without a body. */
export function answerUnroutedRequests(server: Server, options: ClientErrorOptions): void {
  server.on("connect", (_request, socket) => {
    const document = createProblem(405, "this server is not a proxy", { code: codeOfStatus(405) });
    logUnreadable(document, options);
    sendRawProblem(socket, document);
  });
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const document = createProblem(417, "the only supported expectation is `100-continue`", {
      code: codeOfStatus(417),
    });
    logUnreadable(document, options);
    response
      .writeHead(417, { "content-type": problemContentType, connection: "close" })
      .end(JSON.stringify(document));
  });
}

/** The client closed its side within a request, most often because it has gone away. */
const unexpectedEnd = "HPE_INVALID_EOF_STATE";

const toAbortReason = ({ status, code }: ProblemDocument): AbortReason => ({ status, code });

/** Reads the running response of a connection; Node has no public API for it. */
const pendingResponse = (socket: Socket): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;

/** Logs a request whose method and route are unknown. */
function logUnreadable({ status, code }: ProblemDocument, { metrics, log }: ClientErrorOptions): void {
  const request = { method: "unknown", route: "unknown" };
  metrics.requests.add({ ...request, status: String(status) });
  log.log("info", "request", { ...request, status, code });
}

function sendRawProblem(socket: Duplex, document: ProblemDocument): void {
  const { status } = document;
  const body = JSON.stringify(document);
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${titleOf(status)}\r\ncontent-type: ${problemContentType}\r\n` +
      (status === 405 ? "allow: GET, HEAD, POST\r\n" : "") +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function clientErrorProblem(
  { code }: NodeJS.ErrnoException,
  { requestTimeout }: ClientErrorOptions,
): ProblemDocument {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return createProblem(408, "the request was not received in time", {
        code: codeOfStatus(408),
        hint: `send the request within ${requestTimeout / 1000} s; the server option --request-timeout sets this limit`,
      });
    case "HPE_HEADER_OVERFLOW":
      return createProblem(431, "the headers are too large", {
        code: codeOfStatus(431),
        hint: "send headers of at most 16 KiB",
      });
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return createProblem(413, "the chunk extensions are too large", {
        code: codeOfStatus(413),
        hint: "send chunks without extensions",
      });
    default:
      return createProblem(400, "the request is not valid HTTP/1.1", {
        code: codeOfStatus(400),
        hint: "send a valid HTTP/1.1 request",
      });
  }
}
