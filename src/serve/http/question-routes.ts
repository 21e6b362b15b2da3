import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isObject } from "../../expression/equal.js";
import type { Json } from "../../model/json.js";
import { decideAction } from "../questions/decide.js";
import { orgOf } from "../questions/own-org.js";
import { correlationIn } from "./correlation.js";
import type { Entrance } from "./entrance.js";
import type { HttpOptions } from "./http-server.js";
import { asPattern } from "./paths.js";
import type { Route } from "./routes.js";
import { inputOf, routes } from "./routes.js";

export const jsonType = "application/json; charset=utf-8";

/** Every question at its path. */
export function addQuestionRoutes(app: FastifyInstance, options: HttpOptions, entrance: Entrance): void {
  for (const route of routes) {
    const { method, path, question, write = JSON.stringify } = route;
    app.route({
      method,
      url: asPattern(path),
      handler: async (request, reply) => {
        const input = inputOf(route, request);
        const world = options.living.current;
        if (options.rates.org !== undefined) await countOrg(route, request, { input, entrance, options });
        preferCorrelation(correlationIn(input), request, reply);
        const { caller, correlationId } = request.visitor;
        const answer = await question.answer(input, { world, caller, correlationId });
        noteRecord(request, answer);
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

interface Counting {
  readonly input: unknown;
  readonly entrance: Entrance;
  readonly options: HttpOptions;
}

/** Whoever asks for an organisation uses up what it may ask; whoever is bound to one, that one's. */
async function countOrg(
  { question }: Route,
  request: FastifyRequest,
  { input, entrance, options }: Counting,
): Promise<void> {
  const { org_id, decision_id: id } = isObject(input as Json) ? (input as Record<string, unknown>) : {};
  const asked = question.name === decideAction.name ? org_id : undefined;
  const defined = typeof id === "string" ? orgOf(id, options.living.current.definitions) : undefined;
  const org = request.visitor.caller?.org_id ?? asked ?? defined;
  if (typeof org === "string") await entrance.countRequest(request, "org", org);
}

/** So that the log of requests leads to the log of decisions. */
function noteRecord(request: FastifyRequest, answer: unknown): void {
  const { record_id: id } = answer as { readonly record_id?: unknown };
  if (typeof id === "string") request.recordId = id;
}
