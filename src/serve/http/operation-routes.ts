import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { correlationFromInput } from "../correlation.js";
import type { AccessControl } from "./access-control.js";
import type { HttpOptions } from "./http-server.js";
import { toFastifyPath, operationInput, routes } from "./routes.js";
import type { Library } from "../../definition/library.js";
import type { AuthenticatedCaller } from "../../model/record.js";
import { recordIdOf } from "../operations/operation.js";

export const jsonContentType = "application/json; charset=utf-8";

/** Every question at its path. */
export function addOperationRoutes(
  app: FastifyInstance,
  options: HttpOptions,
  entrance: AccessControl,
): void {
  const isCounted = options.rates.org !== undefined;
  for (const route of routes) {
    const { method, path, question, write = JSON.stringify } = route;
    app.route({
      method,
      url: toFastifyPath(path),
      handler: async (request, reply) => {
        await nextBatch();
        const input = operationInput(route, request);
        const world = options.living.current;
        const org = isCounted ? rateLimitedOrg(input, request.visitor.caller, world.definitions) : undefined;
        if (org !== undefined) await entrance.countRequest(request, "org", org);
        preferInputCorrelation(correlationFromInput(input), request, reply);
        const { caller, correlationId } = request.visitor;
        const answer = await question.answer(input, { world, caller, correlationId });
        const recordId = recordIdOf(answer);
        if (recordId !== undefined) request.recordId = recordId;
        return reply.type(jsonContentType).send(write(answer));
      },
    });
  }
}

function preferInputCorrelation(id: string | undefined, request: FastifyRequest, reply: FastifyReply): void {
  if (id === undefined || id === request.visitor.correlationId) return;
  request.visitor = { caller: request.visitor.caller, correlationId: id };
  reply.header("x-correlation-id", id);
}

let pendingBatch: Promise<void> | undefined;

/**
 * Resolves when all requests that came at the same time have been read. They are decided one after the other then,
 * and answered together: to go back and forth between reading, deciding and writing takes about twice the time.
 */
function nextBatch(): Promise<void> {
  pendingBatch ??= new Promise((resolve) => {
    setImmediate(() => {
      pendingBatch = undefined;
      resolve();
    });
  });
  return pendingBatch;
}

interface OrgIndex {
  readonly names: ReadonlySet<string>;
  readonly byDecision: ReadonlyMap<string, string>;
}

type DecisionSummaries = Pick<Library, "summaries">;

const orgIndexes = new WeakMap<DecisionSummaries, OrgIndex>();

/**
 * The organisation that a question is counted for: the one that the caller is bound to, else the one that is asked
 * for. Names that nobody has defined would only push those out that are counted.
 */
export function rateLimitedOrg(
  input: unknown,
  caller: AuthenticatedCaller | undefined,
  definitions: DecisionSummaries,
): string | undefined {
  if (caller?.org_id !== undefined) return caller.org_id;
  const { org_id: org, decision_id: id } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const { names, byDecision } = indexOrgs(definitions);
  if (typeof org === "string") return names.has(org) ? org : undefined;
  return typeof id === "string" ? byDecision.get(id) : undefined;
}

function indexOrgs(definitions: DecisionSummaries): OrgIndex {
  let orgs = orgIndexes.get(definitions);
  if (orgs === undefined) {
    const gates = definitions.summaries.flatMap(({ id, action }) =>
      action === undefined ? [] : [[id, action.org] as const],
    );
    orgs = { names: new Set(gates.map(([, org]) => org)), byDecision: new Map(gates) };
    orgIndexes.set(definitions, orgs);
  }
  return orgs;
}
