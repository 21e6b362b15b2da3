import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { typedTools } from "../mcp/typed-tools.js";
import { traceIdOf } from "../trace-id.js";
import { correlationIn } from "./correlation.js";
import type { Entrance } from "./entrance.js";
import type { HttpOptions, McpHandler } from "./http-server.js";
import { orgCounted } from "./org-counted.js";
import { ownPaths } from "./paths.js";

/** What is looked at of a message before it is handed on. */
interface Message {
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
  { options, entrance }: { readonly options: HttpOptions; readonly entrance: Entrance },
): void {
  app.route({
    method: ["GET", "POST", "DELETE"],
    url: ownPaths.mcp,
    handler: async (request, reply) => {
      const { caller } = request.visitor;
      const message = (request.body ?? {}) as Message;
      if (options.rates.org !== undefined) {
        const org = await orgAsked(message, request, options.living);
        if (org !== undefined) await entrance.countRequest(request, "org", org);
      }
      const correlationId = correlationNamed(message) ?? request.visitor.correlationId;
      request.visitor = { caller, correlationId };
      if (correlationId !== undefined) reply.header("x-correlation-id", correlationId);
      handOver(reply);
      await mcp(request.raw, reply.raw, { body: request.body, caller, correlationId });
    },
  });
}

/** A call of a tool says which organisation it is about by what it is given, as a question does, or by its name. */
async function orgAsked(
  { params }: Message,
  { visitor }: FastifyRequest,
  { current }: HttpOptions["living"],
): Promise<string | undefined> {
  const tool = (await typedTools(current)).find(({ name }) => name === params?.name);
  const asked = tool === undefined ? params?.arguments : { org_id: tool.org };
  return orgCounted(asked, visitor.caller, current.definitions);
}

/** What a call is recorded with, unless a header says it; undefined: nothing that a header could carry. */
function correlationNamed({ params }: Message): string | undefined {
  const meta = params?._meta;
  const named = correlationIn(params?.arguments) ?? correlationIn(meta);
  if (named !== undefined || meta?.["correlation_id"] !== undefined) return named;
  return traceIdOf(meta?.["traceparent"]);
}

/** Whoever answers instead of the web framework knows nothing of the headers that it was told. */
function handOver(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.hijack();
}
