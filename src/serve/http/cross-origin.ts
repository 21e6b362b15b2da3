import type { FastifyReply, FastifyRequest } from "fastify";
import { allowedMethods } from "./paths.js";

const askedWith = ["authorization", "content-type", "x-correlation-id", "traceparent"];
const askedWithMcp = ["mcp-session-id", "mcp-protocol-version", "last-event-id"];
const told = ["x-correlation-id", "retry-after", "www-authenticate"];
const toldMcp = ["mcp-session-id"];

/** Lets a page whose origin is allowed read the answer; tells whether that was all it wanted to know. */
export function answerPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { mcp, origins }: { readonly mcp: boolean; readonly origins: readonly string[] },
): boolean {
  const { origin, "access-control-request-method": wanted } = request.headers;
  // Other pages of this machine may ask, but a browser must not show them the answer.
  if (origin === undefined || !origins.includes(origin)) return false;
  reply.header("vary", "origin").header("access-control-allow-origin", origin);
  reply.header("access-control-expose-headers", [...told, ...(mcp ? toldMcp : [])].join(", "));
  if (request.method !== "OPTIONS" || wanted === undefined) return false;
  const methods = allowedMethods(request.url, { mcp });
  if (methods.length === 0) return false;
  reply
    .code(204)
    .header("access-control-allow-methods", methods.join(", "))
    .header("access-control-allow-headers", [...askedWith, ...(mcp ? askedWithMcp : [])].join(", "))
    .header("access-control-max-age", "600")
    .send();
  return true;
}
