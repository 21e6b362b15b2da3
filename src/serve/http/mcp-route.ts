import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AccessControl } from "./access-control.js";
import type { HttpOptions, McpHandler } from "./http-server.js";
import { rateLimitedOrg } from "./operation-routes.js";
import { builtInPaths } from "./routes.js";
import { parseTraceId, correlationFromInput } from "../correlation.js";
import { actionTools } from "../mcp/tools.js";

/** What is looked at of a message before it is handed on. */
interface McpMessage {
  readonly params?: {
    readonly name?: unknown;
    readonly arguments?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

/** The door within the door, for agents. */
export function addMcpRoute(
  app: FastifyInstance,
  mcp: McpHandler,
  { options, entrance }: { readonly options: HttpOptions; readonly entrance: AccessControl },
): void {
  app.route({
    method: ["GET", "POST", "DELETE"],
    url: builtInPaths.mcp,
    handler: async (request, reply) => {
      const { caller } = request.visitor;
      const message = (request.body ?? {}) as McpMessage;
      if (options.rates.org !== undefined) {
        const org = await orgOfMessage(message, request, options.living);
        if (org !== undefined) await entrance.countRequest(request, "org", org);
      }
      const correlationId = correlationOfMessage(message) ?? request.visitor.correlationId;
      request.visitor = { caller, correlationId };
      if (correlationId !== undefined) reply.header("x-correlation-id", correlationId);
      handOverResponse(reply);
      await mcp(request.raw, reply.raw, { body: request.body, caller, correlationId });
    },
  });
}

/** A call of a tool says which organisation it is about by what it is given, as a question does, or by its name. */
async function orgOfMessage(
  { params }: McpMessage,
  { visitor }: FastifyRequest,
  { current }: HttpOptions["living"],
): Promise<string | undefined> {
  const tool = (await actionTools(current)).find(({ name }) => name === params?.name);
  const asked = tool === undefined ? params?.arguments : { org_id: tool.org };
  return rateLimitedOrg(asked, visitor.caller, current.definitions);
}

/** What a call is recorded with, unless a header says it; undefined: nothing that a header could carry. */
function correlationOfMessage({ params }: McpMessage): string | undefined {
  const meta = params?._meta;
  const named = correlationFromInput(params?.arguments) ?? correlationFromInput(meta);
  if (named !== undefined || meta?.["correlation_id"] !== undefined) return named;
  return parseTraceId(meta?.["traceparent"]);
}

/** Whoever answers instead of the web framework knows nothing of the headers that it was told. */
function handOverResponse(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.hijack();
}
