import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { recordIn } from "../record-in.js";
import { correlationIn } from "./correlation.js";
import type { Entrance } from "./entrance.js";
import type { HttpOptions } from "./http-server.js";
import { orgCounted } from "./org-counted.js";
import { together } from "./together.js";
import { asPattern } from "./paths.js";
import { inputOf, routes } from "./routes.js";

export const jsonType = "application/json; charset=utf-8";

/** Every question at its path. */
export function addQuestionRoutes(app: FastifyInstance, options: HttpOptions, entrance: Entrance): void {
  const isCounted = options.rates.org !== undefined;
  for (const route of routes) {
    const { method, path, question, write = JSON.stringify } = route;
    app.route({
      method,
      url: asPattern(path),
      handler: async (request, reply) => {
        await together();
        const input = inputOf(route, request);
        const world = options.living.current;
        const org = isCounted ? orgCounted(input, request.visitor.caller, world.definitions) : undefined;
        if (org !== undefined) await entrance.countRequest(request, "org", org);
        preferCorrelation(correlationIn(input), request, reply);
        const { caller, correlationId } = request.visitor;
        const answer = await question.answer(input, { world, caller, correlationId });
        const recordId = recordIn(answer);
        if (recordId !== undefined) request.recordId = recordId;
        return reply.type(jsonType).send(write(answer));
      },
    });
  }
}

function preferCorrelation(id: string | undefined, request: FastifyRequest, reply: FastifyReply): void {
  if (id === undefined || id === request.visitor.correlationId) return;
  request.visitor = { caller: request.visitor.caller, correlationId: id };
  reply.header("x-correlation-id", id);
}
