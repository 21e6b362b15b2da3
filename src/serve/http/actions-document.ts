import type { JsonObject } from "../../model/json.js";
import { nestedSchema } from "../nested-schema.js";
import { decideAction } from "../questions/decide.js";
import type { Action } from "../questions/list-actions.js";
import { answered, components, gateAnswer, heading } from "./openapi-parts.js";

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
  responses: answered("What the gate says", gateAnswer),
});
