import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AccessControl } from "./access-control.js";
import type { HttpOptions, McpHandler } from "./http-server.js";
import { rateLimitedOrg } from "./operation-routes.js";
import { builtInPaths } from "./routes.js";
import { parseTraceId, correlationFromInput } from "../correlation.js";
import { actionTools } from "../mcp/tools.js";

/** The parts of a JSON-RPC message that are read here. */
interface McpMessage {
  readonly params?: {
    readonly name?: unknown;
    readonly arguments?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

/** Adds the MCP endpoint: applies rate limits and the correlation id, then passes the request to the SDK. */
export function addMcpRoute(
  app: FastifyInstance,
  mcp: McpHandler,
  { options, access }: { readonly options: HttpOptions; readonly access: AccessControl },
): void {
  app.route({
    method: ["GET", "POST", "DELETE"],
    url: builtInPaths.mcp,
    handler: async (request, reply) => {
      const { caller } = request.identity;
      const message = (request.body ?? {}) as McpMessage;
      if (options.rateLimits.org !== undefined) {
        const org = await orgOfMessage(message, request, options.reloadingWorld);
        if (org !== undefined) await access.countRequest(request, "org", org);
      }
      const correlationId = correlationOfMessage(message) ?? request.identity.correlationId;
      request.identity = { caller, correlationId };
      if (correlationId !== undefined) reply.header("x-correlation-id", correlationId);
      handOverResponse(reply);
      await mcp(request.raw, reply.raw, { body: request.body, caller, correlationId });
    },
  });
}

/** Finds the organisation of a tool call, from its arguments or from the tool of an action. */
async function orgOfMessage(
  { params }: McpMessage,
  { identity }: FastifyRequest,
  { current }: HttpOptions["reloadingWorld"],
): Promise<string | undefined> {
  const tool = (await actionTools(current)).find(({ name }) => name === params?.name);
  const input = tool === undefined ? params?.arguments : { org_id: tool.org };
  return rateLimitedOrg(input, identity.caller, current.definitions);
}

/** Returns the correlation id of a call; undefined: it has none that a header can carry. */
function correlationOfMessage({ params }: McpMessage): string | undefined {
  const meta = params?._meta;
  const id = correlationFromInput(params?.arguments) ?? correlationFromInput(meta);
  if (id !== undefined || meta?.["correlation_id"] !== undefined) return id;
  return parseTraceId(meta?.["traceparent"]);
}

/** Copies the headers set so far, because the SDK writes to the raw response without Fastify. */
function handOverResponse(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.hijack();
}
