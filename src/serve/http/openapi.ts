import type { Route } from "./routes.js";
import { bodySchema, routes, builtInPaths } from "./routes.js";
import type { JsonObject } from "../../model/json.js";
import { version } from "../../version.js";
import { embedSchema } from "../embed-schema.js";
import { decideAction, gateAnswerSchema } from "../operations/decide.js";
import type { Action } from "../operations/definitions.js";

/** All that can be asked of this server. */
export function openApiDocument({ mcp }: { readonly mcp: boolean }): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], ...operationObject(route) };
  return {
    ...documentHeader("agent-33", "Decisions of unattended agents and workflows, as code."),
    paths: { ...paths, ...builtInOperations({ mcp }) },
    components: components({}),
  };
}

function operationObject(route: Route): JsonObject {
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
      responses: jsonResponses(question.title, question === decideAction ? gateAnswerRef : question.output),
    },
  };
}

/** What every OpenAPI document of ours begins with. */
const documentHeader = (title: string, description: string): JsonObject => ({
  openapi: "3.1.0",
  info: { title, version, description },
});

/** What its operations refer to. */
const components = (schemas: JsonObject): JsonObject => ({
  schemas: { ...schemas, GateAnswer: gateAnswerSchema, Problem: problemSchema },
  securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
});

const problemSchema: JsonObject = {
  type: "object",
  description: "RFC 9457",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string" },
    hint: { type: "string" },
    errors: {
      type: "array",
      description: "each fault of the request; where an id is not unique, some of those that are meant",
      items: {
        type: ["object", "string"],
        properties: { path: { type: "string" }, message: { type: "string" } },
      },
    },
  },
  required: ["type", "title", "status", "detail", "code"],
};

const problemResponse: JsonObject = {
  default: {
    description: "What went wrong",
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  },
};

const gateAnswerRef: JsonObject = { $ref: "#/components/schemas/GateAnswer" };

/** The responses of an operation that answers with JSON. */
const jsonResponses = (description: string, schema: JsonObject): JsonObject => ({
  "200": { description, content: { "application/json": { schema } } },
  ...problemResponse,
});

export const parameter = (
  place: "path" | "query",
  name: string,
  schema: JsonObject,
  required: boolean,
): JsonObject => ({ in: place, name, required, schema });

/** What the server tells of itself, as OpenAPI has it, by path. */
function builtInOperations({ mcp }: { readonly mcp: boolean }): JsonObject {
  return {
    [builtInPaths.actions]: actionsPath,
    [builtInPaths.health]: healthPath,
    [builtInPaths.readiness]: readinessPath,
    [builtInPaths.metrics]: metricsPath,
    [builtInPaths.document]: documentPath,
    ...(mcp && { [builtInPaths.mcp]: mcpPath }),
  };
}

const actionsPath: JsonObject = {
  get: {
    operationId: "list_actions",
    summary: "The actions of a domain",
    description: "As an OpenAPI document with the schema of the context of each action.",
    security: [{ token: ["read"] }, {}],
    parameters: [
      parameter("path", "org", { type: "string" }, true),
      parameter("path", "domain", { type: "string" }, true),
    ],
    responses: jsonResponses("An OpenAPI document", { type: "object" }),
  },
};

const healthPath: JsonObject = {
  get: {
    operationId: "health",
    summary: "Whether it runs",
    security: [],
    responses: jsonResponses("It runs", {
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

const readinessPath: JsonObject = {
  get: {
    operationId: "readiness",
    summary: "Whether it can decide and record",
    security: [],
    responses: {
      ...jsonResponses("It is ready", readinessSchema),
      "503": { description: "It is not", content: { "application/json": { schema: readinessSchema } } },
    },
  },
};

const metricsPath: JsonObject = {
  get: {
    operationId: "metrics",
    summary: "Metrics for Prometheus",
    description: "They tell of all organisations, so a token with `org_id` is refused.",
    security: [{ token: ["read"] }, {}],
    responses: {
      ...jsonResponses("Metrics", {}),
      "200": { description: "Metrics", content: { "text/plain": { schema: { type: "string" } } } },
    },
  },
};

const documentPath: JsonObject = {
  get: {
    operationId: "openapi",
    summary: "What can be asked",
    security: [],
    responses: jsonResponses("This document", { type: "object" }),
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

const mcpPath: JsonObject = {
  post: {
    ...mcpOperation("mcp", "Ask over MCP"),
    requestBody: { required: true, content: { "application/json": { schema: mcpMessage } } },
  },
  get: mcpOperation("mcp_listen", "Listen over MCP, for clients that have sessions"),
  delete: mcpOperation("mcp_end", "End a session of MCP"),
};

/** The actions of a domain as an OpenAPI document: what `/decide` takes for each, and what it answers. */
export function actionsApiDocument(org: string, domain: string, actions: readonly Action[]): JsonObject {
  const named = withSchemaNames(actions);
  return {
    ...documentHeader(`Actions of ${org}/${domain}`, "Ask the gate of an action before taking it."),
    paths: { "/decide": { post: decideOperation(named) } },
    components: components(Object.fromEntries(named.map((each) => [each.schema, requestSchema(each)]))),
    "x-actions": named.map(({ schema, ...action }) => ({
      ...action,
      ...(action.context_schema && { context_schema: { $ref: contextPointer(schema) } }),
    })),
  };
}

interface NamedAction extends Action {
  /** What its schema is called. */
  readonly schema: string;
}

/** Names that may stand in a reference, each of them once. */
function withSchemaNames(actions: readonly Action[]): readonly NamedAction[] {
  const taken = new Set<string>();
  return actions.map((each) => {
    const plain = `${each.action.replace(/[^A-Za-z0-9._-]/g, "_")}_v${each.world_model_version}`;
    let schema = plain;
    for (let more = 2; taken.has(schema); more++) schema = `${plain}_${more}`;
    taken.add(schema);
    return { ...each, schema };
  });
}

const contextPointer = (schema: string): string => `#/components/schemas/${schema}/$defs/context`;

function requestSchema(each: NamedAction): JsonObject {
  const { org_id, domain, action, world_model_version, latest, context_schema, description, schema } = each;
  const { properties, required } = decideAction.input;
  return {
    ...decideAction.input,
    ...(description !== undefined && { description }),
    properties: {
      ...properties,
      org_id: { const: org_id },
      domain: { const: domain },
      action: { const: action },
      world_model_version: { const: world_model_version },
      context: { $ref: contextPointer(schema) },
    },
    required: latest ? required : [...required, "world_model_version"],
    $defs: { context: embedSchema(context_schema ?? { type: "object" }, contextPointer(schema)) },
  };
}

const decideOperation = (actions: readonly NamedAction[]): JsonObject => ({
  operationId: "decide",
  summary: decideAction.title,
  description: decideAction.description,
  security: [{ token: ["decide"] }, {}],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: { oneOf: actions.map(({ schema }) => ({ $ref: `#/components/schemas/${schema}` })) },
      },
    },
  },
  responses: jsonResponses("What the gate says", gateAnswerRef),
});
