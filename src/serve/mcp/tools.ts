import type { Tool } from "@modelcontextprotocol/server";
import { sha256Hex } from "../../digest/sha256.js";
import type { JsonObject } from "../../model/json.js";
import { hasScope } from "../auth/authenticate.js";
import { embedSchema } from "../embed-schema.js";
import type {
  Invocation,
  InputSchema,
  Operation,
  OutputSchema,
  ServedWorld,
} from "../operations/operation.js";
import { defineOperation } from "../operations/operation.js";
import { decideAction, dryRunDecision, evaluateDecision } from "../operations/decide.js";
import type { ProvenanceInput } from "../operations/shared-fields.js";
import { objectField, inputObject, provenanceFields } from "../operations/shared-fields.js";
import type { Action } from "../operations/definitions.js";
import { listAllActions } from "../operations/definitions.js";
import { isVisibleTo } from "../../definition/organisation.js";
import { visibleDecisionIds } from "../operations/org-access.js";
import { operations } from "../operations/operations.js";

/** Longer lists would be of no use to an agent; `list_actions` and `list_decisions` return everything. */
const listLimits = { actionTools: 50, ids: 200 };

/** Returns the tools of the caller's organisation: the operations, then the tools of actions. */
export async function visibleTools(invocation: Invocation): Promise<readonly McpTool[]> {
  const { world, caller } = invocation;
  const own = (await actionTools(world)).filter(({ org }) => isVisibleTo(caller?.org_id, org));
  const generic = operations.map((each): McpTool => {
    const describe = (): Tool =>
      each === evaluateDecision
        ? describeTool({ ...each, input: withDecisionIds(each.input, visibleDecisionIds(invocation)) })
        : describeTool(each, each === dryRunDecision ? requiredKeys : briefOutput);
    return { name: each.name, scope: each.scope, run: each.run, describe };
  });
  return own.length > listLimits.actionTools ? generic : [...generic, ...own];
}

/** Describes the tools that the scopes of the caller permit. */
export async function listTools(invocation: Invocation): Promise<Tool[]> {
  const tools = await visibleTools(invocation);
  return tools.filter(({ scope }) => hasScope(invocation, scope)).map((tool) => tool.describe());
}

/** Adds the ids of all decisions as an enum. One tool has it, because many ids would make the list long. */
function withDecisionIds(input: InputSchema, ids: readonly string[]): InputSchema {
  if (ids.length === 0 || ids.length > listLimits.ids) return input;
  const schema: JsonObject = { ...input.properties["decision_id"], enum: ids };
  return { ...input, properties: { ...input.properties, decision_id: schema } };
}

/** An operation as an MCP tool. */
export interface McpTool extends Pick<Operation, "name" | "scope" | "run"> {
  readonly describe: () => Tool;
}

function describeTool(
  {
    name,
    title,
    description,
    input,
    output,
    readOnly,
  }: Pick<Operation, "name" | "title" | "description" | "input" | "output" | "readOnly">,
  describeOutput = briefOutput,
): Tool {
  return {
    name,
    title,
    description,
    inputSchema: briefInput(input),
    outputSchema: describeOutput(output),
    annotations: {
      readOnlyHint: readOnly,
      ...(!readOnly && { destructiveHint: false }),
      openWorldHint: false,
    },
  };
}

/*
 * Every agent reads the whole list, so it is short: errors tell the limits of texts, and the description of a tool says
 * what matters in its answer. `/openapi.json` has the complete schemas.
 */
const briefInput = (input: InputSchema): Tool["inputSchema"] => {
  const properties = mapValues(input.properties, withoutTextLimits);
  return { ...input, properties, required: [...input.required] } as Tool["inputSchema"];
};

const withoutTextLimits = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "minLength" && key !== "maxLength"));

/** The required keys of an answer; for a tool that returns the same as another, which has their types. */
const requiredKeys = ({ type, required }: OutputSchema): OutputSchema & Tool["outputSchema"] => ({
  type,
  properties: {},
  required: [...required],
});

/** The required keys of an answer and its optional flags, with their types. */
const briefOutput = ({ type, properties, required }: OutputSchema): ReturnType<typeof requiredKeys> => {
  const kept = Object.entries(properties).filter(
    ([key, schema]) => required.includes(key) || schema["type"] === "boolean",
  );
  return { type, properties: mapValues(Object.fromEntries(kept), briefType), required: [...required] };
};

