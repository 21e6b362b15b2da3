import type { FastifyInstance, FastifyReply } from "fastify";
import { DecisionError } from "../../errors.js";
import type { LogLines } from "../log-lines.js";
import type { HttpOptions } from "./http-server.js";
import { goneAway, noteCutShort } from "./cut-short.js";
import { allowedMethods } from "./paths.js";
import type { ProblemDocument } from "./problem.js";
import { problem, problemOf, problemType } from "./problem.js";
import { Refusal } from "./refusal.js";

/** Everything that goes wrong is told as a problem, and what is our fault to the log. */
export function addErrorHandlers(app: FastifyInstance, { log, mcp, largestBody }: HttpOptions): void {
  app.setErrorHandler((error, request, reply) => {
    const { complete, destroyed } = request.raw;
    if (destroyed && !complete) noteCutShort(reply.raw, goneAway);
    if (error instanceof Refusal) return sendProblem(reply.headers(error.headers), error.document);
    const document = problemOf(error, { largestBody });
    const { status } = document;
    if (status === 403) reply.header("www-authenticate", insufficient(error));
    if (status === 503) reply.header("retry-after", "1");
    if (status >= 500) tellFault(error, document, { log, correlationId: request.visitor.correlationId });
    return sendProblem(reply, document);
  });
  app.setNotFoundHandler((request) => {
    throw nothingThere(request.url, { mcp: mcp !== undefined });
  });
}

/** There is nothing at the path, or nothing for the method. */
export function nothingThere(url: string, { mcp }: { readonly mcp: boolean }): Refusal {
  const methods = allowedMethods(url, { mcp });
  if (methods.length > 0) {
    const detail = `this path takes ${methods.join(" or ")}`;
    return new Refusal(problem(405, detail, { code: "method_not_allowed" }), { allow: methods.join(", ") });
  }
  const isMcp = allowedMethods(url, { mcp: true }).length > 0;
  const hint = isMcp
    ? "MCP is served where the server is started with --mcp"
    : "`GET /openapi.json` tells what there is";
  return new Refusal(problem(404, "there is nothing at this path", { code: "not_found", hint }));
}

export function sendProblem(reply: FastifyReply, document: ProblemDocument): FastifyReply {
  const { status, code, detail } = document;
  // Others may repeat what was sent; of tokens nothing is ever repeated.
  reply.request.problem = status === 401 ? { code, detail } : { code };
  return reply.code(status).type(problemType).send(JSON.stringify(document));
}

/** What those who ask need not know. */
function tellFault(
  error: unknown,
  { code, detail }: ProblemDocument,
  { log, correlationId }: { readonly log: LogLines; readonly correlationId: string | undefined },
): void {
  const { message = detail, stack } = error instanceof Error ? error : {};
  log.log("error", message, {
    code,
    ...(error instanceof DecisionError && error.hint !== undefined && { hint: error.hint }),
    ...(correlationId !== undefined && { correlation_id: correlationId }),
    ...(code === "bug" && { stack: stack ?? String(error) }),
  });
}

function insufficient(error: unknown): string {
  const { scope } = ((error instanceof DecisionError ? error.details : undefined) ?? {}) as {
    scope?: string;
  };
  const base = `Bearer realm="agent-33", error="insufficient_scope"`;
  return scope === undefined ? base : `${base}, scope="${scope}"`;
}
