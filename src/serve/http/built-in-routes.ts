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

/** Adds health, readiness, metrics, API documents and MCP. */
export function addBuiltInRoutes(app: FastifyInstance, options: HttpOptions, access: AccessControl): void {
  const { reloadingWorld, metrics, mcp } = options;
  app.get(builtInPaths.health, { config: { isPublic: true } }, (_request, reply) =>
    reply.type(jsonContentType).send('{"status":"ok"}'),
  );
  app.get(builtInPaths.readiness, { config: { isPublic: true } }, async (request, reply) => {
    const readiness = await checkReadiness(options, access);
    if (readiness.reason !== undefined) request.problem = { code: "not_ready", detail: readiness.reason };
    return reply
      .code(readiness.ready ? 200 : 503)
      .type(jsonContentType)
      .send(JSON.stringify(readiness));
  });
  app.get(builtInPaths.metrics, { config: { isPublic: options.publicMetrics } }, (request, reply) => {
    assertMayReadMetrics(request.identity.caller);
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(metrics.text());
  });
  const document = JSON.stringify(openApiDocument({ mcp: mcp !== undefined }));
  app.get(builtInPaths.document, { config: { isPublic: true } }, (_request, reply) =>
    reply.type(jsonContentType).send(document),
  );
  app.get(toFastifyPath(builtInPaths.actions), async (request, reply) => {
    const { org, domain } = request.params as { readonly org: string; readonly domain: string };
    const { caller, correlationId } = request.identity;
    const invocation = { world: reloadingWorld.current, caller, correlationId };
    const { actions } = await listActions.run({ org_id: org, domain }, invocation);
    if (actions.length === 0) throw noActions(org, domain);
    return reply.type(jsonContentType).send(JSON.stringify(actionsApiDocument(org, domain, actions)));
  });
  if (mcp !== undefined) addMcpRoute(app, mcp, { options, access });
}

/** Metrics cover all organisations, so a token bound to one must not read them. */
function assertMayReadMetrics(caller: AuthenticatedCaller | undefined): void {
  if (!hasScope({ caller }, "read")) {
    throw new DecisionError("forbidden", "metrics require the scope `read`, which the token does not have", {
      details: { scope: "read" },
    });
  }
  if (caller?.org_id === undefined) return;
  throw new DecisionError("forbidden", "metrics cover all organisations, but the token is bound to one", {
    hint: "use a token without `org_id`",
  });
}

const noActions = (org: string, domain: string): DecisionError =>
  new DecisionError("definition_not_found", `no actions in \`${org}/${domain}\``, {
    hint: "`GET /decisions` lists all decisions",
  });

interface Readiness {
  readonly ready: boolean;
  readonly decisions: number;
  readonly reason?: string;
  /** The definitions on disk have changed, but the change was rejected. */
  readonly stale?: true;
  /** How many decisions were removed since the start; the log has their ids. */
  readonly removed?: number;
  /** How many diagnostics the definitions, or the rejected change, have. */
  readonly problems?: number;
}

/** Checks whether decisions can be made and recorded. */
async function checkReadiness(
  { reloadingWorld }: HttpOptions,
  { isDraining }: AccessControl,
): Promise<Readiness> {
  const { definitions, records } = reloadingWorld.current;
  const decisions = definitions.ids.length;
  const problems = (reloadingWorld.rejected ?? definitions).diagnostics.length;
  const isStale = reloadingWorld.rejected !== undefined;
  const removed = reloadingWorld.removedDecisions.length;
  const counts = {
    decisions,
    ...(isStale && { stale: true as const }),
    ...(removed > 0 && { removed }),
    ...(problems > 0 && { problems }),
  };
  if (isDraining()) return { ready: false, ...counts, reason: "the server is shutting down" };
  if (decisions === 0) return { ready: false, ...counts, reason: "no valid decision is defined" };
  try {
    await records.log.ready();
    return { ready: true, ...counts };
  } catch (error) {
    return { ready: false, ...counts, reason: problemFromError(error).detail };
  }
}
