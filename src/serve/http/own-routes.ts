import type { FastifyInstance } from "fastify";
import { DecisionError } from "../../errors.js";
import type { AuthenticatedCaller } from "../../model/caller.js";
import { listActions } from "../questions/list-actions.js";
import { permits } from "../auth/scopes.js";
import type { Entrance } from "./entrance.js";
import type { HttpOptions } from "./http-server.js";
import { addMcpRoute } from "./mcp-route.js";
import { actionsDocument } from "./actions-document.js";
import { apiDocument } from "./openapi.js";
import { asPattern, ownPaths } from "./paths.js";
import { problemOf } from "./problem.js";
import { jsonType } from "./question-routes.js";

/** What the server tells of itself, and the door within it for agents. */
export function addOwnRoutes(app: FastifyInstance, options: HttpOptions, entrance: Entrance): void {
  const { living, metrics, mcp } = options;
  app.get(ownPaths.health, { config: { open: true } }, (_request, reply) =>
    reply.type(jsonType).send('{"status":"ok"}'),
  );
  app.get(ownPaths.readiness, { config: { open: true } }, async (request, reply) => {
    const readiness = await readinessOf(options, entrance);
    if (readiness.reason !== undefined) request.problem = { code: "not_ready", detail: readiness.reason };
    return reply
      .code(readiness.ready ? 200 : 503)
      .type(jsonType)
      .send(JSON.stringify(readiness));
  });
  app.get(ownPaths.metrics, { config: { open: options.publicMetrics } }, (request, reply) => {
    refuseMetrics(request.visitor.caller);
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(metrics.text());
  });
  const document = JSON.stringify(apiDocument({ mcp: mcp !== undefined }));
  app.get(ownPaths.document, { config: { open: true } }, (_request, reply) =>
    reply.type(jsonType).send(document),
  );
  app.get(asPattern(ownPaths.actions), async (request, reply) => {
    const { org, domain } = request.params as { readonly org: string; readonly domain: string };
    const { caller, correlationId } = request.visitor;
    const asker = { world: living.current, caller, correlationId };
    const { actions } = await listActions.answer({ org_id: org, domain }, asker);
    if (actions.length === 0) throw noActions(org, domain);
    return reply.type(jsonType).send(JSON.stringify(actionsDocument(org, domain, actions)));
  });
  if (mcp !== undefined) addMcpRoute(app, mcp, { options, entrance });
}

/** They tell of the decisions of all organisations. */
function refuseMetrics(caller: AuthenticatedCaller | undefined): void {
  if (!permits(caller, "read")) {
    throw new DecisionError("forbidden", "metrics need the scope `read`, which the token lacks", {
      details: { scope: "read" },
    });
  }
  if (caller?.org_id === undefined) return;
  throw new DecisionError("forbidden", "metrics tell of all organisations, and the token is for one", {
    hint: "ask with a token without `org_id`",
  });
}

const noActions = (org: string, domain: string): DecisionError =>
  new DecisionError("definition_not_found", `no action of \`${org}/${domain}\` has a gate`, {
    hint: "`GET /decisions` lists what is defined",
  });

interface Readiness {
  readonly ready: boolean;
  readonly decisions: number;
  readonly reason?: string;
  /** There is a change of the definitions that is not taken up. */
  readonly stale?: true;
  /** How many decisions there were since the start that are no more; which, the log tells. */
  readonly removed?: number;
  /** What keeps definitions from being used, or the change from being taken up. */
  readonly problems?: number;
}

/** Ready is who can decide and record it. */
async function readinessOf({ living }: HttpOptions, { isDraining }: Entrance): Promise<Readiness> {
  const { definitions, records } = living.current;
  const decisions = definitions.ids.length;
  const problems = (living.refused ?? definitions).problems.length;
  const isStale = living.refused !== undefined;
  const removed = living.removed.length;
  const told = {
    decisions,
    ...(isStale && { stale: true as const }),
    ...(removed > 0 && { removed }),
    ...(problems > 0 && { problems }),
  };
  if (isDraining()) return { ready: false, ...told, reason: "it is about to end" };
  if (decisions === 0) return { ready: false, ...told, reason: "there is no decision that could be made" };
  try {
    await records.log.ready();
    return { ready: true, ...told };
  } catch (error) {
    return { ready: false, ...told, reason: problemOf(error).detail };
  }
}
