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
import type { AbortReason } from "./request-hooks.js";
import { clientDisconnected, noteAborted } from "./request-hooks.js";
import { DecisionError } from "../../errors.js";
import type { LogWriter } from "../log-writer.js";
import type { Metrics } from "../metrics.js";

/** Everything that goes wrong is told as a problem, and what is our fault to the log. */
export function addErrorHandlers(app: FastifyInstance, { log, mcp, largestBody }: HttpOptions): void {
  app.setErrorHandler((error, request, reply) => {
    const { complete, destroyed } = request.raw;
    if (destroyed && !complete) noteAborted(reply.raw, clientDisconnected);
    if (error instanceof HttpError) return sendProblem(reply.headers(error.headers), error.document);
    const document = problemFromError(error, { largestBody });
    const { status } = document;
    if (status === 403) reply.header("www-authenticate", insufficientScopeChallenge(error));
    if (status === 503) reply.header("retry-after", "1");
    if (status >= 500) logServerError(error, document, { log, correlationId: request.visitor.correlationId });
    return sendProblem(reply, document);
  });
  app.setNotFoundHandler((request) => {
    throw routeNotFound(request.url, { mcp: mcp !== undefined });
  });
}

/** There is nothing at the path, or nothing for the method. */
export function routeNotFound(url: string, { mcp }: { readonly mcp: boolean }): HttpError {
  const methods = allowedMethods(url, { mcp });
  if (methods.length > 0) {
    const detail = `this path takes ${methods.join(" or ")}`;
    return new HttpError(createProblem(405, detail, { code: "method_not_allowed" }), {
      allow: methods.join(", "),
    });
  }
  const isMcp = allowedMethods(url, { mcp: true }).length > 0;
  const hint = isMcp
    ? "MCP is served where the server is started with --mcp"
    : "`GET /openapi.json` tells what there is";
  return new HttpError(createProblem(404, "there is nothing at this path", { code: "not_found", hint }));
}

export function sendProblem(reply: FastifyReply, document: ProblemDocument): FastifyReply {
  const { status, code, detail } = document;
  // Others may repeat what was sent; of tokens nothing is ever repeated.
  reply.request.problem = status === 401 ? { code, detail } : { code };
  return reply.code(status).type(problemContentType).send(JSON.stringify(document));
}

/** What those who ask need not know. */
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

/** What cannot even be read as a request is answered all the same, and the connection ends. */
export function clientErrorHandler(surroundings: ClientErrorOptions): ClientErrorHandler {
  const answer: ClientErrorHandler = (error, socket) => {
    if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const earlier = pendingResponse(socket);
    if (earlier?.req.complete === true) {
      // What came before it on the same connection was a request, so its answer goes first.
      earlier.once("close", () => answer(error, socket));
      return;
    }
    if (earlier?.headersSent === true) {
      socket.destroy();
      return;
    }
    const document = clientErrorProblem(error, surroundings);
    // What has begun as a request is told of as one.
    if (earlier === undefined) logUnreadable(document, surroundings);
    else noteAborted(earlier, error.code === unexpectedEnd ? clientDisconnected : toAbortReason(document));
    sendRawProblem(socket, document);
  };
  return answer;
}

/** Node would break these off, or answer without a word. */
export function answerUnroutedRequests(server: Server, surroundings: ClientErrorOptions): void {
  server.on("connect", (_request, socket) => {
    const document = createProblem(405, "this is no proxy", { code: codeOfStatus(405) });
    logUnreadable(document, surroundings);
    sendRawProblem(socket, document);
  });
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const document = createProblem(417, "nothing but `100-continue` can be expected", {
      code: codeOfStatus(417),
    });
    logUnreadable(document, surroundings);
    response
      .writeHead(417, { "content-type": problemContentType, connection: "close" })
      .end(JSON.stringify(document));
  });
}

/** Whoever ends its side within a request has most often gone. */
const unexpectedEnd = "HPE_INVALID_EOF_STATE";

const toAbortReason = ({ status, code }: ProblemDocument): AbortReason => ({ status, code });

/** Node keeps it where nobody else has it. */
const pendingResponse = (socket: Socket): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;

/** What came is not looked at: nobody knows what it was meant to be. */
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
      return createProblem(408, "the request did not come in time", {
        code: codeOfStatus(408),
        hint: `send it within ${requestTimeout / 1000} s; whoever runs the server can allow more with --request-timeout`,
      });
    case "HPE_HEADER_OVERFLOW":
      return createProblem(431, "the headers are too large", {
        code: codeOfStatus(431),
        hint: "send headers of at most 16 KiB",
      });
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return createProblem(413, "the extensions of a chunk are too large", {
        code: codeOfStatus(413),
        hint: "send chunks without extensions",
      });
    default:
      return createProblem(400, "this is not a request that can be read", {
        code: codeOfStatus(400),
        hint: "send HTTP/1.1",
      });
  }
}
