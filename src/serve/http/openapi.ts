import type { Route } from "./routes.js";
import { bodySchema, routes, builtInPaths } from "./routes.js";
import type { JsonObject } from "../../model/json.js";
import { version } from "../../version.js";
import { embedSchema } from "../embed-schema.js";
import { decideAction, gateAnswerSchema } from "../operations/decide.js";
import type { Action } from "../operations/definitions.js";

/** The OpenAPI document of the server. */
export function openApiDocument({ mcp }: { readonly mcp: boolean }): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], ...operationObject(route) };
  return {
    ...documentHeader("agent-33", "Decisions as code for unattended agents and workflows."),
    paths: { ...paths, ...builtInOperations({ mcp }) },
    components: components({ HookEvent: hookEventSchema }),
  };
}

function operationObject(route: Route): JsonObject {
  const { method, operation, pathKey } = route;
  const schema = bodySchema(route);
  const parameters = [
    ...(pathKey === undefined
      ? []
      : [parameter("path", "id", operation.input.properties[pathKey] ?? {}, true)]),
    ...(method === "POST"
      ? []
      : Object.entries(schema.properties).map(([key, each]) => parameter("query", key, each, false))),
  ];
  return {
    [method.toLowerCase()]: {
      operationId: operation.name,
      summary: operation.title,
      description: operation.description,
      security: [{ token: [operation.scope] }, {}],
      ...(parameters.length > 0 && { parameters }),
      ...(method === "POST" && {
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: route.fromHookEvent === undefined ? schema : { anyOf: [schema, hookEventRef] },
            },
          },
        },
      }),
      responses: jsonResponses(
        operation.title,
        operation === decideAction ? gateAnswerRef : operation.output,
      ),
    },
  };
}

const documentHeader = (title: string, description: string): JsonObject => ({
  openapi: "3.1.0",
  info: { title, version, description },
});

const components = (schemas: JsonObject): JsonObject => ({
  schemas: { ...schemas, GateAnswer: gateAnswerSchema, Problem: problemSchema },
  securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
});

const hookEventRef: JsonObject = { $ref: "#/components/schemas/HookEvent" };

const hookEventSchema: JsonObject = {
  type: "object",
  description: "a hook event of a coding agent; other keys are ignored",
  properties: {
    session_id: { type: "string", minLength: 1 },
    hook_event_name: { type: "string", description: "a name with `Fail` in it means that the call failed" },
    tool_name: { type: "string", minLength: 1 },
    tool_input: { type: "object", description: "the params of the call" },
    tool_response: {
      description:
        "required for `/results`, refused by `/check`; `success: false`, `is_error`, `interrupted` and `error` are failures",
    },
  },
  required: ["session_id", "tool_name"],
  not: { required: ["tool"] },
};

const problemSchema: JsonObject = {
  type: "object",
  description: "an error, as in RFC 9457",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string" },
    hint: { type: "string" },
    errors: {
      type: "array",
      description: "the problems of the request; for an ambiguous id, some of the matching ids",
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
    description: "An error",
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  },
};

const gateAnswerRef: JsonObject = { $ref: "#/components/schemas/GateAnswer" };

/** The responses of an operation that answers with JSON. */
const jsonResponses = (description: string, schema: JsonObject): JsonObject => ({
  "200": { description, content: { "application/json": { schema } } },
  ...problemResponse,
});

const parameter = (
  location: "path" | "query",
  name: string,
  schema: JsonObject,
  required: boolean,
): JsonObject => ({ in: location, name, required, schema });

/** The paths that are not operations. */
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
    description: "Returns an OpenAPI document with the context schema of each action.",
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
    summary: "Check whether the server runs",
    security: [],
    responses: jsonResponses("The server runs", {
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
    decisions: { type: "integer", description: "the number of valid decisions" },
    reason: { type: "string", description: "why the server is not ready" },
    stale: {
      const: true,
      description: "a change of the definitions was rejected; the previous ones are in use",
    },
    removed: {
      type: "integer",
      description: "the number of decisions removed since the start",
    },
    problems: { type: "integer", description: "the number of problems in the definitions" },
  },
  required: ["ready", "decisions"],
};

const readinessPath: JsonObject = {
  get: {
    operationId: "readiness",
    summary: "Check whether the server can make and record decisions",
    security: [],
    responses: {
      ...jsonResponses("The server is ready", readinessSchema),
      "503": {
        description: "The server is not ready",
        content: { "application/json": { schema: readinessSchema } },
      },
    },
  },
};

const metricsPath: JsonObject = {
  get: {
    operationId: "metrics",
    summary: "Metrics for Prometheus",
    description: "Metrics cover all organisations, so tokens with `org_id` are rejected.",
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
    summary: "This OpenAPI document",
    security: [],
    responses: jsonResponses("An OpenAPI document", { type: "object" }),
  },
};

const mcpMessage: JsonObject = { type: "object", description: "a JSON-RPC 2.0 message" };

const mcpOperation = (operationId: string, summary: string): JsonObject => ({
  operationId,
  summary,
  description: "The Streamable HTTP transport of the Model Context Protocol.",
  security: [{ token: [] }, {}],
  responses: {
    "200": {
      description: "A message, or a stream of messages",
      content: {
        "application/json": { schema: mcpMessage },
        "text/event-stream": { schema: { type: "string" } },
      },
    },
    default: { description: "An error", content: { "application/json": { schema: mcpMessage } } },
  },
});

const mcpPath: JsonObject = {
  post: {
    ...mcpOperation("mcp", "Send an MCP message"),
    requestBody: { required: true, content: { "application/json": { schema: mcpMessage } } },
  },
  get: mcpOperation("mcp_listen", "Open an MCP event stream, for clients with sessions"),
  delete: mcpOperation("mcp_end", "End an MCP session"),
};

/** An OpenAPI document of `/decide` with the request schema of each action of a domain. */
export function actionsApiDocument(org: string, domain: string, actions: readonly Action[]): JsonObject {
  const named = withSchemaNames(actions);
  return {
    ...documentHeader(`Actions of ${org}/${domain}`, "Check an action with its gate before taking it."),
    paths: { "/decide": { post: decideOperation(named) } },
    components: components(Object.fromEntries(named.map((each) => [each.schema, requestSchema(each)]))),
    "x-actions": named.map(({ schema, ...action }) => ({
      ...action,
      ...(action.context_schema && { context_schema: { $ref: contextPointer(schema) } }),
    })),
  };
}

interface NamedAction extends Action {
  /** The name of its schema. */
  readonly schema: string;
}

/** Gives each action a unique schema name that is valid in a reference. */
function withSchemaNames(actions: readonly Action[]): readonly NamedAction[] {
  const taken = new Set<string>();
  return actions.map((each) => {
    const plain = `${each.action.replace(/[^A-Za-z0-9._-]/g, "_")}_v${each.world_model_version}`;
    let schema = plain;
    for (let suffix = 2; taken.has(schema); suffix++) schema = `${plain}_${suffix}`;
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
  responses: jsonResponses("The answer of the gate", gateAnswerRef),
});
