import type { JsonObject } from "../../model/json.js";
import { decideAction } from "../questions/decide.js";
import { answered, components, gateAnswer, heading, parameter } from "./openapi-parts.js";
import { ownOperations } from "./own-operations.js";
import type { Route } from "./routes.js";
import { bodySchema, routes } from "./routes.js";

/** All that can be asked of this server. */
export function apiDocument({ mcp }: { readonly mcp: boolean }): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], ...operationOf(route) };
  return {
    ...heading("agent-33", "Decisions of unattended agents and workflows, as code."),
    paths: { ...paths, ...ownOperations({ mcp }) },
    components: components({}),
  };
}

function operationOf(route: Route): JsonObject {
  const { method, question, inPath } = route;
  const schema = bodySchema(route);
  const inUrl = [
    ...(inPath === undefined ? [] : [parameter("path", "id", question.input.properties[inPath] ?? {}, true)]),
    ...(method === "POST"
      ? []
      : Object.entries(schema.properties).map(([key, each]) => parameter("query", key, each, false))),
  ];
  return {
    [method.toLowerCase()]: {
      operationId: question.name,
      summary: question.title,
      description: question.description,
      security: [{ token: [question.scope] }, {}],
      ...(inUrl.length > 0 && { parameters: inUrl }),
      ...(method === "POST" && {
        requestBody: { required: true, content: { "application/json": { schema } } },
      }),
      responses: answered(question.title, question === decideAction ? gateAnswer : question.output),
    },
  };
}
