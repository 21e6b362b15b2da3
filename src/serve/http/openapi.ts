import type { JsonObject } from "../../model/json.js";
import { version } from "../../version.js";
import { nestedSchema } from "../nested-schema.js";
import type { Action } from "../questions/list-actions.js";
import { decideAction, gateAnswerSchema } from "../questions/decide.js";
import type { Route } from "./routes.js";
import { bodySchema, routes } from "./routes.js";

/** The actions of a domain as an OpenAPI document: what `/decide` takes for each, and what it answers. */
export function actionsDocument(org: string, domain: string, actions: readonly Action[]): JsonObject {
  const named = withNames(actions);
  return {
    ...heading(`Actions of ${org}/${domain}`, "Ask the gate of an action before taking it."),
    paths: { "/decide": { post: decideOperation(named) } },
    components: components(Object.fromEntries(named.map((each) => [each.schema, requestSchema(each)]))),
    "x-actions": named.map(({ schema, ...action }) => ({
      ...action,
      ...(action.context_schema && { context_schema: { $ref: contextPlace(schema) } }),
    })),
  };
}

/** All that can be asked of this server. */
export function apiDocument(): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], ...operationOf(route) };
  return {
    ...heading("agent-33", "Decisions of unattended agents and workflows, as code."),
    paths: { ...paths, [actionsPath]: actionsOperation },
    components: components({}),
  };
}

export const actionsPath = "/orgs/{org}/domains/{domain}/actions";

const heading = (title: string, description: string): JsonObject => ({
  openapi: "3.1.0",
  info: { title, version, description },
});

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
  },
  required: ["type", "title", "status", "detail", "code"],
};

const problems: JsonObject = {
  default: {
    description: "What went wrong",
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  },
};

const answered = (description: string, schema: JsonObject): JsonObject => ({
  "200": { description, content: { "application/json": { schema } } },
  ...problems,
});

interface NamedAction extends Action {
  /** What its schema is called. */
  readonly schema: string;
}

/** Names that may stand in a reference, each of them once. */
function withNames(actions: readonly Action[]): readonly NamedAction[] {
  const taken = new Set<string>();
  return actions.map((each) => {
    const plain = `${each.action.replace(/[^A-Za-z0-9._-]/g, "_")}_v${each.world_model_version}`;
    let schema = plain;
    for (let more = 2; taken.has(schema); more++) schema = `${plain}_${more}`;
    taken.add(schema);
    return { ...each, schema };
  });
}

const contextPlace = (schema: string): string => `#/components/schemas/${schema}/$defs/context`;

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
      context: { $ref: contextPlace(schema) },
    },
    required: latest ? required : [...required, "world_model_version"],
    $defs: { context: nestedSchema(context_schema ?? { type: "object" }, contextPlace(schema)) },
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
  responses: answered("What the gate says", { $ref: "#/components/schemas/GateAnswer" }),
});

function operationOf(route: Route): JsonObject {
  const { method, question, inPath } = route;
  const schema = bodySchema(route);
  const inUrl = [
    ...(inPath === undefined ? [] : [parameter("path", "id", question.input.properties[inPath] ?? {}, true)]),
    ...(method === "POST"
      ? []
      : Object.entries(schema.properties).map(([key, each]) => parameter("query", key, each, false))),
  ];
  const isGate = question.name === decideAction.name;
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
      responses: answered(
        question.title,
        isGate ? { $ref: "#/components/schemas/GateAnswer" } : { type: "object" },
      ),
    },
  };
}

const parameter = (
  place: "path" | "query",
  name: string,
  schema: JsonObject,
  required: boolean,
): JsonObject => ({
  in: place,
  name,
  required,
  schema,
});

const actionsOperation: JsonObject = {
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
