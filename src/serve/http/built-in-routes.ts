import type { FastifyInstance } from "fastify";
import type { AccessControl } from "./access-control.js";
import type { HttpOptions } from "./http-server.js";
import { addMcpRoute } from "./mcp-route.js";
import { actionsApiDocument, openApiDocument } from "./openapi.js";
import { jsonContentType } from "./operation-routes.js";
import { problemFromError } from "./problem.js";
import { toFastifyPath, builtInPaths } from "./routes.js";
import { DecisionError } from "../../errors.js";
import type { AuthenticatedCaller } from "../../model/record.js";
import { hasScope } from "../auth/authenticate.js";
import { listActions } from "../operations/definitions.js";

/** What the server tells of itself, and the door within it for agents. */
export function addBuiltInRoutes(app: FastifyInstance, options: HttpOptions, entrance: AccessControl): void {
  const { living, metrics, mcp } = options;
  app.get(builtInPaths.health, { config: { open: true } }, (_request, reply) =>
    reply.type(jsonContentType).send('{"status":"ok"}'),
  );
  app.get(builtInPaths.readiness, { config: { open: true } }, async (request, reply) => {
    const readiness = await checkReadiness(options, entrance);
    if (readiness.reason !== undefined) request.problem = { code: "not_ready", detail: readiness.reason };
    return reply
      .code(readiness.ready ? 200 : 503)
      .type(jsonContentType)
      .send(JSON.stringify(readiness));
  });
  app.get(builtInPaths.metrics, { config: { open: options.publicMetrics } }, (request, reply) => {
    assertMayReadMetrics(request.visitor.caller);
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(metrics.text());
  });
  const document = JSON.stringify(openApiDocument({ mcp: mcp !== undefined }));
  app.get(builtInPaths.document, { config: { open: true } }, (_request, reply) =>
    reply.type(jsonContentType).send(document),
  );
  app.get(toFastifyPath(builtInPaths.actions), async (request, reply) => {
    const { org, domain } = request.params as { readonly org: string; readonly domain: string };
    const { caller, correlationId } = request.visitor;
    const asker = { world: living.current, caller, correlationId };
    const { actions } = await listActions.answer({ org_id: org, domain }, asker);
    if (actions.length === 0) throw noActions(org, domain);
    return reply.type(jsonContentType).send(JSON.stringify(actionsApiDocument(org, domain, actions)));
  });
  if (mcp !== undefined) addMcpRoute(app, mcp, { options, entrance });
}

/** They tell of the decisions of all organisations. */
function assertMayReadMetrics(caller: AuthenticatedCaller | undefined): void {
  if (!hasScope(caller, "read")) {
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
async function checkReadiness({ living }: HttpOptions, { isDraining }: AccessControl): Promise<Readiness> {
  const { definitions, records } = living.current;
  const decisions = definitions.ids.length;
  const problems = (living.rejected ?? definitions).diagnostics.length;
  const isStale = living.rejected !== undefined;
  const removed = living.removedDecisions.length;
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
    return { ready: false, ...told, reason: problemFromError(error).detail };
  }
}
