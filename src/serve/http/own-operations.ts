import type { JsonObject } from "../../model/json.js";
import { answered, parameter } from "./openapi-parts.js";
import { ownPaths } from "./paths.js";

/** What the server tells of itself, as OpenAPI has it, by path. */
export function ownOperations({ mcp }: { readonly mcp: boolean }): JsonObject {
  return {
    [ownPaths.actions]: actions,
    [ownPaths.health]: health,
    [ownPaths.readiness]: readiness,
    [ownPaths.metrics]: metrics,
    [ownPaths.document]: document,
    ...(mcp && { [ownPaths.mcp]: mcpOperations }),
  };
}

const actions: JsonObject = {
  get: {
    operationId: "list_actions",
    summary: "The actions of a domain",
    description: "As an OpenAPI document with the schema of the context of each action.",
    security: [{ token: ["read"] }, {}],
    parameters: [
      parameter("path", "org", { type: "string" }, true),
      parameter("path", "domain", { type: "string" }, true),
    ],
    responses: answered("An OpenAPI document", { type: "object" }),
  },
};

const health: JsonObject = {
  get: {
    operationId: "health",
    summary: "Whether it runs",
    security: [],
    responses: answered("It runs", {
      type: "object",
      properties: { status: { const: "ok" } },
      required: ["status"],
    }),
  },
};

const readinessSchema: JsonObject = {
  type: "object",
  properties: {
    ready: { type: "boolean" },
    decisions: { type: "integer", description: "how many are defined" },
    reason: { type: "string", description: "why it is not ready" },
    stale: { const: true, description: "there is a change of the definitions that is not taken up" },
    removed: {
      type: "integer",
      description: "how many decisions there were since the start that are no more",
    },
    problems: { type: "integer", description: "how many things are wrong with the definitions" },
  },
  required: ["ready", "decisions"],
};

const readiness: JsonObject = {
  get: {
    operationId: "readiness",
    summary: "Whether it can decide and record",
    security: [],
    responses: {
      ...answered("It is ready", readinessSchema),
      "503": { description: "It is not", content: { "application/json": { schema: readinessSchema } } },
    },
  },
};

const metrics: JsonObject = {
  get: {
    operationId: "metrics",
    summary: "Metrics for Prometheus",
    description: "They tell of all organisations, so a token with `org_id` is refused.",
    security: [{ token: ["read"] }, {}],
    responses: {
      ...answered("Metrics", {}),
      "200": { description: "Metrics", content: { "text/plain": { schema: { type: "string" } } } },
    },
  },
};

const document: JsonObject = {
  get: {
    operationId: "openapi",
    summary: "What can be asked",
    security: [],
    responses: answered("This document", { type: "object" }),
  },
};

const mcpMessage: JsonObject = { type: "object", description: "a message of JSON-RPC 2.0" };

const mcpOperation = (operationId: string, summary: string): JsonObject => ({
  operationId,
  summary,
  description: "Streamable HTTP of the Model Context Protocol; its clients know what to send.",
  security: [{ token: [] }, {}],
  responses: {
    "200": {
      description: "A message, or a stream of them",
      content: {
        "application/json": { schema: mcpMessage },
        "text/event-stream": { schema: { type: "string" } },
      },
    },
    default: { description: "What went wrong", content: { "application/json": { schema: mcpMessage } } },
  },
});

const mcpOperations: JsonObject = {
  post: {
    ...mcpOperation("mcp", "Ask over MCP"),
    requestBody: { required: true, content: { "application/json": { schema: mcpMessage } } },
  },
  get: mcpOperation("mcp_listen", "Listen over MCP, for clients that have sessions"),
  delete: mcpOperation("mcp_end", "End a session of MCP"),
};