const briefType = ({ type, enum: values, const: value }: JsonObject): JsonObject => ({
  ...(type !== undefined && { type }),
  ...(values !== undefined && { enum: values }),
  ...(value !== undefined && { const: value }),
});

const mapValues = <T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

interface ActionTool extends McpTool {
  readonly org: string;
}

interface ActionToolInput extends ProvenanceInput {
  readonly context: object;
}

const actionContext = objectField("the input data of the decision");

/**
 * The tools of actions, built once for each set of definitions, because every tool call needs them. An entry lives as
 * long as its definitions.
 */
const toolsByDefinitions = new WeakMap<ServedWorld["definitions"], Promise<readonly ActionTool[]>>();

/** Returns one tool for each action: `decide` with the context schema of the newest version of the gate. */
export function actionTools(world: ServedWorld): Promise<readonly ActionTool[]> {
  const { definitions } = world;
  const cached = toolsByDefinitions.get(definitions);
  if (cached !== undefined) return cached;
  const tools = createActionTools(world);
  toolsByDefinitions.set(definitions, tools);
  // A failure is not cached.
  tools.catch(() => toolsByDefinitions.delete(definitions));
  return tools;
}

async function createActionTools(world: ServedWorld): Promise<readonly ActionTool[]> {
  const newest = (await listAllActions(world)).filter(({ latest }) => latest);
  return Array.from(actionToolNames(newest), ([name, action]) => createActionTool(name, action));
}

function createActionTool(name: string, action: Action): ActionTool {
  const { org_id, domain, action: verb } = action;
  const input = inputObject({ context: actionContext, ...provenanceFields }, ["context"]);
  const operation = defineOperation<ActionToolInput, unknown>({
    name,
    title: action.name ?? `Check whether ${verb} may be done`,
    description: actionDescription(action),
    scope: decideAction.scope,
    readOnly: decideAction.readOnly,
    input,
    output: decideAction.output,
    run: (toolInput, invocation) =>
      decideAction.run({ org_id, domain, action: verb, ...toolInput }, invocation),
  });
  const tool = describeTool({ ...operation, input: actionInputSchema(input, action) }, requiredKeys);
  return { name, org: org_id, scope: operation.scope, run: operation.run, describe: () => tool };
}

function actionDescription({ org_id: org, domain, action, description }: Action): string {
  const own = description === undefined ? "" : `${description.trim().replace(/([^.!?])$/, "$1.")} `;
  return (
    `${own}Evaluates the gate of \`${action}\` in \`${domain}\` of \`${org}\`. Call this before the action, and act ` +
    "only on GREEN. Returns the same as `decide`."
  );
}

/** Shows the context schema to the agent. The gate validates the context, because its messages say more. */
function actionInputSchema(input: InputSchema, { context_schema: schema }: Action): InputSchema {
  if (schema === undefined) return input;
  const context: JsonObject = { ...actionContext, ...embedSchema(schema, "#/properties/context") };
  return { ...input, properties: { ...input.properties, context } };
}

type ActionKey = Pick<Action, "org_id" | "domain" | "action">;

/** Some clients accept no longer names. */
const maxNameLength = 64;

/**
 * Gives each action a unique tool name. Names that are too long or equal end with a hash of the action, so that a new
 * action never takes over the name of another one. An action whose hashed name is not unique either is left out.
 */
export function actionToolNames<Each extends ActionKey>(actions: readonly Each[]): ReadonlyMap<string, Each> {
  const plain = actions.map(plainName);
  const named = actions.map((each, index): readonly [string, Each] => {
    const name = plain[index] ?? "";
    const isUsable = name.length <= maxNameLength && plain.indexOf(name) === plain.lastIndexOf(name);
    return [isUsable ? name : hashedName(name, each), each];
  });
  const count = new Map<string, number>();
  for (const [name] of named) count.set(name, (count.get(name) ?? 0) + 1);
  return new Map(named.filter(([name]) => count.get(name) === 1));
}

const plainName = ({ org_id: org, domain, action }: ActionKey): string =>
  `decide_${org}_${domain}_${action}`.replace(/[^A-Za-z0-9_-]/g, "_");

function hashedName(name: string, { org_id: org, domain, action }: ActionKey): string {
  const ending = `_${sha256Hex(JSON.stringify([org, domain, action])).slice(0, 8)}`;
  return `${name.slice(0, maxNameLength - ending.length)}${ending}`;
}
