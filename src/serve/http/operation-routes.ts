import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { correlationFromInput } from "../correlation.js";
import type { AccessControl } from "./access-control.js";
import type { HttpOptions } from "./http-server.js";
import { toFastifyPath, operationInput, routes } from "./routes.js";
import type { Library } from "../../definition/library.js";
import type { AuthenticatedCaller } from "../../model/record.js";
import { recordIdOf } from "../operations/operation.js";

export const jsonContentType = "application/json; charset=utf-8";

/** Adds every operation at its path. */
export function addOperationRoutes(app: FastifyInstance, options: HttpOptions, access: AccessControl): void {
  const limitsOrgs = options.rateLimits.org !== undefined;
  const nextBatch = batchPerTick();
  for (const route of routes) {
    const { method, path, operation, write = JSON.stringify } = route;
    app.route({
      method,
      url: toFastifyPath(path),
      handler: async (request, reply) => {
        await nextBatch();
        const input = operationInput(route, request);
        const world = options.reloadingWorld.current;
        const org = limitsOrgs
          ? rateLimitedOrg(input, request.identity.caller, world.definitions)
          : undefined;
        if (org !== undefined) await access.countRequest(request, "org", org);
        preferInputCorrelation(correlationFromInput(input), request, reply);
        const { caller, correlationId } = request.identity;
        const answer = await operation.run(input, { world, caller, correlationId });
        const recordId = recordIdOf(answer);
        if (recordId !== undefined) request.recordId = recordId;
        return reply.type(jsonContentType).send(write(answer));
      },
    });
  }
}

function preferInputCorrelation(id: string | undefined, request: FastifyRequest, reply: FastifyReply): void {
  if (id === undefined || id === request.identity.correlationId) return;
  request.identity = { caller: request.identity.caller, correlationId: id };
  reply.header("x-correlation-id", id);
}

/**
 * Returns a function that resolves when all requests that arrived in the same tick have been read, so that they are
 * decided and answered as a batch. Alternating between reading, deciding and writing takes about twice the time.
 */
function batchPerTick(): () => Promise<void> {
  let pending: Promise<void> | undefined;
  return () =>
    (pending ??= new Promise((resolve) => {
      setImmediate(() => {
        pending = undefined;
        resolve();
      });
    }));
}

/**
 * Returns the organisation whose rate limit applies: that of the caller, otherwise the one in the input. Unknown names
 * are not counted, because they would displace the counters of real organisations.
 */
export function rateLimitedOrg(
  input: unknown,
  caller: AuthenticatedCaller | undefined,
  definitions: Pick<Library, "summaries">,
): string | undefined {
  if (caller?.org_id !== undefined) return caller.org_id;
  const { org_id: org, decision_id: id } = (input ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof org === "string")
    return definitions.summaries.some(({ action }) => action?.org === org) ? org : undefined;
  return definitions.summaries.find((each) => each.id === id)?.action?.org;
}
